/// What the tensor core computes: D = A * B^T (+ D), operands from shared memory through their
/// descriptors, fp32 accumulation in the order of k.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/machine/umma_descriptor.hpp"
#include "common/machine/wgmma_descriptor.hpp"
#include "common/trace/event.hpp"

#include "sim/model/tensor_memory.hpp"

namespace warptwin::sim {

/// One operand's rows in one CTA.
struct OperandView {
  const std::byte* shared = nullptr;  // the CTA's shared memory, from address 0
  std::uint32_t shared_bytes = 0;
  UmmaSmemDescriptor descriptor;
  const std::vector<bool>* unknown = nullptr;  // by byte of `shared`; null or empty: none is
};

/// The bytes of shared memory that `rows` rows of an operand reach, for one instruction: [first,
/// end). Where the layout is even, they are `pieces` pieces of `width` bytes from `begin` on, one
/// every `pitch` bytes, as they lie before the swizzle.
struct OperandReach {
  std::uint32_t first = 0;
  std::uint32_t end = 0;
  std::uint32_t begin = 0;
  std::uint32_t width = 0;
  std::uint32_t pitch = 0;  // 0: it is not
  std::uint32_t pieces = 0;
  bool swizzled = false;
};

/// kBadDescriptor when the descriptor has a field that is not legal. `wide_mn_major`: of an
/// MN-major operand of 32 bits, which has one layout alone.
Fault check_descriptor(UmmaSmemDescriptor descriptor, bool wide_mn_major = false);
/// Of a K-major operand, of whose rows the instruction takes `k_bytes`.
OperandReach reach_of(UmmaSmemDescriptor descriptor,
                      std::uint32_t rows,
                      std::uint32_t k_bytes = kMmaRowBytes);
/// Of an MN-major one with `mn_bytes` bytes of M or N: how many panels these are, and what `k_rows`
/// rows of K reach in one of them.
std::uint32_t mn_panels(UmmaSmemDescriptor descriptor, std::uint32_t mn_bytes);
OperandReach mn_reach(UmmaSmemDescriptor descriptor,
                      std::uint32_t mn_bytes,
                      std::uint32_t k_rows,
                      std::uint32_t panel);
/// Rows of K of an MN-major operand that are `k_bytes` of each column.
constexpr std::uint32_t k_rows_of(ElementType type, std::uint32_t k_bytes) {
  return mma_k(type) * (k_bytes / kMmaRowBytes);
}
/// Calls `f(reach)` for each piece of `rows` rows of an operand, `k_bytes` of K each.
template <class F>
void for_each_reach(UmmaSmemDescriptor descriptor,
                    std::uint32_t rows,
                    Major major,
                    ElementType type,
                    std::uint32_t k_bytes,
                    F f) {
  if (major == Major::kK) {
    f(reach_of(descriptor, rows, k_bytes));
    return;
  }
  const std::uint32_t mn_bytes = rows * bytes_of(type);
  for (std::uint32_t i = 0; i < mn_panels(descriptor, mn_bytes); ++i) {
    f(mn_reach(descriptor, mn_bytes, k_rows_of(type, k_bytes), i));
  }
}
/// What operands of kind::f8f6f4 and kind::mxf8f6f4 may be that have less than eight bits. Of
/// K-major ones 16 lie packed in shared memory, and padding behind them; in tensor memory each has
/// a byte.
enum class SmallType : std::uint8_t { kNone, kE2m3, kE3m2, kE2m1 };
SmallType small_a(UmmaInstructionDescriptor instruction);
SmallType small_b(UmmaInstructionDescriptor instruction);
/// The last bytes of each 16 in shared memory, which are not read.
constexpr std::uint32_t padding_of(SmallType type) {
  return type == SmallType::kNone ? 0 : type == SmallType::kE2m1 ? 8 : 4;
}
/// The same for what a tcgen05.cp reads.
OperandReach copy_reach(UmmaSmemDescriptor descriptor, TmemCopy shape);
/// Bytes of shared memory that a swizzle moves together, [first, second).
using Units = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
/// All that an MMA reads of an operand's `rows` rows, and a tcgen05.cp of its source. `padding`:
/// the last bytes of each 16, which are not read; only of K-major operands.
Units units_of(UmmaSmemDescriptor descriptor,
               std::uint32_t rows,
               Major major,
               ElementType type,
               std::uint32_t k_bytes = kMmaRowBytes,
               std::uint32_t padding = 0);
Units units_of(UmmaSmemDescriptor descriptor, TmemCopy shape, std::uint32_t padding);
/// kBadShape when (kind, M, N, cta_group) is not in the manual's table, an operand is MN-major that
/// is of kind mxf4 or mxf4nvf4 or has elements of four bytes, or A is sparse and MN-major, of other
/// than 128 rows a CTA, or without a selector that exists.
Fault check_shape(UmmaInstructionDescriptor instruction, CtaGroup group);

/// One instruction. `cta` has group elements: index 1 is the odd CTA of a pair.
struct MmaOperands {
  CtaGroup group = CtaGroup::kOne;
  UmmaInstructionDescriptor instruction;
  OperandView a[2];
  OperandView b[2];
  TensorMemory* d[2] = {};
  TmemAddress d_address;
  bool accumulate = false;
  bool a_in_tmem = false;  // at `a_address` of the same tensor memories
  TmemAddress a_address{};
  TmemAddress metadata{};  // of a sparse A
  TmemAddress scale_a{};   // of a block-scaled kind
  TmemAddress scale_b{};
};

/// Columns of tensor memory that one instruction's K of an A operand takes.
inline constexpr std::uint32_t kTmemAColumns = 8;

void multiply(const MmaOperands& operands);

/// Which of an operand's `rows` rows have a byte that nobody knows; empty: none.
std::vector<bool> unknown_rows(const OperandView& view,
                               std::uint32_t rows,
                               SmallType small,
                               ElementType type,
                               Major major,
                               std::uint32_t k_bytes);

/// One wgmma: of warp w of the warpgroup, D's rows 16 w to 16 w + 15 are in `d[w]`, lane by lane.
struct WgmmaOperands {
  UmmaInstructionDescriptor instruction;
  OperandView a;
  OperandView b;
  std::uint32_t* d[kWarpsPerWarpgroup] = {};
  bool accumulate = false;
  const std::uint32_t* a_registers[kWarpsPerWarpgroup] = {};  // of each lane four; null: in `a`
  const std::uint32_t* metadata[kWarpsPerWarpgroup] = {};     // of a sparse A: of each lane a word
};

void multiply(const WgmmaOperands& operands);

/// One tcgen05.cp in one CTA. `padding`: the last bytes of each 16 of the source, of which the
/// others are 16 elements of four bits, or of six; each becomes a byte.
void copy_to_tmem(const OperandView& from,
                  TmemCopy shape,
                  std::uint32_t padding,
                  TensorMemory& to,
                  TmemAddress address);

/// Columns of D that one instruction writes in each CTA.
std::uint32_t d_columns(UmmaInstructionDescriptor instruction, CtaGroup group);
/// Columns of scale factors that a block-scaled one reads in each CTA: of its own rows of A, and of
/// all rows of B.
std::uint32_t scale_columns_a(UmmaInstructionDescriptor instruction, CtaGroup group);
std::uint32_t scale_columns_b(UmmaInstructionDescriptor instruction);

}  // namespace warptwin::sim
