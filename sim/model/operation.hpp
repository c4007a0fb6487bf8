/// One machine operation of one warp, as the model executes it.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "common/machine/element.hpp"
#include "common/machine/note.hpp"
#include "common/machine/shared_tile.hpp"
#include "common/machine/types.hpp"
#include "common/trace/event.hpp"

#include "sim/model/copy_form.hpp"
#include "sim/model/lane_access.hpp"

namespace warptwin::sim {

/// The registers of one `tcgen05.ld` or of an accumulator of wgmma: `registers` of each of 32
/// lanes, lane by lane. Shared with the asynchronous operation that fills them.
struct FragmentData {
  std::uint32_t registers = 0;
  std::uint32_t last_wgmma = 0;  // of an accumulator: wgmmas of the warp until its last one
  std::uint64_t touched = 0;     // of an accumulator: when, by `WarpRegisters::time`
  bool touched_early = false;    // before a wait settled it; not reported yet
  bool settled = false;          // the wait has covered it
  bool reported = false;
  std::vector<std::uint32_t> bits;  // empty when no data moves
};

/// How a tcgen05.ld or .st spreads tensor memory over the lanes of a warp: 32 lanes of it, or 16
/// whose rows of 64, 128 or 256 bits are shared by as many threads as they have pairs of words.
enum class TmemShape : std::uint8_t { k32x32b, k16x64b, k16x128b, k16x256b };

/// The place of a thread's register, from the operation's first lane and column on.
struct TmemCell {
  std::uint32_t lane = 0;
  std::uint32_t column = 0;

  /// PTX ISA, "tcgen05 matrix fragments".
  static constexpr TmemCell of(TmemShape shape, std::uint32_t thread, std::uint32_t index) {
    switch (shape) {
      case TmemShape::k16x64b:
        return {thread / 4 + 8 * (thread % 2), 2 * index + thread / 2 % 2};
      case TmemShape::k16x128b:
        return {thread / 4 + 8 * (index % 2), index / 2 * 4 + thread % 4};
      case TmemShape::k16x256b:
        return {thread / 4 + 8 * (index / 2 % 2), index / 4 * 8 + thread % 4 * 2 + index % 2};
      case TmemShape::k32x32b:
        break;
    }
    return {thread, index};
  }
};

struct TensorMapState;

/// Where an agent is in its program, its registers included, as one number: another one where it
/// has not come back to the same.
class AgentState {
 public:
  virtual std::uint64_t fingerprint() const = 0;

 protected:
  ~AgentState() = default;
};

/// Whether both are one instruction of a kernel's text, by which a try that is made again is known.
/// Two on one line are not the same. Instructions of PTX that share a line have no column: their
/// `Operation::place` tells them apart.
inline bool same_instruction(const SourceSite& a, const SourceSite& b) {
  return a.line == b.line && a.column == b.column &&
         (a.file == b.file || std::string_view{a.file} == b.file);
}

/// What one warp, or lanes of it, do together. Small fields stand together: an operation is made,
/// and often copied, for each step of a run.
struct Operation {
  Op op = Op::kCount;
  std::uint8_t lanes = 32;
  std::uint8_t lane = 0;  // which one, of a single lane
  std::uint8_t kind = 0;  // MmaKind
  Ordering ordering{Semantics::kRelaxed, Scope::kCta};
  std::uint16_t flags = 0;
  CtaMask mask{};
  CtaGroup group = CtaGroup::kOne;
  ElementType element = ElementType::kF32;
  Swizzle swizzle = Swizzle::kNone;
  StageStep stage_step = StageStep::kProducerAcquired;
  TensorMode tensor_mode = TensorMode::kTile;
  CopyReduction reduction{};
  TmemShape tmem_shape = TmemShape::k32x32b;  // of other tcgen05.ld and .st
  bool half_rows = false;       // of tcgen05.ld.16x32bx2 and its stores: two lanes share one
  bool by_columns = false;      // a lane has a column of the tile, not a row
  bool of_accumulator = false;  // columns `column` on of a warp's rows of wgmma's D
  std::uint32_t some = 0;       // which lanes, where they are several but not all, as bits
  std::uint32_t address = 0;    // shared (own CTA, or cluster when kRemote), tmem, barrier id
  std::uint32_t peer = 0;       // the second address: mbarrier of a copy
  std::uint32_t count = 0;
  std::uint32_t bytes = 0;
  std::uint32_t wanted = 0;
  std::uint32_t map = 0;  // tensor map number
  std::uint32_t rank = 0;
  std::int32_t at[5] = {};
  std::uint16_t offset[3] = {};  // of im2col
  std::uint32_t instruction = 0;
  std::uint32_t place = 0;    // of a try in PTX: its instruction, where a line has several
  std::uint32_t scale_a = 0;  // tensor memory, of a block-scaled MMA
  std::uint32_t scale_b = 0;
  std::uint32_t row = 0;  // of a row of a tile: first row, first column, bytes of a row
  std::uint32_t column = 0;
  std::uint32_t row_bytes = 0;
  std::uint32_t result = 0;  // of a word load, a try, an allocation; of a wgmma 1: it has begun
  std::uint64_t global = 0;
  std::uint64_t descriptor_a = 0;
  std::uint64_t descriptor_b = 0;
  std::shared_ptr<FragmentData> fragment;
  std::shared_ptr<FragmentData> fragment_a;  // of a wgmma: A, where it is in registers
  LaneAccess* access = nullptr;  // of bytes at an address for each lane; whoever performs it has it
  const TensorMapState* replaced = nullptr;  // of kTensormapReplace: all of the map; likewise
  const std::vector<AsyncAccess>* copies = nullptr;  // that a kOfCopies update is about; likewise
  const LaneRace* race = nullptr;     // with what lanes of the warp did before; likewise
  const AgentState* state = nullptr;  // of whoever performs it, who can tell where he is
  SourceSite site{};
};

}  // namespace warptwin::sim
