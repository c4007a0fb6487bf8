// expect: a barrier of the kernel's storage is declared for Role::kLoad, and kRoles gives it no warps: add RoleWarps\{Role::kLoad, 1\} to kRoles

#include "common/kernel/storage_roles.hpp"
#include "common/tile/clc_pipeline.hpp"

#include "tests/common/kernel/negative_compile/kernel.hpp"

namespace warptwin::tests {

struct ClcKernel : KernelBase {
  static constexpr RoleTable kRoles{RoleWarps{Role::kScheduler, 1}, RoleWarps{Role::kMma, 1}};
  struct Storage {
    constexpr Storage(auto& layout, const Extents&)
        : clc{layout, "clc", kRoles, ClusterShape{}, 2} {}
    ClcPipelineStorage<Role::kMma> clc;
  };
};
void check() {
  check_storage_roles<ClcKernel, ClcKernel::Extents>();
}

}  // namespace warptwin::tests
