/// The frame of the checkers. A detector guards one property: it is fed every event, may look at
/// the
/// final state, and reports; it changes nothing and can be left out without changing a run.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/trace/event.hpp"
#include "common/trace/op_facts.hpp"

#include "sim/check/finding.hpp"
#include "sim/check/order.hpp"
#include "sim/check/rules.hpp"
#include "sim/model/divisor.hpp"
#include "sim/model/ending.hpp"
#include "sim/model/gpu.hpp"

namespace warptwin::sim {

/// Words for the numbers of events.
class Naming {
 public:
  Naming(const LaunchConfig& config, const Symbols& symbols)
      : config_{config},
        symbols_{symbols},
        ctas_of_cluster_{config.cluster_size},
        warps_of_cta_{config.warps_per_cta},
        warps_of_cluster_{config.cluster_size * config.warps_per_cta} {}
  Agent agent(std::uint32_t warp) const;
  /// `agent`, in words.
  std::string warp(std::uint32_t number) const { return text_of(agent(number)); }
  /// The warp, or several lanes of it: each of them has done it.
  std::string lanes_of(const LanePoint& point) const;
  Object warp_object(std::uint32_t number) const;
  /// The mbarrier at `address` of shared memory.
  Object barrier(std::uint32_t cta, std::uint32_t address) const;
  Object named_barrier(std::uint32_t cta, std::uint32_t id) const;
  /// Shared memory from `address` on; `bytes` 0: no more is said of it.
  Object shared(std::uint32_t cta, std::uint32_t address, std::uint64_t bytes = 0) const;
  /// "file.hpp:12", or that there is none.
  std::string site(const SourceSite& site) const;
  Role role(std::uint32_t warp) const { return symbols_.role_of(warp % warps_of_cta_); }
  /// Of a warp or a CTA: by the preferred size, where the launch has two.
  std::uint32_t cluster_of_warp(std::uint32_t warp) const { return warp / warps_of_cluster_; }
  std::uint32_t cta_of_warp(std::uint32_t warp) const { return warp / warps_of_cta_; }
  std::uint32_t cluster_of_cta(std::uint32_t cta) const { return cta / ctas_of_cluster_; }
  /// The first CTA of a CTA's cluster, which may be a smaller one in the place of a preferred one.
  std::uint32_t first_cta_of(std::uint32_t cta) const {
    return config_.falls_back.empty() ? cta / ctas_of_cluster_ * ctas_of_cluster_
                                      : config_.first_around(cta);
  }
  std::uint32_t rank_of(std::uint32_t cta) const { return cta - first_cta_of(cta); }
  bool in_one_cluster(std::uint32_t warp, std::uint32_t other) const {
    return first_cta_of(cta_of_warp(warp)) == first_cta_of(cta_of_warp(other));
  }
  const Divisor& warps_of_cluster() const { return warps_of_cluster_; }
  const LaunchConfig& config() const { return config_; }
  const Symbols& symbols() const { return symbols_; }
  /// What is declared of a CTA's shared memory.
  const Symbols& symbols_of(std::uint32_t cta) const {
    const bool fallback =
        symbols_.in_fallback != nullptr && config_.size_around(cta) == config_.fallback_size;
    return fallback ? *symbols_.in_fallback : symbols_;
  }

 private:
  const LaunchConfig& config_;
  const Symbols& symbols_;
  Divisor ctas_of_cluster_;
  Divisor warps_of_cta_;
  Divisor warps_of_cluster_;
};

/// How many findings of a run are kept.
inline constexpr std::size_t kFindingsKept = 200;

/// Collects findings. The same diagnostic at the same place is kept once, and counted.
class Reporter {
 public:
  Reporter(const Rules& rules, const Naming& naming) : rules_{rules}, naming_{naming} {}

