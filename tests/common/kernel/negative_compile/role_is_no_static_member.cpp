// expect: the kernel's member 'producer' is not the function of its role

#include "tests/common/kernel/negative_compile/kernel.hpp"

namespace warptwin::tests {

struct Kernel : KernelBase {
  void producer(M&, const Problem&, Storage&) {}
  static constexpr void consumer(M&, const Problem&, Storage&) {}
};
template void run<Kernel>(M&);

}  // namespace warptwin::tests
