#include "sim/ptx/machine/instruction_cost.hpp"

#include <algorithm>

#include "sim/ptx/text/type.hpp"

namespace warptwin::ptx {

namespace {

using enum CostUnit;

InstructionCost of(CostUnit unit, std::uint16_t count = 1) {
  return {unit, count, count, 1, 0, 0};
}

// A sequence, each of which waits for the one before.
InstructionCost chain_of(CostUnit unit,
                         std::uint16_t count,
                         std::uint16_t mufu = 0,
                         std::uint16_t fma = 0) {
  const auto all = static_cast<std::uint16_t>(count + mufu + fma);
  return {unit, all, count, all, mufu, fma};
}

bool is_packed(Type type) {
  return type == Type::kF16x2 || type == Type::kBf16x2;
}
bool is_half(Type type) {
  return type == Type::kF16 || type == Type::kBf16 || is_packed(type);
}

// Of registers of 32 bits: an operation of 64 is two.
std::uint16_t words_of(Type type) {
  return bits_of(type) == 64 ? 2 : 1;
}

// add, sub, mul, fma, mad.
InstructionCost arithmetic(const Op& op) {
  const Modifiers& modifiers = op.source->modifiers;
  const Type type = modifiers.type();
  const bool multiplies = !op.is("add") && !op.is("sub") && !op.is("add.cc") && !op.is("addc") &&
                          !op.is("sub.cc") && !op.is("subc");
  if (type == Type::kF64) {
    return {kFma, 1, 2, 2, 0, 0};
  }
  if (type == Type::kF32x2) {
    return {kFma, 1, 2, 1, 0, 0};
  }
  if (is_float(type) || is_half(type)) {
    return of(kFma);
  }
  if (!multiplies) {
    return of(kInteger, words_of(type));
  }
  // Multiply-adds of integers go through the multiply-adds at half their rate, wide ones at a
  // quarter.
  if (modifiers.has("wide"_mod) || modifiers.has("hi"_mod)) {
    return bits_of(type) == 64 ? InstructionCost{kFma, 6, 16, 4, 0, 0}
                               : InstructionCost{kFma, 1, 4, 1, 0, 0};
  }
  return bits_of(type) == 64 ? InstructionCost{kFma, 3, 8, 3, 0, 0}
                             : InstructionCost{kFma, 1, 2, 1, 0, 0};
}

InstructionCost division(const Op& op) {
  const Modifiers& modifiers = op.source->modifiers;
  const Type type = modifiers.type();
  if (type == Type::kF64) {
    return chain_of(kFma, 16, 1);
  }
  if (is_float(type)) {
    const bool rough = modifiers.has("approx"_mod) || modifiers.has("full"_mod);
    return rough ? chain_of(kFma, 2, 1) : chain_of(kFma, 8, 1);
  }
  return bits_of(type) == 64 ? chain_of(kInteger, 60, 2, 20) : chain_of(kInteger, 12, 3, 6);
}

// rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh.
InstructionCost special(const Op& op) {
  const Modifiers& modifiers = op.source->modifiers;
  const Type type = modifiers.type();
  if (!modifiers.has("approx"_mod)) {
    return chain_of(kFma, type == Type::kF64 ? 16 : 8, 1);
  }
  if (is_packed(type)) {
    return of(kMufu, 2);
  }
  // Subnormal numbers are scaled, and the result back; sines and cosines are of turns.
  const bool turns = op.is("sin") || op.is("cos");
  const bool scales = type == Type::kF32 && !modifiers.has("ftz"_mod) && !op.is("tanh");
  if (op.is("sqrt")) {
    return chain_of(kFma, scales ? 3 : 1, 1);
  }
  return turns || scales ? chain_of(kFma, turns ? 1 : 2, 1) : of(kMufu);
}

InstructionCost conversion(const Op& op) {
  const Modifiers& modifiers = op.source->modifiers;
  const Type to = modifiers.type(0);
  const Type from = modifiers.type(1);
  if (is_integer(to) && is_integer(from)) {
    // A narrower number is a part of the wider one; a sign fills a word.
    return bits_of(to) > bits_of(from) && is_signed(from) ? of(kInteger) : of(kNothing);
  }
  if (bits_of(to) == 64 || bits_of(from) == 64) {
    return of(kMufu);
  }
  if (is_integer(to) || is_integer(from)) {
    return of(kInteger);
  }
  return from == Type::kF32 ? of(kConvert) : of(kInteger);
}

InstructionCost move(const Code& code, const Op& op) {
  const auto arguments = code.arguments_of(op);
  const auto is_vector = [](const Argument& argument) {
    return argument.kind == Argument::Kind::kVector;
  };
  if (std::any_of(arguments.begin(), arguments.end(), is_vector)) {
    // Halves of a register are selected; those of 64 bits are registers by themselves.
    return bits_of(op.source->modifiers.type()) == 32 ? of(kInteger) : of(kNothing);
  }
  return arguments[1].kind == Argument::Kind::kSpecial ? of(kInteger) : of(kNothing);
}

bool is_constant(const Modifiers& modifiers) {
  return modifiers.has("param"_mod) || modifiers.has("param::entry"_mod) ||
         modifiers.has("param::func"_mod) || modifiers.has("const"_mod);
}

InstructionCost product(const Op& op) {
  const Shape& shape = op.source->modifiers.shape;
  // Bytes of K count: of elements of 8 bits it takes half as long as of 16. An f64 is no word of
  // the tensor core's usual path.
  const std::uint32_t bits = bits_of(op.source->modifiers.type(1));
  const std::uint32_t weight = bits == 64 ? 256 : bits;
  const std::uint32_t work = std::uint32_t{1} * shape.m * shape.n * shape.k * weight / 16 / 32;
  return {kMma, 1, static_cast<std::uint16_t>(std::clamp(work, 1U, 0xFFFFU)), 1, 0, 0};
}

InstructionCost of_scalar(const Code& code, const Op& op) {
  const std::string_view name = op.form->name;
  const Type type = op.source->modifiers.type();
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (name == "mov") {
    return move(code, op);
  }
  if (is_one_of({"add",
                 "sub",
                 "mul",
                 "mad",
                 "fma",
                 "add.cc",
                 "addc",
                 "sub.cc",
                 "subc",
                 "mad.cc",
                 "madc",
                 "mul24",
                 "mad24",
                 "dp4a",
                 "dp2a"})) {
    return arithmetic(op);
  }
  if (is_one_of({"div", "rem"})) {
    return division(op);
  }
  if (is_one_of({"rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"})) {
    return special(op);
  }
  if (is_one_of({"cvt", "cvt.pack"})) {
    return conversion(op);
  }
  if (is_one_of({"popc", "clz", "bfind", "brev"})) {
    return of(kMufu, words_of(type));
  }
  if (is_one_of({"bfe", "bfi", "sad", "bmsk", "szext"})) {
    return of(kInteger, static_cast<std::uint16_t>(2 * words_of(type)));
  }
  if (is_one_of({"fns"})) {
    return chain_of(kInteger, 40);
  }
  return of(kInteger, words_of(type));
}

}  // namespace

InstructionCost cost_of(const Code& code, const Op& op) {
  if (op.form == nullptr) {
    return of(kNothing);
  }
  const Modifiers& modifiers = op.source->modifiers;
  switch (op.form->group) {
    case Group::kScalar:
      return of_scalar(code, op);
    case Group::kControl:
      return of(kBranch);
    case Group::kAddress:
      return op.is("isspacep") ? of(kInteger) : of(kNothing);
    case Group::kMemory:
      if (op.is("ld") || op.is("ldu") || op.is("st")) {
        return modifiers.has("local"_mod) ? of(kExchange)
               : is_constant(modifiers)   ? of(kNothing)
                                          : InstructionCost{};
      }
      return op.is("red") || op.is("atom") ? InstructionCost{} : of(kInteger);
    case Group::kWarp:
      if (op.is("shfl.sync")) {
        return of(kExchange);
      }
      if (op.is("match.sync")) {
        return chain_of(kInteger, 16);
      }
      return op.is("redux.sync")      ? of(kMufu, 2)
             : op.is("bar.warp.sync") ? InstructionCost{}
                                      : of(kInteger);
    case Group::kTensor:
      return op.is("mma") ? product(op) : op.is("movmatrix") ? of(kExchange) : InstructionCost{};
    default:
      return {};
  }
}

}  // namespace warptwin::ptx
