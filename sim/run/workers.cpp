#include "sim/run/workers.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <map>
#include <new>
#include <poll.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace warptwin::sim {

namespace {

// How a worker ends, beside 0. No memory is needed to say so.
constexpr int kThrew = 1;
constexpr int kNoMemory = 2;

void write_all(int file, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = write(file, text.data() + at, text.size() - at);
    if (written < 0 && errno != EINTR) {
      return;
    }
    at += written < 0 ? 0 : static_cast<std::size_t>(written);
  }
}

void limit(int resource, std::uint64_t most) {
  rlimit both{};
  getrlimit(static_cast<__rlimit_resource_t>(resource), &both);
  // Time has a soft limit alone: it ends with SIGXCPU, which says why.
  both.rlim_cur = std::min<rlim_t>(most, both.rlim_max);
  setrlimit(static_cast<__rlimit_resource_t>(resource), &both);
}

[[noreturn]] void do_work(int pipe,
                          std::size_t number,
                          const WorkLimits& limits,
                          const std::function<std::string(std::size_t)>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // who wants the work is gone
  if (limits.cpu_seconds != 0) {
    signal(SIGXCPU, SIG_DFL);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    limit(RLIMIT_CPU, limits.cpu_seconds);
  }
  if (limits.memory_bytes != 0) {
    std::set_new_handler([] { _exit(kNoMemory); });
    limit(RLIMIT_AS, limits.memory_bytes);
  }
  int code = 0;
  try {
    write_all(pipe, work(number));
  } catch (const std::bad_alloc&) {
    code = kNoMemory;
  } catch (const std::exception& error) {
    write_all(pipe, error.what());
    code = kThrew;
  }
  _exit(code);  // what the parent has opened is the parent's to close
}

}  // namespace

WorkEnd WorkerPool::end_of(Worker& worker) {
  close(worker.pipe);
  int status = 0;
  while (waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
  }
  WorkEnd end;
  end.text = std::move(worker.text);
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
    end.why = end.signal == SIGXCPU ? WorkEnd::Why::kTime : WorkEnd::Why::kSignal;
  } else if (WEXITSTATUS(status) != 0) {
    end.why = WEXITSTATUS(status) == kNoMemory ? WorkEnd::Why::kMemory : WorkEnd::Why::kError;
  }
  return end;
}

WorkerPool::~WorkerPool() {
  for (auto& [number, worker] : workers_) {
    kill(worker.process, SIGKILL);
    end_of(worker);
  }
}

void WorkerPool::start(std::size_t number,
                       const WorkLimits& limits,
                       const std::function<std::string(std::size_t)>& work) {
  int ends[2];
  if (pipe(ends) != 0) {
    throw std::runtime_error("there can be no pipe to another process");
  }
  const pid_t process = fork();
  if (process < 0) {
    close(ends[0]);
    close(ends[1]);
    throw std::runtime_error("there can be no process to work in");
  }
  if (process == 0) {
    close(ends[0]);
    do_work(ends[1], number, limits, work);
  }
  close(ends[1]);
  workers_[number] = {process, ends[0]};
}

void WorkerPool::wait(std::map<std::size_t, WorkEnd>& ends, int milliseconds) {
  std::vector<pollfd> files;
  std::vector<std::size_t> numbers;
  for (const auto& [number, worker] : workers_) {
    files.push_back({worker.pipe, POLLIN, 0});
    numbers.push_back(number);
  }
  if (poll(files.data(), files.size(), milliseconds) <= 0) {
    return;  // nothing, or interrupted: the caller comes again
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].revents != 0 && is_at_end(workers_[numbers[i]])) {
      ends[numbers[i]] = end_of(workers_[numbers[i]]);
      workers_.erase(numbers[i]);
    }
  }
}

bool WorkerPool::is_at_end(Worker& worker) {
  std::array<char, 65536> piece;
  const ssize_t count = ::read(worker.pipe, piece.data(), piece.size());
  if (count > 0) {
    worker.text.append(piece.data(), static_cast<std::size_t>(count));
  }
  return count == 0 || (count < 0 && errno != EINTR);
}

void run_workers(std::size_t count,
                 std::size_t jobs,
                 const WorkLimits& limits,
                 const std::function<std::string(std::size_t)>& work,
                 const std::function<void(std::size_t, const WorkEnd&)>& deliver,
                 DeliveryOrder order) {
  WorkerPool running;
  std::map<std::size_t, WorkEnd> ends;
  std::size_t started = 0;
  for (std::size_t delivered = 0; delivered < count;) {
    while (started < count && running.size() < std::max<std::size_t>(jobs, 1)) {
      running.start(started++, limits, work);
    }
    running.wait(ends, -1);
    while (!ends.empty() &&
           (order == DeliveryOrder::kAsTheyEnd || ends.begin()->first == delivered)) {
      deliver(ends.begin()->first, ends.begin()->second);
      ends.erase(ends.begin());
      ++delivered;
    }
  }
}

}  // namespace warptwin::sim
