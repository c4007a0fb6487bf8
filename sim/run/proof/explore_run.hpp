/// The second opinion on a scenario: every interleaving of the barrier protocols extracted from one
/// run, and every schedule of the kernel itself that differs from a fair one in a few places. A
/// protocol is who arrives, expects, completes and waits; data, memory order and allocation are not
/// in it, and are not searched.

#pragma once

#include <functional>
#include <string>

#include "sim/prove/explore.hpp"
#include "sim/run/simulate.hpp"

namespace warptwin::sim {

/// An interleaving of a protocol that goes wrong.
struct WrongProtocol {
  std::string what;
  std::vector<std::string> path;  // to it, the last steps
  std::string agent;              // of the last step
  SourceSite site;                // of the last step
};

struct ExploreRunOptions {
  RunOptions run;                        // its schedule is ignored
  ExploreOptions search;                 // of the extracted protocols
  std::uint32_t deviations = 1;          // of a schedule of the kernel from taking turns
  std::uint64_t schedules_max = 20'000;  // of those
  /// Whether a finding is known. One that is fails nothing, and is followed no further.
  std::function<bool(const Finding&)> accepts;
  std::function<bool(const WrongProtocol&)> accepts_protocol;
};

struct ExploreRunResult {
  Explored verdict = Explored::kIncomplete;
  RunResult first;  // the run that was taken apart

  /// The protocols of the CTA groups; groups that do the same are searched once.
  std::uint32_t protocols = 0;
  std::uint64_t agents = 0;  // of all of these
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;
  Explored search = Explored::kIncomplete;
  std::string what;         // goes wrong, or which bound was hit
  WrongProtocol wrong;      // where the search is kWrong
  std::uint32_t known = 0;  // protocols that go wrong, as is known
  bool ended_by_known =
      false;  // the first run: by a known finding, so that no protocol was searched

  /// Schedules of the kernel, and the first that shows a defect.
  std::uint64_t schedules = 0;
  std::uint64_t accepted = 0;  // known findings in them
  bool all_schedules = false;  // within the deviations
  bool failing = false;
  ScheduleSpec schedule;
  RunResult shown;

  /// What the search was of, whatever it says: "the barrier protocol of one run: ...".
  std::string searched() const;
  std::string strength(const ExploreRunOptions& options) const;
};

ExploreRunResult explore_scenario(const ScenarioEntry& scenario,
                                  const ParameterSet& parameters,
                                  const ExploreRunOptions& options);

}  // namespace warptwin::sim
