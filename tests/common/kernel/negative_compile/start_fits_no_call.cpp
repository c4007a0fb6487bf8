// expect: the kernel's member 'start' would not be called

#include "tests/common/kernel/negative_compile/kernel.hpp"

namespace warptwin::tests {

struct Kernel : KernelBase {
  static constexpr void producer(M&, const Problem&, Storage&) {}
  static constexpr void consumer(M&, const Problem&, Storage&) {}
  static constexpr void start(M&, Problem&, Storage&) {}
};
template void run<Kernel>(M&);

}  // namespace warptwin::tests
