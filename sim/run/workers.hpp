/// Pieces of work that share nothing, each in a process of its own, some at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace warptwin::sim {

/// Of one piece; 0: none.
struct WorkLimits {
  std::uint64_t cpu_seconds = 0;
  std::uint64_t memory_bytes = 0;  // of address space, with what the command itself takes
};

struct WorkEnd {
  enum class Why : std::uint8_t { kDone, kTime, kMemory, kError, kSignal };
  Why why = Why::kDone;
  std::string text;  // of kDone what the work returned; of kError what it threw
  int signal = 0;    // of kSignal
};

/// Processes that work, by the number of what they do. Those that still run are killed with it.
class WorkerPool {
 public:
  WorkerPool() = default;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();

  std::size_t size() const { return workers_.size(); }
  /// Throws std::runtime_error where there can be no process.
  void start(std::size_t number,
             const WorkLimits& limits,
             const std::function<std::string(std::size_t)>& work);
  /// Waits until some have said something, or for so long (-1: as long as it takes), and adds the
  /// ends of those that have ended.
  void wait(std::map<std::size_t, WorkEnd>& ends, int milliseconds);

 private:
  struct Worker {
    int process = -1;
    int pipe = -1;
    std::string text{};
  };
  static WorkEnd end_of(Worker& worker);
  static bool is_at_end(Worker& worker);

  std::map<std::size_t, Worker> workers_;
};

/// In the order of their numbers, each as soon as those before it are there; or as they end.
enum class DeliveryOrder : std::uint8_t { kByNumber, kAsTheyEnd };

/// Does the pieces 0 to `count` - 1, `jobs` at a time, and delivers their ends. Work that is given
/// up, for `deliver` throws, is killed.
///
/// Throws std::runtime_error where there can be no process.
void run_workers(std::size_t count,
                 std::size_t jobs,
                 const WorkLimits& limits,
                 const std::function<std::string(std::size_t)>& work,
                 const std::function<void(std::size_t, const WorkEnd&)>& deliver,
                 DeliveryOrder order = DeliveryOrder::kByNumber);

}  // namespace warptwin::sim
