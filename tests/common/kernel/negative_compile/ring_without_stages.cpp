// expect: a ring of the kernel's storage has no stages at its constant extents
// gcc: a ring of the kernel's storage has no stages at its constant extents

#include "common/kernel/storage_roles.hpp"
#include "common/pipeline/producer_consumer_pipeline.hpp"

#include "tests/common/kernel/negative_compile/kernel.hpp"

namespace warptwin::tests {

struct RingKernel : KernelBase {
  struct Storage {
    constexpr Storage(auto& layout, const Extents&) : ring{layout, "ring", kRoles, 0, 1024} {}
    RingStorage<From<Role::kProducer, TmaBytes>, To<Role::kConsumer, EveryLane>> ring;
  };
};
void check() {
  check_storage_roles<RingKernel, RingKernel::Extents>();
}

}  // namespace warptwin::tests
