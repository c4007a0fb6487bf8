// expect: the kernel's member 'finish' would not be called

#include "tests/common/kernel/negative_compile/kernel.hpp"

namespace warptwin::tests {

struct Kernel : KernelBase {
  static constexpr void producer(M&, const Problem&, Storage&) {}
  static constexpr void consumer(M&, const Problem&, Storage&) {}
  static constexpr void finish(M&, Storage&) {}
};
template void run<Kernel>(M&);

}  // namespace warptwin::tests
