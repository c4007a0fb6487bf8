// expect: the kernel's member 'roles' would not be called

#include "tests/common/kernel/negative_compile/kernel.hpp"

namespace warptwin::tests {

struct Kernel : KernelBase {
  static constexpr void producer(M&, const Problem&, Storage&) {}
  static constexpr void consumer(M&, const Problem&, Storage&) {}
  static constexpr auto roles(Extents&) { return kRoles; }
};
template void run<Kernel>(M&);

}  // namespace warptwin::tests
