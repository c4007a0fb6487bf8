/// What an operation says beside what it is and who executes it: a type for each kind of operation,
/// whose fields are all used by each of the kind, unless one says which.

#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "common/machine/element.hpp"
#include "common/machine/note.hpp"
#include "common/machine/types.hpp"
#include "common/machine/umma_descriptor.hpp"

#include "sim/model/copy_form.hpp"
#include "sim/model/trap_cause.hpp"

namespace warptwin::sim {

struct AsyncAccess;
struct AtomicUpdate;
struct LaneAccess;
struct TensorMapState;

/// How a tcgen05.ld or .st spreads tensor memory over the lanes of a warp: 32 lanes of it, or 16
/// whose rows of 64, 128 or 256 bits are shared by as many threads as they have pairs of words.
enum class TmemShape : std::uint8_t { k32x32b, k16x64b, k16x128b, k16x256b };

/// What an access of lanes is of an asynchronous copy that they make.
enum class LaneCopyStep : std::uint8_t {
  kNone,   // nothing: a load or store of registers
  kBegin,  // the copy begins
  kEnd,    // and has been waited for
  kLeft,   // nobody has waited for it, and its warp ends: no access
};

namespace operands {

/// Fences of one proxy, barriers of a cluster, groups of stores that are committed, and all else
/// that says nothing.
struct None {};

/// All on an mbarrier, from init to try_wait.
struct Mbarrier {
  std::uint32_t address = 0;  // of the CTA; its rank in the upper bits where the flags say kRemote
  std::uint32_t count = 0;    // arrivals of each lane; of init those of a phase
  std::uint32_t bytes = 0;    // expected, or completed, by each lane
  /// Waited for: a number where the flags say kExactPhase, else a parity. Of an arrival that is
  /// announced before: the phase it was announced in.
  std::uint32_t phase = 0;
  std::uint32_t place = 0;  // of a try in PTX: its instruction, where a line has several
  const std::vector<AsyncAccess>* copies = nullptr;  // whoever performs a kOfCopies update has them
  std::uint64_t lands = 0;  // of those: when all are there, where an engine keeps time
};

/// fence.proxy.async.
struct ProxyFence {
  ProxySpace space = ProxySpace::kAll;
};

/// fence.proxy.tensormap.
struct MapFence {
  std::uint32_t map = 0;  // number, of one that acquires
};

/// bar.sync and bar.arrive.
struct NamedBarrier {
  std::uint32_t id = 0;
  std::uint32_t threads = 0;  // 0: all of the CTA
};

/// What brings lanes of a warp together: bar.warp.sync, elect.sync.
struct Members {
  std::uint32_t lanes = 0;  // that it names, as bits, where not all
};

/// Bulk and tensor copies.
struct Copy {
  std::uint32_t shared = 0;   // address: the destination of a load, the source of a store
  std::uint32_t barrier = 0;  // of a load: what counts its bytes
  std::uint64_t global = 0;   // of a bulk copy
  std::uint32_t source = 0;   // of a bulk load with kSharedSource: in the CTA's shared memory
  std::uint32_t to_rank = 0;  // and the CTA of the cluster that it goes to
  std::uint32_t bytes = 0;    // of a tensor copy since it was issued
  std::uint32_t map = 0;      // of a tensor copy: its map's number
  std::uint32_t rank = 0;     // and how many coordinates it has
  std::int32_t at[5] = {};
  std::uint16_t offset[3] = {};  // of im2col
  TensorMode mode = TensorMode::kTile;
  CopyReduction reduction{};
  CtaMask mask{};
  CtaGroup group = CtaGroup::kOne;
};

/// tensormap.replace.
struct MapChange {
  static constexpr std::uint32_t kAddress = ~std::uint32_t{0};
  std::uint32_t map = 0;               // number
  std::uint64_t address = 0;           // the tensor's new one
  std::uint32_t dimension = kAddress;  // or that of which `extent` is the new one
  std::uint32_t extent = 0;
  bool of_extent() const { return dimension != kAddress; }
  const TensorMapState* replaced = nullptr;  // or all of the map; whoever performs it has it
};

/// cp.async.bulk.wait_group.
struct BulkWait {
  std::uint32_t pending = 0;  // groups that may be left
  bool of_lane = false;       // one lane's, not the elected one's for the warp
};

/// tcgen05.alloc.
struct TmemAllocation {
  std::uint32_t word = 0;  // of shared memory, which takes the address
  std::uint32_t columns = 0;
  CtaGroup group = CtaGroup::kOne;
  bool free = false;          // nothing may depend on which columns it gets
  std::uint32_t ordinal = 0;  // told: its number among the allocations of the CTA
};

/// tcgen05.dealloc and .relinquish_alloc_permit.
struct TmemRegion {
  TmemAddress address{};  // of dealloc
  std::uint32_t columns = 0;
  CtaGroup group = CtaGroup::kOne;
};

/// Of both kinds of MMA: operands in shared memory.
struct Product {
  UmmaSmemDescriptor a{};  // unless the flags say kTmemA; of wgmma as of tcgen05
  UmmaSmemDescriptor b{};
  UmmaInstructionDescriptor instruction{};
};

/// tcgen05.mma.
struct Mma : Product {
  TmemAddress d{};
  TmemAddress tmem_a{};    // A, where the flags say kTmemA
  TmemAddress metadata{};  // of sparse A, where the flags say kSparse
  TmemAddress scale_a{};   // where they say kBlockScale
  TmemAddress scale_b{};
  std::uint32_t columns = 0;  // of D, since it was issued
  CtaGroup group = CtaGroup::kOne;
};

/// wgmma.mma_async.
struct Wgmma : Product {
  std::uint32_t columns = 0;
};

/// wgmma.fence.
struct WgmmaFence {
  std::uint64_t time = 0;  // `WarpRegisters::time`
};

/// wgmma.wait_group.
struct WgmmaWait {
  std::uint32_t pending = 0;  // groups that may be left
};

/// tcgen05.cp.
struct TmemCopy {
  TmemAddress to{};
  UmmaSmemDescriptor from{};
  warptwin::TmemCopy shape{};
  std::uint32_t columns = 0;
  CtaGroup group = CtaGroup::kOne;
  std::uint8_t padding = 0;  // the last bytes of each 16 of the source, which are not read
};

/// tcgen05.commit.
struct Commit {
  std::uint32_t barrier = 0;
  CtaMask mask{};
  CtaGroup group = CtaGroup::kOne;
};

/// tcgen05.ld and .st.
struct TmemAccess {
  TmemAddress address{};
  std::uint32_t columns = 0;
  TmemShape shape = TmemShape::k32x32b;
  bool half_rows = false;  // .16x32bx2: two lanes share one

