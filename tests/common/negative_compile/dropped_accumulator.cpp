// expect: ignoring return value of (function|type .*) declared with 'nodiscard' attribute
// gcc: ignoring returned value of type .* declared with attribute 'nodiscard'

#include "tests/common/negative_compile/accumulators.hpp"

void multiply(warptwin::tests::Accumulators& ring) {
  ring.acquire_mma_linear();
}
