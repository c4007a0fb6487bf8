/// Whether it can matter which lane `elect.sync` elects: "d: the leader thread", says the manual
/// (PTX ISA, "elect.sync"), and not which lane that is.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/kernel/scenario.hpp"

#include "sim/model/elected_lane.hpp"
#include "sim/prove/hash.hpp"
#include "sim/run/proof/prove.hpp"

namespace warptwin::sim {

/// The elections that a proof of the lowest lane is held against.
inline constexpr std::array kOtherElections = {ElectLane::kHighest, ElectLane::kHash};

/// What each warp of a run does between its meetings, and what its threads do by themselves.
class WarpWork : public EventSink {
 public:
  /// Keeps what is done with the lowest lane elected.
  WarpWork() = default;
  /// Compares a run in which others are elected with `lowest`, which outlives this, as it goes on.
  WarpWork(const WarpWork& lowest, ElectLane elected) : lowest_{&lowest}, elected_{elected} {}

  void on_event(const Event& event) override;
  /// The run is over.
  void at_end();
  /// Of a run that was compared, when it is over: a warp has not done what it did in `lowest`, nor
  /// that with the two elected lanes exchanged.
  bool differs() const { return differs_ || warps_.size() != lowest_->warps_.size(); }

 private:
  /// The work of sets of lanes, each in its order.
  class LaneWork {
   public:
    void add(const Event& event);
    /// As a number, with lane 0 and another one exchanged. Sets are in an order where they have
    /// lanes in common.
    std::uint64_t stretch(std::uint32_t exchanged) const;
    void clear() { sets_.clear(); }

   private:
    std::vector<std::pair<std::uint32_t, Hash>> sets_;  // by the lanes, as bits
  };
  struct OfWarp {
    /// Between two meetings; as the last one what its threads did by themselves.
    std::vector<std::uint64_t> stretches;
    std::uint32_t compared = 0;  // with those of `lowest`
    LaneWork since;              // the last meeting
    LaneWork of_threads;
  };

  void end_stretch(std::size_t number, const LaneWork& work);

  std::vector<OfWarp> warps_;
  const WarpWork* lowest_ = nullptr;  // null: nothing is compared
  ElectLane elected_ = ElectLane::kLowest;
  bool differs_ = false;
};

/// Runs the launch with the lanes of the other elections, and with the lowest, in the order of the
/// run that `proved` is of. `lowest`: of that run, where it is of the same launch with the lowest
/// lane; else null. An election is left out where each warp does the same in both between any two
/// of its meetings, or the same with the two lanes exchanged, and so in all that belongs to one
/// thread for good. A proof does not tell lanes by their numbers, and behind a meeting they know
/// the same: so it holds of both elections.
std::vector<ElectLane> elections_that_matter(const ScenarioEntry& scenario,
                                             const ParameterSet& parameters,
                                             const RunOptions& run,
                                             const ProofResult& proved,
                                             const WarpWork* lowest);

/// The same of all other lanes, of whom no election of kOtherElections matters: whether each warp
/// does the same whichever of its lanes is elected. False, too, where that is more work than is
/// made of it.
bool any_lane_does_the_same(const ScenarioEntry& scenario,
                            const ParameterSet& parameters,
                            const RunOptions& run,
                            const ProofResult& proved,
                            const WarpWork* lowest);

}  // namespace warptwin::sim
