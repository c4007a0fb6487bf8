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
  /// Compares a run of kOtherElections[other] with `lowest`, which outlives this, as it goes on.
  WarpWork(const WarpWork& lowest, std::size_t other) : lowest_{&lowest}, other_{other} {}

  void on_event(const Event& event) override;
  /// The run is over.
  void at_end();
  /// Of a run that was compared, when it is over: a warp has not done what it did in `lowest`, nor
  /// that with the two elected lanes exchanged.
  bool differs() const { return differs_ || warps_.size() != lowest_->warps_.size(); }

 private:
  /// A stretch between two meetings, as numbers: with the lanes that did it as they are, and with
  /// the lowest and the lane of each other election exchanged.
  struct Stretch {
    std::uint64_t as_is = 0;
    std::array<std::uint64_t, kOtherElections.size()> exchanged{};
  };
  /// The work of sets of lanes, each in its order.
  class LaneWork {
   public:
    void add(const Event& event);
    /// In no order of the sets.
    Stretch stretch(std::uint32_t warp) const;
    void clear() { sets_.clear(); }

   private:
    std::vector<std::pair<std::uint32_t, Hash>> sets_;  // by the lanes, as bits
  };
  struct OfWarp {
    std::vector<Stretch> stretches;  // as the last one what its threads did by themselves
    std::uint32_t compared = 0;      // with those of `lowest`
    LaneWork since;                  // the last meeting
    LaneWork of_threads;
  };

  void end_stretch(std::size_t number, const LaneWork& work);

  std::vector<OfWarp> warps_;
  const WarpWork* lowest_ = nullptr;  // null: nothing is compared
  std::size_t other_ = 0;
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

}  // namespace warptwin::sim
