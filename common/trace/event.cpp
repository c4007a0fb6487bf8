#include "common/trace/event.hpp"

#include "common/trace/op_facts.hpp"

namespace warptwin {

const char* name_of(Op op) {
  return op < Op::kCount ? detail::kOpFacts[static_cast<unsigned>(op)].name : "nothing";
}

}  // namespace warptwin
