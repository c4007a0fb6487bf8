// expect: invalid invocation of method '~ConsumerStage.*' on object 'stage' while it is in the 'unknown' state

#include "tests/common/negative_compile/ring.hpp"

void consume(warptwin::tests::Ring& ring, bool wanted) {
  auto stage = ring.acquire_consumer();
  if (wanted) {
    std::move(stage).release();
  }
}
