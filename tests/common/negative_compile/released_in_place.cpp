// expect: 'this' argument to member function 'release' is an lvalue, but function has rvalue ref-qualifier
// gcc: passing .* as 'this' argument

#include "tests/common/negative_compile/ring.hpp"

void consume(warptwin::tests::Ring& ring) {
  auto stage = ring.acquire_consumer();
  stage.release();  // without std::move it does not say that the handle is gone
}
