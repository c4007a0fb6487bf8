// expect: a RingScenario needs the kernel's text: 'static constexpr void kernel\(auto& warp\)'

#include "common/kernel/ring_scenario.hpp"

#include "tests/common/kernel/negative_compile/kernel.hpp"

namespace warptwin::tests {

struct NoKernel : RingScenario<NoKernel> {};
template void run<NoKernel::Kernel<M, NoKernel::StaticExtents>>(M&);

}  // namespace warptwin::tests
