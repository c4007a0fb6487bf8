#include "sim/ptx/lanes/scalar.hpp"

namespace warptwin::ptx {

Scalar find_scalar(const Op& op) {
  if (op.form == nullptr || op.form->group != Group::kScalar) {
    return {};
  }
  Scalar found;
  for (const auto find : {find_integer, find_float, find_bits, find_compare, find_convert}) {
    if (found.execute == nullptr) {
      found.execute = find(op);
    }
  }
  found.poison = find_poison(op);
  const std::string_view name = op.form->name;
  found.reads_carry = name == "addc" || name == "subc" || name == "madc";
  found.writes_carry = op.source->modifiers.has("cc"_mod);
  return found;
}

}  // namespace warptwin::ptx