  /// A finding about the object and agent of `event`.
  [[gnu::cold]] Finding make(const char* id,
                             const Event& event,
                             const Object& object,
                             const std::string& message) const;
  /// Reports `id` about the object and agent of `event`. Cold, like all that speaks of what is
  /// wrong: what makes its arguments then lies apart from the code that every event goes through.
  [[gnu::cold]] void report(const char* id,
                            const Event& event,
                            const Object& object,
                            const std::string& message,
                            std::vector<Detail> details = {});
  [[gnu::cold]] void report(Finding finding);
  /// What memory holds depends on which of two atomic operations is first; this is the later.
  [[gnu::cold]] void note_choice(const Event& event);
  const std::vector<SourceSite>& choices() const { return choices_; }
  /// Two accesses of a cluster were compared by what does not show in which operations its warps
  /// execute: by where in global memory they are, or by the values that they store.
  void note_compared() { compared_ = true; }
  bool compared() const { return compared_; }
  /// Reports so far that were errors, kept or not: a warning never keeps an error from being seen.
  std::uint64_t errors() const { return errors_; }
  const Rules& rules() const { return rules_; }
  const Naming& naming() const { return naming_; }
  std::vector<Finding>& findings() { return findings_; }
  /// Reports of diagnostics that came when enough others had been kept.
  std::uint64_t not_kept() const { return not_kept_; }

 private:
  Rules rules_;
  const Naming& naming_;
  std::vector<Finding> findings_;
  std::vector<SourceSite> choices_;  // each line once
  bool compared_ = false;
  std::uint64_t errors_ = 0;
  std::uint64_t not_kept_ = 0;
};

/// Operations, for what a detector wants to see.
class OpSet {
 public:
  constexpr OpSet(std::initializer_list<Op> ops) {
    for (const Op op : ops) {
      bits_ |= std::uint64_t{1} << static_cast<unsigned>(op);
    }
  }
  constexpr bool contains(Op op) const { return (bits_ >> static_cast<unsigned>(op) & 1U) != 0; }
  constexpr OpSet operator|(OpSet other) const {
    other.bits_ |= bits_;
    return other;
  }

 private:
  static_assert(static_cast<unsigned>(Op::kCount) <= 64);
  std::uint64_t bits_ = 0;
};

/// Steps of operations, for the same.
class StepSet {
 public:
  constexpr StepSet(std::initializer_list<Step> steps = {}) {
    for (const Step step : steps) {
      bits_ |= std::uint32_t{1} << static_cast<unsigned>(step);
    }
  }
  constexpr bool contains(Step step) const {
    return (bits_ >> static_cast<unsigned>(step) & 1U) != 0;
  }

 private:
  std::uint32_t bits_ = 0;
};
inline constexpr StepSet kBegins{Step::kDone, Step::kIssued};
/// At these an operation has no effect, or no further one.
inline constexpr StepSet kNoEffect{Step::kBlocked, Step::kTouched};

/// The operations that have any of `traits`.
constexpr OpSet ops_with(std::uint32_t traits) {
  OpSet ops{};
  for (unsigned i = 0; i < static_cast<unsigned>(Op::kCount); ++i) {
    if (has_trait(static_cast<Op>(i), traits)) {
      ops = ops | OpSet{static_cast<Op>(i)};
    }
  }
  return ops;
}

/// What brings the lanes of a warp together.
inline constexpr OpSet kBringsTogether = ops_with(op_trait::kMeets);

class Detector {
 public:
  /// Sees the events of `ops` and no others; that a warp waits (Step::kBlocked), and a copy's
  /// further pieces of global memory (Step::kTouched), only with these in `also`.
  Detector(Reporter& reporter, OpSet ops, StepSet also = {})
      : reporter_{reporter}, ops_{ops}, also_{also} {}
  virtual ~Detector() = default;
  Detector(const Detector&) = delete;
  Detector& operator=(const Detector&) = delete;

