/// Makes the schedule that a broken condition names, step by step on the machine: first what has to
/// happen before an operation, then perhaps copies of its phase, then the operation or not, then a
/// tail.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/functional/scheduler.hpp"
#include "sim/model/gpu.hpp"
#include "sim/prove/chain_counter.hpp"
#include "sim/prove/chains.hpp"
#include "sim/prove/run_order.hpp"

namespace warptwin::sim {

/// How far every agent of a run is, in the numbers of the proof.
class WitnessProgress : public EventSink {
 public:
  explicit WitnessProgress(const LaunchConfig& config) : counter{config} {}

  /// Whether the barrier has completed the phase, or a later one.
  bool completed(const ProofBarrier& barrier, std::uint32_t phase) const;

  void on_event(const Event& event) override;
  bool started(std::uint32_t warp) const;

  ChainCounter counter;
  /// (warp, number among its leaves)
  std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> leaf_of_serial;

 private:
  std::vector<std::uint32_t> started_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t>
      phases_;  // complete, of mbarriers
};

/// Who executes what of a group, as the run that was proved says.
struct WitnessPlan {
  ProofNode node;         // the operation that the condition is about
  ProofClock before;      // what happens first
  bool needs_all = true;  // all of it, else there is an error
  /// Then what lands in phase `phase` of component `component`, in an order drawn from `seed`,
  /// until the phase is complete; nothing where `lands` is not set.
  bool lands = false;
  std::uint64_t seed = 1;
  std::uint32_t component = 0;
  std::uint32_t phase = 0;
  ProofBarrier barrier;
  bool acts = true;              // then the operation itself, at once
  bool holds = false;            // in the tail, its agent acts only when nobody else can
  std::uint32_t first_warp = 0;  // of the group
  Chains chains{1};              // of the group
  const RunOrder::LeafTargets* leaves = nullptr;
  /// Operations of each warp of the group, its exit the last.
  const std::vector<std::uint32_t>* operations = nullptr;
};

/// What came of a plan.
struct WitnessOutcome {
  std::string error;       // not empty where `before` could not be reached
  std::size_t guided = 0;  // steps until the tail
};

class WitnessScheduler : public Scheduler {
 public:
  /// All but `tail` outlive it.
  WitnessScheduler(const Gpu& gpu,
                   const WitnessProgress& progress,
                   const WitnessPlan& plan,
                   std::unique_ptr<Scheduler> tail,
                   WitnessOutcome& outcome);

  AgentSlot pick(const ReadySet& ready, AgentSlot previous) override;
  void yielded(AgentSlot slot) override { tail_->yielded(slot); }

 private:
  static constexpr std::uint32_t kOutside = ~std::uint32_t{0};

  AgentSlot guided(const ReadySet& ready, AgentSlot previous);
  AgentSlot landing(const ReadySet& ready);
  AgentSlot tail(const ReadySet& ready, AgentSlot previous);
  std::uint32_t target(std::uint32_t component) const;
  std::uint32_t in_group(WarpSlot slot) const;
  bool allowed(AgentSlot slot) const;
  bool async_allowed(const AsyncOp& async) const;
  const RunOrder::LeafTarget* target_of(const AsyncOp& async) const;
  bool exits_next(WarpSlot slot) const;
  bool multiplies_warpgroup(WarpSlot warp) const;
  bool awaited(const Warp& issuer) const;
  void note(AgentSlot slot);
  bool waits_for_registers(std::uint32_t number) const;
  void check_reached();
  AgentSlot slot_of_node(const ReadySet& ready) const;
  AgentSlot slot_of_chain(ChainKind kind, WarpSlot warp) const;

  const Gpu& gpu_;
  const WitnessProgress& progress_;
  const WitnessPlan& plan_;
  std::unique_ptr<Scheduler> tail_;
  WitnessOutcome& outcome_;
  std::vector<std::uint32_t> dequeued_;
  std::uint64_t last_change_ = 0;
  std::uint32_t idle_ = 0;
  std::mt19937_64 random_;
  bool reached_ = false;  // what has to happen before
  bool done_ = false;
};

}  // namespace warptwin::sim
