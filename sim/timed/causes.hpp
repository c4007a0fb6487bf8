/// Why each step of a timed run happened when it did: a graph of steps, each with the two that it
/// waited for at most. From it come the critical path and slack.

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/timed/ticks.hpp"

namespace warptwin::sim {

/// The number of a step; 0 is none.
using Cause = std::uint32_t;
inline constexpr Cause kNoCause = 0;

/// What a step keeps busy, or waits for.
enum class Unit : std::uint8_t {
  kTensorCore,
  kTensorCoreLatency,
  kTmaEngine,
  kCopyLatency,
  kSharedRead,
  kSharedWrite,
  kTmemPort,
  kTmemLatency,
  kL2,
  kL2Far,
  kL2Link,
  kDram,
  kDramLatency,
  kNetwork,
  kFma,
  kMufu,
  kClusterLaunchControl,
  kCtaStart,
  kCount,
};
const char* name_of(Unit unit);
/// More of it, or less work for it, is what helps: it is no latency.
bool is_throughput(Unit unit);

enum class StepKind : std::uint8_t { kUnit, kRole, kBarrier };

/// Of what a step is: a unit, a role that issues, an mbarrier (by its address) whose phase is
/// complete.
struct StepName {
  StepKind kind = StepKind::kUnit;
  std::uint32_t id = 0;
};

/// A part of the critical path: how long the path is in it, and how often it passes through.
struct PathPart {
  StepKind kind = StepKind::kUnit;
  std::string what;
  std::uint32_t id = 0;  // of a step of it; see StepName
  double cycles = 0;
  std::uint64_t steps = 0;
  /// Where it is the empty barriers of a ring: by what share the run would be shorter, did nobody
  /// wait for them; see `CauseLog::end_without`. About what any number of stages can give.
  double gain_without = 0;
};

/// How much later the steps of something may be, each by itself, and the end stays where it is. Of
/// steps that others waited for: one that nobody needs says nothing.
struct Slack {
  StepKind kind = StepKind::kUnit;
  std::string what;
  double least = 0;  // cycles
  double mean = 0;
  std::uint64_t steps = 0;
};

/// A stretch of the critical path: steps of one part, one after the other.
struct PathStretch {
  std::size_t part = 0;  // index into CriticalPath::parts
  double begin = 0;      // cycles
  double end = 0;
};

struct CriticalPath {
  double cycles = 0;  // that it covers; less than the run where the oldest steps are forgotten
  std::vector<PathPart> parts;         // longest first
  std::vector<Slack> slack;            // least first
  std::vector<PathStretch> stretches;  // in time
};

class CauseLog {
 public:
  /// Steps kept at most. Where there are more, the oldest quarter is forgotten.
  static constexpr std::size_t kStepsMost = std::size_t{1} << 24;

  explicit CauseLog(std::size_t most = kStepsMost) : most_{most} {}

  /// A step that ends at `end`, and began as soon as the later of the two had ended.
  Cause add(StepName what, Ticks end, Cause first, Cause second = kNoCause);
  Cause add(Unit unit, Ticks end, Cause first, Cause second = kNoCause) {
    return add({StepKind::kUnit, static_cast<std::uint32_t>(unit)}, end, first, second);
  }
  Ticks end(Cause step) const { return step > forgotten_ ? steps_[index(step)].end : 0; }

  /// From the step that ends last back to the first. Names are given by `name`.
  CriticalPath critical_path(const std::function<std::string(StepName)>& name) const;
  /// When the last step would end, did nobody wait for the barriers of a name: each step as long
  /// after what is left of its causes as it was, every unit in the same order.
  Ticks end_without(const std::string& barrier,
                    const std::function<std::string(StepName)>& name) const;

  /// The step that is happening: the cause of what follows from it at once.
  Cause acting = kNoCause;

 private:
  struct Step {
    Ticks end;
    Cause first;
    Cause second;
    StepName what;
  };

  std::size_t index(Cause step) const { return step - forgotten_ - 1; }
  // The later of the two it waited for.
  Cause later(const Step& step) const {
    return end(step.second) > end(step.first) ? step.second : step.first;
  }
  Ticks length(const Step& step) const {
    return step.end - std::max(end(step.first), end(step.second));
  }
  std::vector<Ticks> latest_ends(Ticks last) const;
  std::vector<bool> awaited_steps() const;

  std::size_t most_;
  std::vector<Step> steps_;
  Cause forgotten_ = 0;  // steps up to this number
};

/// The same where there may be no log.
template <class What>
Cause add_step(CauseLog* log, What what, Ticks end, Cause first, Cause second = kNoCause) {
  return log == nullptr ? kNoCause : log->add(what, end, first, second);
}
inline void act(CauseLog* log, Cause cause) {
  if (log != nullptr) {
    log->acting = cause;
  }
}
inline Cause acting_in(const CauseLog* log) {
  return log == nullptr ? kNoCause : log->acting;
}

}  // namespace warptwin::sim
