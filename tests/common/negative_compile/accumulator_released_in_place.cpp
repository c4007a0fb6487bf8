// expect: 'this' argument to member function 'release' is an lvalue, but function has rvalue ref-qualifier
// gcc: passing .* as 'this' argument

#include "tests/common/negative_compile/accumulators.hpp"

void store(warptwin::tests::Accumulators& ring) {
  auto accum = ring.acquire_epilogue_linear();
  accum.release();
}
