// expect: no (viable conversion|matching member function).*|no known conversion from .*ProducerToken
// gcc: could not convert|cannot convert|no matching function

#include "tests/common/negative_compile/ring.hpp"

void consume(warptwin::tests::Ring& ring) {
  ring.wait_producer_if_needed(
      ring.try_wait_consumer());  // the producer's token, the consumer's wait
}
