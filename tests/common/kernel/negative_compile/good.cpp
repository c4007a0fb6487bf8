#include "tests/common/kernel/negative_compile/kernel.hpp"

namespace warptwin::tests {

// Idle warps need no function; a role may come from a base, and storage be taken as const.
struct Producer : KernelBase {
  static constexpr void producer(M&, const Problem&, Storage&) {}
};
struct Kernel : Producer {
  static constexpr void consumer(M&, const Problem&, const Storage&) {}
};
template void run<Kernel>(M&);

// A derived kernel replaces a role; idle warps may have a function, and a helper another overload.
struct Derived : Kernel {
  static constexpr void consumer(M&, const Problem&, Storage&) {}
  static constexpr void consumer(M&, int) {}
  static constexpr void idle(M&, const Problem&, Storage&) {}
  static constexpr void start(M&, const Problem&, Storage&) {}
  static constexpr void finish(M&, const Problem&, Storage&) {}
  static constexpr auto roles(const Extents&) { return kRoles; }
};
template void run<Derived>(M&);

}  // namespace warptwin::tests
