/// Work that may hang, in a process of its own.

#pragma once

#include <chrono>
#include <functional>

namespace warptwin::sim {

struct WatchedEnd {
  int code = 0;         // what the work returned; of no meaning when `killed` or `signal`
  bool killed = false;  // it took longer than it may
  int signal = 0;       // what ended it, if nothing else did
};

/// Runs `work` in a child process, and kills that when it has not ended after `limit`. The work may
/// say that it makes progress by writing to its standard output; that does not move the limit.
///
/// Throws std::runtime_error where there can be no process.
WatchedEnd run_watched(const std::function<int()>& work, std::chrono::milliseconds limit);

}  // namespace warptwin::sim
