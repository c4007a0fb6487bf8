// expect: invalid invocation of method 'release' on a temporary object while it is in the 'consumed' state

#include "tests/common/negative_compile/ring.hpp"

void consume(warptwin::tests::Ring& ring) {
  auto stage = ring.acquire_consumer();
  std::move(stage).release();
  std::move(stage).release();
}
