/// Which steps of a state suffice: interleavings that differ in nothing that anyone can see are
/// left out.
///
/// The argument. An agent is a warp, or an asynchronous operation on its way. A set A of agents is
/// closed if
///  - whoever of the others may ever touch, itself or by what it starts, an object that the next
///    step of an agent in A touches, one of the two writing, is in A;
///  - of a blocked agent in A all asynchronous operations of its warp are in A: it may wait for
///    them;
///  - for a CTA whose memory the next step of an agent in A needs, one of its live warps is in A:
///    until that warp moves, the CTA does not end.
/// What the agents outside do before one inside moves is then independent of the next steps inside,
/// and neither enables nor disables them: A's enabled steps are a persistent set, and taking them
/// alone reaches every maximal interleaving up to exchanges of independent neighbours. Such an
/// exchange changes neither what an operation sees nor how memory ends, so every verdict stays.
///
/// Arrivals on a barrier that every warp has to come to (the cluster's; a named one whose users are
/// exactly those that it takes) enable and never disable: whoever is blocked there needs the
/// others, and nobody else does.
///
/// In a cycle of states an agent may be left out for ever; but then the agents of the cycle depend
/// on none that are left out, never end, and hang in the full search too.
///
/// Operations that nobody else can tell of (fences, jumps) are closed alone, and done at once.

#pragma once

#include <cstdint>
#include <vector>

#include "sim/oracle/values_machine.hpp"

namespace warptwin::sim::values {

class Reduction {
 public:
  explicit Reduction(const Machine& machine);

  /// Enough of the steps of `state`; empty only where there is none.
  void steps(const State& state, std::vector<Step>& steps);

 private:
  using Words = std::vector<std::uint64_t>;
  /// Objects that are read, and written, one bit each.
  struct Touch {
    Words reads, writes;
  };

  std::uint32_t barrier(std::uint32_t index) const { return cells_ + index; }
  std::uint32_t tensor_memory(std::uint32_t cta) const { return cells_ + barriers_ + cta; }
  std::uint32_t registers(std::uint32_t cta) const { return tensor_memory(ctas_) + cta; }
  std::uint32_t life(std::uint32_t cta) const { return registers(ctas_) + cta; }
  std::uint32_t cluster(std::uint32_t index) const { return life(ctas_) + index; }
  std::uint32_t named(std::uint32_t cta, std::uint32_t id) const {
    return cluster(ctas_) + cta * kNamedBarriers + id;
  }
  std::uint32_t fragment(std::uint32_t index) const { return named(ctas_, 0) + index; }
  std::uint32_t grid_before() const { return fragment(machine_.plan().fragments); }
  Touch nothing() const { return {Words(words_), Words(words_)}; }
  static void set(Words& words, std::uint32_t object) {
    words[object / 64] |= std::uint64_t{1} << object % 64;
  }
  static void merge(Touch& into, const Touch& more);
  bool conflict(const Touch& next, const Touch& ever) const;
  bool needs(const Touch& next, std::uint32_t cta) const {
    return (next.reads[life(cta) / 64] >> life(cta) % 64 & 1U) != 0;
  }

  Touch of_piece(const Piece& piece) const;
  Touch of_operation(std::uint32_t warp, const Planned& planned) const;
  Touch of_exit(std::uint32_t warp) const;
  /// Without the barriers where nobody can be disturbed.
  Touch unblocked(Touch touch, std::uint32_t warp) const;
  void find_meetings();
  bool alternates(std::uint32_t warp) const;
  void find_futures(std::uint32_t warp);

  const Touch& next_of(std::size_t agent) const { return *next_[agent]; }
  void list_agents(const State& state);
  /// Closes {seed}; returns the number of its steps, or gives up where they are `enough`.
  std::uint32_t close(const State& state, std::size_t seed, std::uint32_t enough);

  const Machine& machine_;
  bool is_off_ = false;
  std::uint32_t cells_ = 0;
  std::uint32_t barriers_ = 0;
  std::uint32_t ctas_ = 0;
  std::uint32_t words_ = 0;
  std::vector<bool> uses_cluster_barrier_;  // by cluster
  std::vector<bool> is_orderly_;            // by cluster: each arrival has its wait before the next
  std::vector<bool> takes_all_;             // by CTA and named barrier: one without a count
  std::vector<bool> is_meeting_;            // where all who use it come to each generation
  // By warp and instruction; the warp's exit is the last.
  std::vector<std::vector<Touch>> next_touch_;
  std::vector<std::vector<Touch>> blocked_touch_;  // where it is blocked
  std::vector<std::vector<Touch>> future_;
  std::vector<std::vector<std::vector<Touch>>> started_;  // and by piece
  Touch before_;                                          // of the grid before this one
  std::vector<Touch> last_exit_;                          // of a warp that is its CTA's last

  // Of the state that is looked at: its warps, then its agents.
  std::vector<const Touch*> next_;
  std::vector<const Touch*> ever_;
  std::vector<std::uint32_t> warp_of_;
  std::vector<std::uint32_t> count_;  // of steps that it can take
  std::vector<std::size_t> members_;
  std::vector<bool> is_member_;
};

}  // namespace warptwin::sim::values
