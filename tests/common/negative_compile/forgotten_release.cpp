// expect: invalid invocation of method '~ConsumerStage.*' on object 'stage' while it is in the 'unconsumed' state

#include "tests/common/negative_compile/ring.hpp"

void consume(warptwin::tests::Ring& ring) {
  auto stage = ring.acquire_consumer();
}
