// expect: state of variable 'stage' must match at the entry and exit of loop
// A limit of the analysis, not a fault of the text: why accumulators carry no typestate. When this
// case compiles, they can.

#include "tests/common/negative_compile/ring.hpp"

void consume(warptwin::tests::Ring& ring, int count) {
  auto stage = ring.acquire_consumer();
  for (int i = 0; i < count; ++i) {
    static_cast<void>(stage.index());
  }
  std::move(stage).release();
}
