// warptwin-mpi: the command as one of several processes that mpirun or srun has started.

#include <cstdlib>
#include <iostream>
#include <list>
#include <mpi.h>
#include <sstream>
#include <unistd.h>

#include "sim/cli/command.hpp"
#include "sim/sweep/ranks.hpp"

namespace {

using namespace warptwin::sim;

class MpiRanks : public Ranks {
 public:
  MpiRanks() {
    // A rank that is gone is no reason to end the others.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
  }
  int rank() const override { return rank_; }
  int count() const override { return count_; }

  void send(int to, const std::string& message) override {
    sent_.remove_if([](Sent& one) {
      int done = 0;
      return MPI_Test(&one.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
    });
    Sent& one = sent_.emplace_back(Sent{message, MPI_REQUEST_NULL});
    MPI_Isend(one.text.data(),
              static_cast<int>(one.text.size()),
              MPI_CHAR,
              to,
              0,
              MPI_COMM_WORLD,
              &one.request);
  }

  std::optional<std::pair<int, std::string>> receive() override {
    int there = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS ||
        there == 0) {
      return {};
    }
    int size = 0;
    MPI_Get_count(&status, MPI_CHAR, &size);
    std::string text(static_cast<std::size_t>(size), '\0');
    MPI_Recv(text.data(), size, MPI_CHAR, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return std::pair{status.MPI_SOURCE, text};
  }

 private:
  struct Sent {
    std::string text;
    MPI_Request request;
  };
  int rank_ = 0;
  int count_ = 1;
  std::list<Sent> sent_;  // until it has arrived
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MpiRanks ranks;
  ranks_of_process() = &ranks;
  int code = static_cast<int>(ExitCode::kInternal);
  // The others have nothing to say: what is wrong with a command, rank 0 says.
  std::ostringstream nowhere;
  const bool leads = ranks.rank() == 0;
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    code = static_cast<int>(run_command(
        arguments, scenario_list(), leads ? std::cout : nowhere, leads ? std::cerr : nowhere));
  } catch (const std::exception& error) {
    (leads ? std::cerr : nowhere) << "internal: " << error.what() << "\n";
  }
  std::cout.flush();
  if (ranks_of_process() == nullptr) {
    std::_Exit(code);  // somebody has died: MPI would wait for it
  }
  MPI_Finalize();
  return code;
}
