#include "sim/cli/watchdog.hpp"

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace warptwin::sim {

WatchedEnd run_watched(const std::function<int()>& work, std::chrono::milliseconds limit) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) {
    throw std::runtime_error("there can be no child process to run in");
  }
  if (child == 0) {
    int code = 3;
    try {
      code = work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    std::fflush(nullptr);
    _exit(code);  // nothing is freed: that could wait for what hangs
  }
  using Steady = std::chrono::steady_clock;
  // A driver that clears up keeps a killed process for a while; the caller does not wait for ever.
  constexpr std::chrono::seconds kClearingUp{20};
  const Steady::time_point end = Steady::now() + limit;
  WatchedEnd result;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) != child) {
    if (!result.killed && Steady::now() > end) {
      result.killed = true;
      kill(child, SIGKILL);
    }
    if (Steady::now() > end + kClearingUp) {
      return result;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  result.signal = WIFSIGNALED(status) && !result.killed ? WTERMSIG(status) : 0;
  return result;
}

}  // namespace warptwin::sim