  bool of_16_lanes() const { return half_rows || shape != TmemShape::k32x32b; }
};

/// tcgen05.wait.
struct TmemWait {
  bool of_registers = false;  // of these alone: no instruction
};

/// The first use of registers.
struct FragmentRead {
  bool of_accumulator = false;
};

/// A word of shared memory.
struct SharedWord {
  std::uint32_t address = 0;
  std::uint32_t value = 0;  // that is stored
  bool unknown = false;     // says so of what is loaded
};

/// Rows of a tile, or columns, of the registers of a warp.
struct SharedRows {
  std::uint32_t tile = 0;  // its address
  std::uint32_t row = 0;   // first
  std::uint32_t column = 0;
  std::uint32_t row_bytes = 0;
  ElementType element = ElementType::kF32;
  Swizzle swizzle = Swizzle::kNone;
  bool half_rows = false;       // two lanes share one
  bool by_columns = false;      // a lane has a column of the tile, not a row
  bool of_accumulator = false;  // columns `column` on of a warp's rows of wgmma's D
};

/// Bytes at an address for each lane, in shared or global memory.
struct LaneBytes {
  LaneAccess* access = nullptr;  // whoever performs it has it
  std::uint32_t rank = 0;        // of shared memory: whose
  std::uint32_t copies = 0;      // where they tell that copies are over: whose serial
  LaneCopyStep step = LaneCopyStep::kNone;
  std::uint64_t lands = 0;  // of one that ends: when it is there, where an engine keeps time
};

/// A word of global memory.
struct GlobalWord {
  std::uint64_t address = 0;
  std::uint32_t value = 0;          // stored, added, or compared with
  std::uint32_t test = 0;           // of a wait: as `WordTest` has them in events
  std::uint64_t test_operands = 0;  // likewise
  AtomicUpdate* update = nullptr;   // of one that does not add; whoever performs it has it
  bool asks_known = false;          // a load, or a wait, ends where nobody knows the word, and
  bool unknown = false;             // says so here
};

/// clusterlaunchcontrol.try_cancel.
struct ClcRequest {
  std::uint32_t response = 0;  // address
  std::uint32_t barrier = 0;
  CtaMask mask{};
  std::uint32_t got = 0;  // since it was issued: the cluster + 1; 0: none
};

/// clusterlaunchcontrol.query_cancel.
struct ClcQuery {
  std::uint32_t response = 0;  // address
  std::uint32_t word = 0;      // of it, that answers: 0 whether there is a cluster, 1 its first CTA
};

/// setmaxnreg.
struct Registers {
  std::uint32_t count = 0;  // of a thread
};

struct Note {
  std::uint32_t full = 0;  // address of the ring's first full barrier
  std::uint32_t stages = 0;
  std::uint32_t index = 0;
  std::uint32_t lap = 0;
  StageStep step = StageStep::kProducerAcquired;
};

struct Trap {
  TrapCause cause = TrapCause::kSaid;
  std::uint32_t says = 0;  // 1 + the number of a text
};

}  // namespace operands

/// The operands of one operation: by what it is, and of loads and stores of memory by how they
/// name it.
using AnyOperands = std::variant<operands::None,
                                 operands::Mbarrier,
                                 operands::ProxyFence,
                                 operands::MapFence,
                                 operands::NamedBarrier,
                                 operands::Members,
                                 operands::Copy,
                                 operands::MapChange,
                                 operands::BulkWait,
                                 operands::TmemAllocation,
                                 operands::TmemRegion,
                                 operands::Mma,
                                 operands::Wgmma,
                                 operands::WgmmaFence,
                                 operands::WgmmaWait,
                                 operands::TmemCopy,
                                 operands::Commit,
                                 operands::TmemAccess,
                                 operands::TmemWait,
                                 operands::FragmentRead,
                                 operands::SharedWord,
                                 operands::SharedRows,
                                 operands::LaneBytes,
                                 operands::GlobalWord,
                                 operands::ClcRequest,
                                 operands::ClcQuery,
                                 operands::Registers,
                                 operands::Note,
                                 operands::Trap>;

}  // namespace warptwin::sim
