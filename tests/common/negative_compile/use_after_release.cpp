// expect: invalid invocation of method 'index' on object 'stage' while it is in the 'consumed' state

#include "tests/common/negative_compile/ring.hpp"

unsigned consume(warptwin::tests::Ring& ring) {
  auto stage = ring.acquire_consumer();
  std::move(stage).release();
  return stage.index();
}
