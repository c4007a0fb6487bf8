#include "sim/ptx/lanes/scalar.hpp"

namespace warptwin::ptx {

Scalar find_scalar(const Op& op, bool common) {
  if (op.form == nullptr || op.form->group != Group::kScalar) {
    return {};
  }
  Scalar found;
  found.execute = common ? find_common(op) : nullptr;
  found.in_place = found.execute != nullptr;
  for (const auto find : {find_integer, find_float, find_bits, find_compare, find_convert}) {
    if (found.execute == nullptr) {
      found.execute = find(op);
    }
  }
  found.poison = find_poison(op);
  found.undefined = find_undefined(op);
  found.approximates =
      op.source->modifiers.has("approx"_mod) || op.source->modifiers.has("full"_mod);
  found.opens_nan = opens_nan(op);
  const std::string_view name = op.form->name;
  found.copies = found.in_place && name == "mov";
  found.moves = name == "mov" || name == "selp";
  found.reads_carry = name == "addc" || name == "subc" || name == "madc";
  found.writes_carry = op.source->modifiers.has("cc"_mod);
  found.relations = name == "setp" || name == "set" ? relations_of(op.source->modifiers) : 0;
  return found;
}

}  // namespace warptwin::ptx
