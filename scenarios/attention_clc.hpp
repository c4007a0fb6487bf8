/// Scenario: attention whose CTAs claim tiles by cluster launch control: with a causal mask tiles
/// have different numbers of trips, and a CTA that is done early takes one more.
///
/// Barrier             Arrivals per phase           Bytes   Completion means
/// q.full[t]           1   load, elected lane       Q tile  queries of tile t may be read
/// q.empty[t]          1   mma, tcgen05.commit      -       queries of tile t may be overwritten
/// kv.full[s]          1   load, elected lane       tile    stage s, keys or values, may be read
/// kv.empty[s]         1   mma, tcgen05.commit      -       stage s may be overwritten
/// scores.full[t]      1   mma, tcgen05.commit      -       S of tile t is complete
/// scores.replaced[t]  128 softmax, every lane      -       P is stored where S was
/// scores.empty[t]     1   mma, tcgen05.commit      -       P has been read: S may come again
/// accum.full[t]       1   mma, tcgen05.commit      -       O of tile t has taken P * V in
/// accum.empty[t]      128 correction, every lane   -       O is corrected, or has been read
/// stats.full[r]       128 softmax, every lane      -       a factor for each row may be read
/// stats.empty[r]      128 correction, every lane   -       the factors may be overwritten
/// tmem.done[0]        384 softmax, every lane      -       tensor memory may be freed
///                     (256) and correction (128)
/// clc.full[c]         1   scheduler, elected lane  16      response c may be read
/// clc.empty[c]        480 scheduler, every lane, and all others     -   it may be overwritten
/// throttle.full[c]    32  load, every lane         -       the next tile has begun
/// throttle.empty[c]   32  scheduler, every lane    -       the scheduler knows
///
/// One of attention's idle warps is the scheduler. The rings go on from tile to tile; every role
/// learns the tiles from the responses.
///
/// Expected: clean in every interleaving, for any number of queries, keys, heads and stages, and of
///           tiles that a CTA claims. Where tiles differ in their trips, as with a causal mask or a
///           window, every order of them is proved, if these are few.

#pragma once

#include <cstdint>
#include <span>

#include "common/kernel/parameter_table.hpp"
#include "common/tile/clc_pipeline.hpp"

#include "scenarios/attention.hpp"

namespace warptwin::scenarios {

inline constexpr RoleTable kAttentionClcRoles{RoleWarps{Role::kSoftmax, 8},
                                              RoleWarps{Role::kCorrection, 4},
                                              RoleWarps{Role::kMma, 1},
                                              RoleWarps{Role::kLoad, 1},
                                              RoleWarps{Role::kScheduler, 1},
                                              RoleWarps{Role::kIdle, 1}};

template <class Shape = AttentionExtents<>, std::uint32_t kClcStages = kDynamic>
struct AttentionClcExtents : Shape {
  [[no_unique_address]] Extent<kClcStages> clc_stages;  // 0: a CTA has its own tile alone
};

/// What attention has, and the ring of responses.
template <class Extents, class Parts = AttentionParts>
struct AttentionClcStorage : AttentionStorage<Extents, Parts> {
  using Base = AttentionStorage<Extents, Parts>;
  using Clc = ClcPipelineStorage<Role::kLoad, Role::kMma, Role::kSoftmax, Role::kCorrection>;
  static constexpr RoleTable kRoles = kAttentionClcRoles;

  constexpr AttentionClcStorage(auto& layout, const Extents& e)
      : Base{layout, e}, clc{layout, "clc", kRoles, e.cluster(), e.clc_stages} {}
  constexpr void init(Machine auto& machine) const {
    Base::init(machine);
    clc.init(machine);
  }

  Clc clc;
};

template <Machine M, class Extents, class Parts = AttentionParts>
struct AttentionClcKernel
    : AttentionKernel<M, Extents, Parts, AttentionClcStorage<Extents, Parts>> {
  using Base = AttentionKernel<M, Extents, Parts, AttentionClcStorage<Extents, Parts>>;
  using Storage = typename Base::Storage;
  using Problem = typename Base::Problem;
  using Clc = PipelineOf<M, typename Storage::Clc>;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto clc = Clc{machine, smem.clc};
    Base::load_tiles(machine, problem, smem, [&] {
      if (machine.cta_rank() == 0 && clc.asks()) {
        clc.signal_throttle();
      }
    });
  }

  static constexpr void scheduler(M& machine, const Problem& problem, const Storage& smem) {
    machine.template setmaxnreg_dec<kOtherRegisters>();
    auto clc = Clc{machine, smem.clc};
    if (machine.cta_rank() != 0 || !clc.asks()) {
      return;  // to the barrier at the end of the cluster
    }
    for ([[maybe_unused]] const Tile tile : Base::tiles(machine, problem, clc)) {
      clc.wait_throttle();  // the load warp has begun this tile
      clc.request();        // waits clc.empty, arms clc.full
    }
    clc.drain();  // nobody reads a response any more
  }
};

/// What the scenarios of every choice of types, and of either group, share.
template <class Parts, CtaGroup kGroup = CtaGroup::kOne>
struct AttentionClcOf : AttentionOf<Parts, kGroup> {
  using Base = AttentionOf<Parts, kGroup>;
  using StaticExtents = AttentionClcExtents<typename Base::StaticExtents, 2>;
  using Extents = AttentionClcExtents<typename Base::Extents>;
  template <Machine M, class Extents>
  using Kernel = AttentionClcKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(Base::shapes(),
                 {{"clc_stages",
                   "responses in shared memory; 0: a cluster has its own tile alone",
                   2,
                   0,
                   64},
                  {"resident",
                   "clusters the simulated machine has room for; 0: all its SMs",
                   0,
                   0,
                   1 << 16}});
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) { return {Base::extents(p), p.u32("clc_stages")}; }
  static Workload workload(const ParameterSet& p) {
    check_stages_fit<AttentionClcStorage<Extents, Parts>>(extents(p));
    Workload workload = Base::workload_of(p, /*clusters=*/0);
    workload.resident_clusters = p.u32("resident");
    return workload;
  }
};

struct AttentionClc : AttentionClcOf<AttentionParts> {
  static constexpr ScenarioInfo kInfo{
      "attention_clc", ScenarioKind::kClean, "attention whose CTAs claim tiles"};
};

}  // namespace warptwin::scenarios
