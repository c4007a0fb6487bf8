// expect: the kernel's function 'epilogue' is never run: kRoles gives no warps to Role::kEpilogue

#include "tests/common/kernel/negative_compile/kernel.hpp"

namespace warptwin::tests {

struct Kernel : KernelBase {
  static constexpr void producer(M&, const Problem&, Storage&) {}
  static constexpr void consumer(M&, const Problem&, Storage&) {}
  static constexpr void epilogue(M&, const Problem&, Storage&) {}
};
template void run<Kernel>(M&);

}  // namespace warptwin::tests
