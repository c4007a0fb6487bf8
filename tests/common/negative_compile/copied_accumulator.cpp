// expect: call to implicitly-deleted copy constructor
// gcc: use of deleted function

#include "tests/common/negative_compile/accumulators.hpp"

void store(warptwin::tests::Accumulators& ring) {
  auto accum = ring.acquire_epilogue_linear();
  auto second = accum;  // two handles, one duty
  std::move(second).release();
  std::move(accum).release();
}
