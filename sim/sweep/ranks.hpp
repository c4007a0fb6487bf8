/// One sweep by several processes, on one machine or several: rank 0 gives out points and takes
/// their rows, every rank runs points, rank 0 among them. A rank that dies costs the points that it
/// was running, and others run them.

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/sweep/sweep.hpp"

namespace warptwin::sim {

/// How messages go from one rank to another. What is sent to a rank that has died is lost.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int count() const = 0;
  /// Does not block.
  virtual void send(int to, const std::string& message) = 0;
  /// A message that has come, and from whom; nothing where none has. Does not block.
  virtual std::optional<std::pair<int, std::string>> receive() = 0;
};

/// What became of the ranks.
struct RanksResult {
  std::vector<int> lost;    // ranks that were not heard of any more
  std::uint64_t again = 0;  // points that others had to run
};

/// A rank that says nothing for so long is dead. Each says something every second.
inline constexpr std::chrono::seconds kRankSilence{10};

/// On rank 0: `run_points` by all ranks, `options.jobs` points at a time on each.
RanksResult run_points(const Space& space,
                       const std::vector<std::uint64_t>& points,
                       const SweepOptions& options,
                       const std::function<void(const SweepRow&)>& deliver,
                       Ranks& ranks,
                       std::chrono::milliseconds silence = kRankSilence);

/// On every other rank: runs points until rank 0 says that it is enough, or is not heard of any
/// more. Gives whether all ranks lived.
bool serve_points(const Space& space,
                  const SweepOptions& options,
                  Ranks& ranks,
                  std::chrono::milliseconds silence = kRankSilence);

/// The ranks that this process is one of; null where it is alone. Set by the program's `main`.
Ranks*& ranks_of_process();

}  // namespace warptwin::sim
