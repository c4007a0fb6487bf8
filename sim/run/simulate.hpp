/// One run of a scenario, from parameters to findings and results.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/check/results.hpp"
#include "sim/functional/engine.hpp"
#include "sim/run/scenario_entry.hpp"

namespace warptwin::sim {

struct RunOptions {
  ScheduleSpec schedule;
  Rules rules{};
  bool detect = true;      // feed the detectors
  bool moves_data = true;  // compute; false moves control data only
  bool proves = false;     // what the manual leaves open in PTX may be otherwise in another run
  std::uint64_t input_seed = 1;
  EngineLimits limits;
  std::uint32_t resident_ctas = 148;
  /// SMs that they are spread over; 0: as few as `rules.machine.ctas_per_sm` leaves.
  std::uint32_t sms = 0;
  /// Clusters that begin; the others are left to requests (cluster launch control).
  std::uint32_t clusters_begun_max = ~0U;
  bool clc_from_the_end = false;  // requests get the last cluster that is left, not the first
  /// Values for input tensors, by name; the others are drawn from `input_seed`, in [-1, 1).
  std::map<std::string, std::vector<float>> inputs;
  bool record = false;  // keep every choice of the schedule
  /// With `schedule.tries_fail`: open tries that wait, and say yes.
  std::vector<OpenTry> tries_pass;
  std::uint32_t refusals = 1;  // and how often one that is repeated says no before it waits
  /// Knows which tries can only say yes; null: the run finds out, of clusters one by one, or
  /// together.
  const TryJudge* try_judge = nullptr;
  bool whole_grid = false;
  /// Sees every event as it comes, when not null.
  EventSink* observer = nullptr;
  /// Sees every event, some at a time, and not the machine; all of them before `try_judge` is
  /// asked, and when the run is over.
  EventSink* late_observer = nullptr;
  /// When not null, clusters act one after the other, and of one that is like the one before this
  /// sees the events, and nobody else does: see like_clusters.hpp.
  EventSink* alike = nullptr;
  /// Sees the machine before it runs, when not empty.
  std::function<void(Gpu&)> on_machine;
  /// Sees global memory behind the run, and where the tensors stand, when not empty.
  std::function<void(GlobalMemory&, std::span<const GlobalAddress>)> at_end;
  /// Makes the scheduler instead of `schedule`, for one that looks at the machine.
  std::function<std::unique_ptr<Scheduler>(const Gpu&)> scheduler;
  /// Runs the machine instead of the functional engine, when not null.
  std::function<RunStats(Gpu&, const WarpBody&)> engine;
};

struct RunResult {
  Ending end = Ending::kDone;
  RunStats stats;
  std::uint64_t operations = 0;
  std::vector<Finding> findings;  // of the detectors; outputs that are wrong
  std::uint64_t not_kept = 0;     // reports of more findings than are kept
  /// Reductions by copies of which it depends on the order what they leave.
  std::vector<SourceSite> reductions_in_any_order;
  /// Fences that were taken to hold for threads that theirs had met at a barrier.
  std::vector<SourceSite> across_fences;
  /// Collectives that were taken to bring a warp's lanes together in memory order.
  std::vector<SourceSite> taken_meetings;
  /// In words, what PTX's text does not say and the detectors have taken for granted.
  std::vector<std::string> taken() const;
  std::string refusal;                  // Ending::kRefused: why
  std::size_t accepted = 0;             // findings that were taken out: see suppressions.hpp
  std::vector<HostTensor> tensors;      // empty when no data moved
  std::vector<Comparison> comparisons;  // one for each output
  std::vector<AgentSlot> choices;
  /// Words of data were read that the run did not move, or registers without contents asked.
  bool read_unknown = false;
  bool asked_unknown = false;
  bool lanes_by_number = false;  // beside one that may be elected: see elections.hpp
  bool asks_active = false;      // which lanes are together, where some have parted
  std::vector<AddedWord> added_words;
  bool gave_up = false;          // a warp that was told no at a try again and again went on
  bool waits_at_try = false;     // it ended while a try of RunOptions::tries_pass waited
  bool may_have_missed = false;  // and such a try could have said yes at another time
  /// Of a cluster, accesses were compared by where in global memory they are, or what they store.
  bool compared_accesses = false;
  bool in_doubt = false;  // clusters were left out that may have met others: this says nothing

  /// "deadlock"; and why, where it was refused.
  std::string ending() const;
  /// It came to no end of its own: nothing is known of what would have come next.
  bool stopped() const { return end == Ending::kStepBound || end == Ending::kRefused; }
  /// The run found nothing wrong: it ended, with no errors. One that an accepted
  /// finding ended has ended.
  bool clean(bool strict) const;
  /// The run found something wrong: an error, or an end that is none. That it stopped says nothing
  /// alone.
  bool shows_defect() const;
};

/// CTAs of a workload that are on a machine of `limit` CTAs at a time: whole clusters, and no more
/// than the workload allows.
std::uint32_t resident_ctas(const Workload& workload, std::uint32_t limit);

/// What a run launches.
LaunchConfig launch_config(const Launch& launch, const RunOptions& options);
LaunchConfig launch_config(const ScenarioEntry& scenario,
                           const ParameterSet& parameters,
                           const RunOptions& options);

/// The tensor map over a tensor at `address`, as the machine has it.
TensorMapState decode_map(const TensorMapSpec& spec,
                          const TensorSpec& tensor,
                          GlobalAddress address);

/// Throws ConfigError when the parameters or inputs do not fit the scenario, and when a kernel does
/// what cannot be executed before the detectors have reported an error.
RunResult simulate(const ScenarioEntry& scenario,
                   const ParameterSet& parameters,
                   const RunOptions& options);

}  // namespace warptwin::sim
