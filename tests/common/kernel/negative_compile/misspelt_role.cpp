// expect: kRoles gives warps to Role::kConsumer, and the kernel has no function for them: expected 'static constexpr void consumer\(M&, const Problem&, Storage&\)'

#include "tests/common/kernel/negative_compile/kernel.hpp"

namespace warptwin::tests {

struct Kernel : KernelBase {
  static constexpr void producer(M&, const Problem&, Storage&) {}
  static constexpr void comsumer(M&, const Problem&, Storage&) {}
};
template void run<Kernel>(M&);

}  // namespace warptwin::tests