  /// Whether it sees an event of the operation at this step, with a fault or without.
  bool sees(Op op, Step step, bool fault) const {
    if (!ops_.contains(op) || kNoEffect.contains(step)) {
      return ops_.contains(op) && also_.contains(step);
    }
    return fault || std::all_of(narrowed_.begin(), narrowed_.end(), [&](const auto& narrowed) {
             return !narrowed.first.contains(op) || narrowed.second.contains(step);
           });
  }
  /// An operation, or a step of one, was executed.
  virtual void on_event(const Event& event) = 0;
  /// A warp came to an operation and cannot go on.
  virtual void on_blocked(const Event& event) { (void)event; }
  /// A warp is about to pass a wait, a try or a poll of a word: what it knows is what it knew when
  /// it looked, without what it learns by passing, which `on_event` tells next.
  virtual void on_look(const Event& event) { (void)event; }
  /// The run is over; `gpu` is as it left it.
  virtual void at_end(const Gpu& gpu, Ending end) {
    (void)gpu;
    (void)end;
  }

 protected:
  /// Events of `ops` without a fault it sees at `steps` alone: the others would change nothing.
  /// Called by constructors.
  void narrow(OpSet ops, StepSet steps) { narrowed_.emplace_back(ops, steps); }

  Reporter& reporter() const { return reporter_; }
  const Naming& naming() const { return reporter_.naming(); }
  Object barrier_of(const Event& event) const { return naming().barrier(event.cta, event.address); }

 private:
  Reporter& reporter_;
  OpSet ops_;
  StepSet also_;
  std::vector<std::pair<OpSet, StepSet>> narrowed_;
};

/// Every detector there is, by the name of its file.
std::vector<std::string> detector_names();

/// The detectors, but for those that the rules leave out, fed together.
class DetectorSet : public EventSink, public LaneJudge {
 public:
  /// With `whole` each detector sees every event of its operations, of which a narrower choice
  /// must make no difference.
  DetectorSet(const Rules& rules,
              const LaunchConfig& config,
              const Symbols& symbols,
              bool whole = false);
  void on_event(const Event& event) override;
  std::uint32_t now(std::uint32_t warp) const override { return order_.now(warp); }
  bool knows(std::uint32_t warp,
             std::uint32_t lanes,
             std::uint32_t other,
             std::uint32_t time) const override {
    return order_.lanes_know(warp, lanes, other, time);
  }
  void at_end(const Gpu& gpu, Ending end);
  std::vector<Finding> take_findings() { return std::move(reporter_.findings()); }
  std::uint64_t not_kept() const { return reporter_.not_kept(); }
  /// Reports so far that were errors.
  std::uint64_t errors() const { return reporter_.errors(); }
  const std::vector<SourceSite>& choices() const { return reporter_.choices(); }
  bool compared() const { return reporter_.compared(); }
  const std::vector<SourceSite>& across_fences() const { return order_.across_fences(); }
  const std::vector<SourceSite>& taken_meetings() const { return order_.taken_meetings(); }

 private:
  Naming naming_;
  Reporter reporter_;
  Order order_;
  std::vector<std::unique_ptr<Detector>> detectors_;
  bool whole_;
  static constexpr std::size_t kOps = static_cast<std::size_t>(Op::kCount);
  /// Who sees an event, as places in `detectors_`; found out at the first of its kind.
  std::span<const std::uint8_t> told_of(const Event& event);
  static constexpr std::size_t kSteps = static_cast<std::size_t>(Step::kCounted) + 1;
  struct Told {
    std::uint16_t begin = 0;  // in `told_`
    std::uint8_t count = 0;
    bool known = false;
  };
  [[gnu::cold]] Told first_told(const Event& event, bool fault);
  std::vector<std::uint8_t> told_;
  std::array<Told, kOps*(kSteps + 1)> kinds_{};  // by operation and step; those with a fault apart
};

/// Per-cluster state of a detector: there from the cluster's first warp to its last.
template <class State>
class ByCluster {
 public:
  /// The state of a cluster that lives, else null.
  State* find(std::uint32_t cluster) {
    return cluster < states_.size() ? states_[cluster].get() : nullptr;
  }
  State& start(std::uint32_t cluster) {
    if (cluster >= states_.size()) {
      states_.resize(cluster + 1);
    }
    if (states_[cluster] == nullptr) {
      states_[cluster] = std::make_unique<State>();
    }
    return *states_[cluster];
  }
  void end(std::uint32_t cluster) { states_[cluster].reset(); }

 private:
  std::vector<std::unique_ptr<State>> states_;
};

}  // namespace warptwin::sim
