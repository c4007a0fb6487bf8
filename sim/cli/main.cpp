#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string_view>
#include <unistd.h>

#include "sim/cli/command.hpp"

namespace {

// Whether mpirun or srun has started several of us.
bool is_one_of_several() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* count = std::getenv(name);
    if (count != nullptr && std::atoi(count) > 1) {
      return true;
    }
  }
  return false;
}

// A sweep by several processes is the work of the program beside this one, with -mpi at its name.
int run_with_mpi(char** argv) {
  const std::string beside = std::filesystem::read_symlink("/proc/self/exe").string() + "-mpi";
  execv(beside.c_str(), argv);
  std::cerr << "config: this is one of several processes of mpirun or srun, and there is no "
            << beside << ", which shares a sweep among them; build warptwin where Open MPI is "
            << "(libopenmpi-dev), or run the sweep without mpirun\n";
  return static_cast<int>(warptwin::sim::ExitCode::kUsage);
}

}  // namespace

int main(int argc, char** argv) {
  using warptwin::sim::ExitCode;
  try {
    if (argc > 1 && std::string_view{argv[1]} == "sweep" && is_one_of_several()) {
      return run_with_mpi(argv);
    }
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    return static_cast<int>(warptwin::sim::run_command(
        arguments, warptwin::sim::scenario_list(), std::cout, std::cerr));
  } catch (const std::exception& error) {
    std::cerr << "internal: " << error.what() << "\n";
    return static_cast<int>(ExitCode::kInternal);
  }
}
