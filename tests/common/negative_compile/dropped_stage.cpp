// expect: ignoring return value of (function|type .*) declared with 'nodiscard' attribute
// gcc: ignoring returned value of type .* declared with attribute 'nodiscard'

#include "tests/common/negative_compile/ring.hpp"

void consume(warptwin::tests::Ring& ring) {
  ring.acquire_consumer();
}
