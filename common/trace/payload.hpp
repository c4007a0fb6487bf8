/// What an event says beside what all events say.

#pragma once

#include <cstdint>

#include "common/machine/note.hpp"
#include "common/machine/types.hpp"
#include "common/machine/umma_descriptor.hpp"

namespace warptwin {

/// What of a tensor copy is not as its map has it: beside Fault::kBadShape.
enum class ShapeFault : std::uint8_t {
  kNone,
  kCoordinates,   // not as many as the tensor has dimensions
  kBeginsBefore,  // a store that begins outside the tensor
  kMapMode,       // a map of im2col for a tile, or the reverse
  kRows,          // .tile::gather4 by a map whose box has more than one row
  kColumn,        // the first element of a row is at no multiple of 16 bytes
  kOutsideBox,    // im2col that begins outside the bounding box
  kOffset,        // an im2col offset that is too large
  kBoxOutside,    // an im2col store whose bounding box is not in the tensor
  kPaddedColumn,  // elements with padding from a column that is no multiple of 128 on
  kLoadedOnly,    // a store of elements that are only loaded
  kPackedMap,     // a map that the driver would not make: most rules are of four and six bits
};

/// A type for each kind of operation, whose fields are all said by each of the kind, unless one
/// says which. All are zero by default.
namespace payload {

enum class Kind : std::uint8_t {
  kNone,
  kMbarrier,
  kNamedBarrier,
  kProxyFence,
  kMap,
  kMembers,
  kCopy,
  kLanding,
  kBulkGroups,
  kTmemAllocation,
  kTmemRegion,
  kMma,
  kTmemCopy,
  kTmemAccess,
  kTmemWait,
  kWgmma,
  kWgmmaGroups,
  kSharedWord,
  kRows,
  kGlobalWord,
  kClcRequest,
  kClcQuery,
  kRegisters,
  kNote,
  kTrap,
  kLaneRace,
  kOnItsWay,
  kCount,
};

/// Fences of one proxy, barriers of a cluster, and all else that says nothing more.
struct None {
  static constexpr Kind kKind = Kind::kNone;
};

/// An mbarrier after the step.
struct BarrierState {
  std::uint32_t pending = 0;   // arrivals still missing
  std::int32_t tx = 0;         // tx-count
  std::uint32_t expected = 0;  // arrivals a phase takes
};

/// All on an mbarrier, and tcgen05.commit. What an init or an inval finds is the state of that.
struct Mbarrier : BarrierState {
  static constexpr Kind kKind = Kind::kMbarrier;
  std::uint32_t arrivals = 0;  // of all lanes; of an init those of a phase
  /// Of a wait: a phase number where the flags say kExactPhase, else a parity.
  std::uint32_t wanted = 0;
  std::uint16_t mask = 0;  // of a commit: CTAs of its cluster; 0: its own
  bool was_idle = false;   // of an init: there was an object, and it was idle
};

struct NamedBarrier {
  static constexpr Kind kKind = Kind::kNamedBarrier;
  std::uint32_t threads = 0;
  bool of_all = false;   // whoever lives takes part, not so many threads
  bool returns = false;  // of a sync whose arrival had an event of its own
};

/// fence.proxy.async.
struct ProxyFence {
  static constexpr Kind kKind = Kind::kProxyFence;
  ProxySpace space = ProxySpace::kAll;
};

/// fence.proxy.tensormap and tensormap.replace.
struct Map {
  static constexpr Kind kKind = Kind::kMap;
  std::uint32_t number = 0;
  std::uint32_t field = 0;   // of a change: 0 is the address, i + 1 the extent of dimension i
  std::uint32_t extent = 0;  // the new one
};

/// What brings lanes of a warp together.
struct Members {
  static constexpr Kind kKind = Kind::kMembers;
  std::uint32_t lanes = 0;  // that it names, as bits, where not all
};

/// The mbarrier that counts a load's bytes, and where they go.
struct Signal {
  std::uint32_t barrier = 0;
  std::uint32_t barrier_cta = 0;  // number in the grid
  std::uint16_t mask = 0;         // CTAs of its cluster; 0: its own
};

/// Bulk and tensor copies: all steps of a store, and those of a load until it lands. In global
/// memory their box begins at `Event::global`.
struct Copy : Signal {
  static constexpr Kind kKind = Kind::kCopy;
  std::uint16_t row_bytes = 0;  // of a tensor copy that is issued: a row of its box,
  std::uint32_t map = 0;        // and its map
  std::uint32_t group = 0;      // of a store: its bulk group
  std::uint32_t source = 0;     // with kSharedSource: address, in the issuer's CTA
  std::uint32_t rows = 0;       // issued, touched: of its box in global memory; 0: not described
  std::uint32_t pitch = 0;      // bytes from row to row
  std::uint32_t width = 0;      // bytes of a row
  std::uint8_t swizzle = 0;     // a Swizzle, its map's, of a tensor copy that is issued
  std::uint8_t reduction = 0;   // how it combines with what is there; 0: it does not
  ShapeFault shape_fault = ShapeFault::kNone;
  std::uint8_t padding = 0;  // of a load that is issued: the last bytes of each 16, which hold none
};

/// Bytes of a load, or of a response, that are counted: kCounted and kWritten.
struct Landing : Signal, BarrierState {
  static constexpr Kind kKind = Kind::kLanding;
};

/// cp.async.bulk.commit_group and .wait_group.
struct BulkGroups {
  static constexpr Kind kKind = Kind::kBulkGroups;
  std::uint32_t group = 0;  // that is committed; of a wait the first that may be left
  std::uint32_t left = 0;   // of a wait: how many may be
  bool of_lane = false;     // and whether it is one lane's
};

struct TmemAllocation {
  static constexpr Kind kKind = Kind::kTmemAllocation;
  std::uint32_t columns = 0;
  std::uint32_t base = 0;  // the address that was given
};

/// tcgen05.dealloc and .relinquish_alloc_permit.
struct TmemRegion {
  static constexpr Kind kKind = Kind::kTmemRegion;
  std::uint32_t columns = 0;
};

/// Of both kinds of MMA; descriptors of shared memory as tcgen05 has them.
struct Product {
  std::uint64_t a = 0;  // unless the flags say kTmemA
  std::uint64_t b = 0;
  std::uint32_t instruction = 0;  // descriptor
  std::uint32_t columns = 0;      // of D
  MmaKind kind{};
};

/// tcgen05.mma.
struct Mma : Product {
  static constexpr Kind kKind = Kind::kMma;
  std::uint32_t tmem_a = 0;   // A, where the flags say kTmemA; where kSparse its metadata
  std::uint32_t scale_a = 0;  // where they say kBlockScale
  std::uint32_t scale_b = 0;
};

/// wgmma.mma_async. Its kWritten is the whole warpgroup's, with the serial of all four and the
/// first warp.
struct Wgmma : Product {
  static constexpr Kind kKind = Kind::kWgmma;
  std::uint32_t number = 0;  // in its warp
  std::uint32_t warps = 0;   // of the warpgroup that have issued it
};

/// wgmma.commit_group and .wait_group.
struct WgmmaGroups {
  static constexpr Kind kKind = Kind::kWgmmaGroups;
  std::uint32_t group = 0;   // that is committed
  std::uint32_t left = 0;    // of a wait: how many may be
  std::uint32_t wgmmas = 0;  // of its warp until the commit; of a wait those that are over
};

/// tcgen05.cp.
struct TmemCopy {
  static constexpr Kind kKind = Kind::kTmemCopy;
  std::uint64_t source = 0;  // descriptor
  std::uint32_t columns = 0;
  warptwin::TmemCopy shape{};
  std::uint8_t padding = 0;  // the last bytes of each 16 of the source, which are not read
};

/// tcgen05.ld and .st.
struct TmemAccess {
  static constexpr Kind kKind = Kind::kTmemAccess;
  std::uint32_t columns = 0;
  std::uint32_t first_lane = 0;
  std::uint32_t lanes = 0;  // 0: 32
};

/// tcgen05.wait.
struct TmemWait {
  static constexpr Kind kKind = Kind::kTmemWait;
  bool of_registers = false;  // of these alone: it orders nothing
};

/// A word of shared memory.
struct SharedWord {
  static constexpr Kind kKind = Kind::kSharedWord;
  std::uint32_t value = 0;  // that is stored
};

/// Rows of a tile, or a rectangle of the bytes of lanes at addresses of their own. Each has
/// `Event::bytes`, from `Event::address` on; of lanes in global memory, from `Event::global` on.
struct Rows {
  static constexpr Kind kKind = Kind::kRows;
  std::uint64_t written = 0;  // of a store that is kKnown: its bytes
  std::uint32_t rows = 0;
  std::uint32_t pitch = 0;   // bytes from row to row
  std::uint32_t row = 0;     // of a tile: the first one,
  std::uint32_t column = 0;  // and the element in it
  /// Of lanes: it goes on until the update of an mbarrier with kOfCopies and this serial is
  /// signalled; or it tells that the copies of this serial are over.
  std::uint32_t copies = 0;
  std::uint8_t element_bytes = 0;  // 0: which bytes is not known, as of an access that fails
  std::uint8_t swizzle = 0;        // a Swizzle, the tile's
  bool of_lanes = false;           // how the bytes lie in a tile is not known
  std::uint8_t known = 0;          // of lanes in shared memory: an AccessKind
};

/// A word of global memory.
struct GlobalWord {
  static constexpr Kind kKind = Kind::kGlobalWord;
  std::uint32_t value = 0;  // stored, added, or compared with
  std::uint32_t before = 0;
  std::uint32_t after = 0;
  std::uint32_t test = 0;  // of a wait: a WordTest's code
  std::uint64_t test_operands = 0;
};

/// clusterlaunchcontrol.try_cancel, until the response lands.
struct ClcRequest : Signal {
  static constexpr Kind kKind = Kind::kClcRequest;
  std::uint32_t got = 0;  // the cluster + 1; 0: none
};

/// clusterlaunchcontrol.query_cancel.
struct ClcQuery {
  static constexpr Kind kKind = Kind::kClcQuery;
  std::uint32_t word = 0;  // of the response: 0 whether there is a cluster, 1 its first CTA
  std::uint32_t answer = 0;
};

/// setmaxnreg.
struct Registers {
  static constexpr Kind kKind = Kind::kRegisters;
  std::uint32_t count = 0;  // of a thread
};

/// `Event::address` is that of the ring's first full barrier.
struct Note {
  static constexpr Kind kKind = Kind::kNote;
  std::uint32_t stages = 0;
  std::uint32_t index = 0;
  std::uint32_t lap = 0;
  StageStep step{};
};

struct Trap {
  static constexpr Kind kKind = Kind::kTrap;
  std::uint32_t cause = 0;  // a TrapCause
  std::uint32_t says = 0;   // 1 + the number of a text
};

/// Fault::kLaneRace: the event's lane at one byte, and one before it.
struct LaneRace {
  static constexpr Kind kKind = Kind::kLaneRace;
  std::uint32_t first = 0;  // the lane before it
  std::uint32_t line = 0;   // where that was, in `file`
  const char* file = "";
  bool first_wrote = false;
};

/// Fault::kOnItsWay.
struct OnItsWay {
  static constexpr Kind kKind = Kind::kOnItsWay;
  std::uint32_t line = 0;  // of the cp.async that writes the bytes, in `file`
  const char* file = "";
  bool at_exit = false;  // at the end of its warp
};

/// A payload as numbers, for whoever compares or hashes events of every kind. What a kind does not
/// say is zero.
struct Numbers {
  std::uint64_t first = 0;      // a descriptor, what is written, or a source
  std::uint64_t second = 0;     // another descriptor, CTAs, or how bytes lie
  std::uint32_t count = 0;      // of arrivals, threads, columns, ..., or a word
  std::uint32_t wanted = 0;     // waited for, or answered
  std::uint32_t place = 0;      // a second address, or a pitch
  std::uint32_t place_cta = 0;  // whose
  std::uint32_t pending = 0;    // as of an mbarrier, or what was found
  std::int32_t tx = 0;
  std::uint32_t expected = 0;
};

}  // namespace payload

}  // namespace warptwin
