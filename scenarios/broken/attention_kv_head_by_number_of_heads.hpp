/// Broken: load divides a head of Q by the number of heads of K and V; by how many share one of
/// them is meant.
///
/// The two are one number where there are as many groups as members of a group. With 6 heads and 2
/// of K and V, head 2 reads keys of another group, and heads 4 and 5 keys that are not there.
///
/// Expected: RESULT_WRONG. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionKvHeadByNumberOfHeadsKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;
  using Problem = typename Base::Problem;

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> arrays) {
    Problem problem = Base::problem(p, e, maps, arrays);
    problem.sharing = p.u32("kv_heads");  // The fault: heads / kv_heads is meant.
    return problem;
  }
};

struct AttentionKvHeadByNumberOfHeads : GroupedAttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_kv_head_by_number_of_heads",
                                      ScenarioKind::kBroken,
                                      "a head of Q takes keys of another group",
                                      "RESULT_WRONG",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionKvHeadByNumberOfHeadsKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
