// expect: the kernel's member 'idle' is not the function of its role

#include "tests/common/kernel/negative_compile/kernel.hpp"

namespace warptwin::tests {

struct Kernel : KernelBase {
  static constexpr void producer(M&, const Problem&, Storage&) {}
  static constexpr void consumer(M&, const Problem&, Storage&) {}
  static constexpr void idle(M&) {}
};
template void run<Kernel>(M&);

}  // namespace warptwin::tests
