// What shapes an MMA may have, and which descriptors.

#include "sim/model/matrix.hpp"

namespace warptwin::sim {

namespace {

SmallType small_type(UmmaInstructionDescriptor instruction, std::uint32_t low) {
  if (instruction.kind != MmaKind::kF8f6f4 && instruction.kind != MmaKind::kMxf8f6f4) {
    return SmallType::kNone;
  }
  switch (instruction.bits >> low & 7U) {
    case 3:
      return SmallType::kE2m3;
    case 4:
      return SmallType::kE3m2;
    case 5:
      return SmallType::kE2m1;
    default:
      return SmallType::kNone;
  }
}

}  // namespace

SmallType small_a(UmmaInstructionDescriptor instruction) {
  return small_type(instruction, 7);
}

SmallType small_b(UmmaInstructionDescriptor instruction) {
  return small_type(instruction, 10);
}

Fault check_descriptor(UmmaSmemDescriptor descriptor, bool wide_mn_major) {
  const std::uint32_t code = descriptor.swizzle_code();
  const bool known = wide_mn_major ? code == 1 : code == 0 || code == 2 || code == 4 || code == 6;
  // Bit 52 says that the leading dimension's bytes are an address, and the next eight are zeros.
  const bool relative = (descriptor.bits >> 52 & 0x1FF) == 0;
  return known && relative && descriptor.fixed() == UmmaSmemDescriptor::kFixed &&
                 descriptor.base_offset() == 0
             ? Fault::kNone
             : Fault::kBadDescriptor;
}

// Columns of D of an MMA of whole numbers: of a pair steps of 32, else of 16, and 8 and 24.
static bool fits_whole_numbers(std::uint32_t n, bool pair) {
  return pair ? n % 32 == 0 : n % 16 == 0 || n == 8 || n == 24;
}

Fault check_shape(UmmaInstructionDescriptor instruction, CtaGroup group) {
  const std::uint32_t m = instruction.m();
  const std::uint32_t n = instruction.n();
  const bool pair = group == CtaGroup::kTwo;
  const bool m_fits = pair ? (m == 128 || m == 256) : (m == 64 || m == 128);
  const std::uint32_t n_step = pair ? 16 : 8;
  if (is_block_scaled(instruction.kind) && !pair && m == 64) {
    return Fault::kBadShape;
  }
  const bool mn_major = instruction.a_major() == Major::kMn || instruction.b_major() == Major::kMn;
  const bool k_major_alone =
      instruction.kind == MmaKind::kMxf4 || instruction.kind == MmaKind::kMxf4nvf4;
  if (mn_major && k_major_alone) {
    return Fault::kBadShape;
  }
  if (instruction.sparse_a() &&
      (m / ctas_in(group) != kTmemLanes || instruction.a_major() == Major::kMn ||
       instruction.sparsity_selector() >= sparse_elements(instruction.a_type()).selectors())) {
    return Fault::kBadShape;
  }
  const bool n_fits = n >= n_step && n <= 256 && n % n_step == 0 &&
                      (instruction.kind != MmaKind::kI8 || fits_whole_numbers(n, pair));
  return m_fits && n_fits ? Fault::kNone : Fault::kBadShape;
}

std::uint32_t d_columns(UmmaInstructionDescriptor instruction, CtaGroup group) {
  return group == CtaGroup::kTwo && instruction.m() == 128 ? instruction.n() / 2 : instruction.n();
}

std::uint32_t scale_columns_a(UmmaInstructionDescriptor instruction, CtaGroup group) {
  return scale_columns(instruction.m() / ctas_in(group));
}

std::uint32_t scale_columns_b(UmmaInstructionDescriptor instruction) {
  return scale_columns(instruction.n());
}

}  // namespace warptwin::sim
