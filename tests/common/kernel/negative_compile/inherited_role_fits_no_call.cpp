// expect: the kernel's member 'consumer' is not the function of its role

#include "tests/common/kernel/negative_compile/kernel.hpp"

namespace warptwin::tests {

struct Base : KernelBase {
  static constexpr void producer(M&, const Problem&, Storage&) {}
  static constexpr void consumer(M&, const Problem&, Storage&) {}
};
// Hides the one that fits.
struct Kernel : Base {
  static constexpr void consumer(M&, Problem&, Storage&) {}
};
template void run<Kernel>(M&);

}  // namespace warptwin::tests
