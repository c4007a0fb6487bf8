// One include has all that a kernel's text names; every role that a barrier is for has warps.

#include <utility>

#include "common/kernel/kernel_text.hpp"

#include "tests/common/kernel/negative_compile/kernel.hpp"

namespace warptwin::tests {

struct ClcKernel : KernelBase {
  static constexpr RoleTable kRoles{
      RoleWarps{Role::kLoad, 1}, RoleWarps{Role::kScheduler, 1}, RoleWarps{Role::kMma, 1}};
  struct Storage {
    constexpr Storage(auto& layout, const Extents&)
        : clc{layout, "clc", kRoles, ClusterShape{}, 2} {}
    ClcPipelineStorage<Role::kMma> clc;
  };
};
static_assert(role_without_warps<ClcKernel, ClcKernel::Extents>() == Role::kCount);
void check() {
  check_storage_roles<ClcKernel, ClcKernel::Extents>();
}

struct Ring : RingScenario<Ring> {
  static constexpr void kernel(auto& warp) {
    warp.produce([&](auto stage) { stage.load(warp.source(), warp.at(0)); });
    warp.consume([&](auto stage) { static_cast<void>(stage.smem()); });
  }
};
template void run<Ring::Kernel<M, Ring::StaticExtents>>(M&);

using Accumulators =
    OutputPipelineStorage<From<Role::kMma, UmmaCommit>, To<Role::kEpilogue, EveryLane>>;
void end_by_hand(MmaStage<M, Accumulators> computed,
                 EpilogueStage<M, Accumulators, To<Role::kEpilogue, EveryLane>> read) {
  std::move(computed).release_without_signal();
  std::move(read).release_without_signal();
}

}  // namespace warptwin::tests
