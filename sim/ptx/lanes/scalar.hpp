/// Scalar instructions, each as one operation on all lanes. PTX ISA 9.0, "Instructions".
///
/// Rounding: f32 and f64 are computed in the host's floating point, which is IEEE 754's, under its
/// rounding mode where an instruction names .rz, .rm or .rp. f16 and bf16 are computed in double
/// and rounded once more: that is exact for one sum, product, quotient or root, for double has more
/// than twice their digits; a fused multiply-add is first rounded to odd. Approximations (.approx,
/// .full) are computed in double and rounded, so their error is at most half a unit: less than
/// documented.

#pragma once

#include "sim/ptx/code/code.hpp"
#include "sim/ptx/lanes/lanes.hpp"

namespace warptwin::ptx {

/// What an operation works on. All sources are there; those the instruction does not have are zero.
struct ScalarCall {
  static constexpr std::size_t kSources = 5;

  const Lanes* in[kSources] = {};
  Lanes* out = nullptr;
  Lanes* second = nullptr;  // of p|q; nullptr: not asked for
  const Modifiers* modifiers = nullptr;
  Type type = Type::kNone;         // the instruction's first
  Type source_type = Type::kNone;  // its second, or the first again
  std::uint32_t out_bits = 0;
  std::uint32_t sources = 0;
  Mask carry = 0;               // the carry flag; 0 where the instruction does not read it
  std::uint32_t relations = 0;  // of a comparison: those that it holds of
};

/// How two values stand to each other: one of these.
inline constexpr std::uint32_t kLess = 1;
inline constexpr std::uint32_t kEqual = 2;
inline constexpr std::uint32_t kGreater = 4;
inline constexpr std::uint32_t kUnordered = 8;
/// Those that a comparison holds of; none of what is no comparison.
std::uint32_t relations_of(const Modifiers& modifiers);

using Execute = void (*)(ScalarCall&);

/// How an instruction is carried out, in every lane whether it executes or not.
struct Scalar {
  Execute execute = nullptr;  // nullptr: there is no such operation
  /// Sets the poison of `out`; called only where a source has some.
  Execute poison = nullptr;
  /// Sets the poison of `out` where PTX leaves the result open; null: it does nowhere.
  Execute undefined = nullptr;
  bool approximates = false;
  bool opens_nan = false;  // which bits a NaN has that it results in, PTX leaves open
  bool reads_carry = false;
  bool writes_carry = false;
  std::uint32_t relations = 0;  // of a comparison
  bool in_place = false;        // a result may take the place of a source
  bool copies = false;          // its source, as it is
  bool moves = false;           // a lane of a result is one of a source, as it is
};

/// The operation of a scalar op. None for other groups. `common`: where the form is one of the
/// common ones, their loop.
Scalar find_scalar(const Op& op, bool common = true);

// By kind of instruction; each is none for an opcode that is not of its kind.
Execute find_common(const Op& op);
Execute find_integer(const Op& op);
Execute find_bits(const Op& op);
Execute find_compare(const Op& op);
Execute find_convert(const Op& op);
Execute find_float(const Op& op);
Execute find_poison(const Op& op);
Execute find_undefined(const Op& op);
bool opens_nan(const Op& op);
/// Lanes in which a result of such an instruction is a NaN, by its type.
Mask nan_lanes(const Lanes& result, Type type);
/// What it gives most of them: any byte of a source makes all of the result unknown.
void whole_poison(ScalarCall& call);

}  // namespace warptwin::ptx
