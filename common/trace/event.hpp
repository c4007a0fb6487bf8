/// What happened, in the words of the machine: one fixed-size record per step of an operation.
/// Engines and GPUs write events; checkers, the proof and the comparator read them and nothing
/// else.

#pragma once

#include <cstdint>

#include "common/machine/types.hpp"

namespace warptwin {

/// An operation of the machine, named after its PTX instruction.
enum class Op : std::uint8_t {
  kMbarrierInit,
  kMbarrierInval,
  kMbarrierArrive,  // also .expect_tx, noComplete and drop: see Event::flags
  kMbarrierExpectTx,
  kMbarrierCompleteTx,
  kMbarrierWait,     // mbarrier.try_wait.parity in a loop
  kMbarrierTryWait,  // mbarrier.try_wait.parity once
  kFence,
  kFenceMbarrierInit,
  kFenceProxyAsync,
  kFenceProxyTensormap,  // ::generic, .release or .acquire
  kTcgen05FenceBefore,
  kTcgen05FenceAfter,
  kBarSync,
  kBarArrive,
  kClusterArrive,
  kClusterWait,
  kSyncWarp,
  kTensorLoad,   // cp.async.bulk.tensor, global to shared
  kTensorStore,  // cp.async.bulk.tensor, shared to global
  kTensormapReplace,
  kBulkLoad,
  kBulkStore,
  kBulkCommitGroup,
  kBulkWaitGroup,  // flag kRead for .read
  kTcgen05Alloc,
  kTcgen05Dealloc,
  kTcgen05Relinquish,
  kTcgen05Mma,
  kTcgen05Cp,
  kTcgen05Commit,
  kTcgen05Ld,
  kTcgen05St,
  kTcgen05WaitLd,
  kTcgen05WaitSt,
  kWgmma,  // wgmma.mma_async
  kWgmmaFence,
  kWgmmaCommit,   // wgmma.commit_group
  kWgmmaWait,     // wgmma.wait_group
  kFragmentRead,  // the first use of a tcgen05.ld's registers
  kSharedStore,   // st.shared
  kSharedLoad,
  kGlobalLoad,  // ld.global of an input
  kGlobalLoadAcquire,
  kGlobalStoreRelease,
  kGlobalRedAdd,
  kGlobalWait,
  kClcTryCancel,  // clusterlaunchcontrol.try_cancel, .multicast with a mask
  kClcQuery,      // clusterlaunchcontrol.query_cancel
  kGriddepcontrolWait,
  kGriddepcontrolLaunch,
  kSetmaxnreg,
  kStageNote,
  kWarpStart,
  kWarpExit,
  kCtaExit,
  kGlobalStore,  // st.global: weak, it orders nothing
  kTrap,         // trap, or an assertion that fails: the kernel ends
  kElectSync,    // elect.sync, shfl.sync and the like: lanes come together, memory is not ordered
  kCount,
};

/// An operation as reports call it: its instruction.
const char* name_of(Op op);

/// Whether it writes shared memory by itself and counts its bytes on an mbarrier.
constexpr bool is_load(Op op) {
  return op == Op::kTensorLoad || op == Op::kBulkLoad || op == Op::kClcTryCancel;
}

/// Which step of an operation an event is. A synchronous operation has one, kDone.
enum class Step : std::uint8_t {
  kDone,       // executed
  kBlocked,    // looked, could not pass, waits
  kIssued,     // an asynchronous operation starts to exist
  kRead,       // its source has been read
  kWritten,    // its destination has been written; a load's bytes are counted in the same step
  kSignalled,  // a deferred arrival has been made
  kTouched,    // further global memory of a copy that is issued, where it is not one rectangle
  kCounted,    // part of a load's bytes have been counted; its destination is not written yet
};

/// What the machine found wrong with an operation. Detectors turn faults into diagnostics.
enum class Fault : std::uint8_t {
  kNone,
  kUninitialised,  // no valid mbarrier there
  kMisaligned,
  kOutOfRange,  // address outside its space, rank outside its cluster
  kBadCount,    // a count, size or shape outside its range
  kAlreadyInitialised,
  kInUse,       // inval or free of something waited for or pending
  kOverArrive,  // more arrivals than pending
  kTxOverflow,
  kTxUnderflow,
  kWouldComplete,  // a noComplete arrival that completes
  kDropToZero,
  kBadParity,
  kExitedCta,     // the CTA has ended
  kNotWholeWarp,  // a collective operation by some lanes only
  kGrows,         // a tensor-memory allocation larger than an earlier one
  kAfterRelinquish,
  kNotAllocated,
  kFreed,
  kWrongAllocation,  // dealloc of something that is not exactly one allocation
  kLaneSlice,        // tensor-memory lanes that are not this warp's
  kUnsettled,        // registers of a tcgen05.ld used before its wait
  kBadDescriptor,
  kBadShape,
  kCountMismatch,  // a named barrier's generation met with different thread counts
  kDoubleArrive,
  kNoArrive,  // cluster wait without arrive
  kOverlap,   // a generic access to a live mbarrier's bytes
  kBadMask,
  kFailedResponse,  // a cluster asked of a response that has none
  kOtherLane,       // what is committed or waited for was issued by another lane of the warp
  kNotWarpgroup,    // a wgmma that not all four warps of a warpgroup execute alike
  kUnwaited,        // an accumulator touched before the wait for its last wgmma
  kNoFence,         // registers of a wgmma were touched after the last wgmma.fence
  kLaneRace,        // two lanes at one word, in no order
  kOnItsWay,        // bytes that a cp.async still writes
  kStopped,         // by itself
};

/// What of a tensor copy is not as its map has it: Event::wanted beside Fault::kBadShape.
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
};

/// Bits of Event::flags.
namespace event_flag {
inline constexpr std::uint16_t kExpectTx = 1;    // arrive.expect_tx
inline constexpr std::uint16_t kNoComplete = 2;  // arrive.noComplete
inline constexpr std::uint16_t kDrop = 4;        // arrive_drop
inline constexpr std::uint16_t kRemote = 8;  // the object is in another CTA, or addressed as such
inline constexpr std::uint16_t kExactPhase = 16;      // `wanted` is a phase number, else a parity
inline constexpr std::uint16_t kPhaseCompleted = 32;  // this event completed phase `phase`
inline constexpr std::uint16_t kTraps = 64;           // hardware would kill the kernel here
inline constexpr std::uint16_t kRead = 128;           // wait_group.read
inline constexpr std::uint16_t kReadOnly = 128;       // ld.global.nc
inline constexpr std::uint16_t kOfCopies = 128;       // on an mbarrier: when copies are complete
inline constexpr std::uint16_t kSharedSource = 128;   // bulk load from a CTA's shared memory
inline constexpr std::uint16_t kRelaxed = 128;        // of a global word: it orders by fences alone
inline constexpr std::uint16_t kCountsTries = 128;    // a try of a loop that is not where it was
inline constexpr std::uint16_t kOwnQuarter = 128;     // tcgen05.ld, .st: not the quarter it names
inline constexpr std::uint16_t kArrivedBefore = 128;  // bar: its warp has come to this generation
inline constexpr std::uint16_t kByWarp = 128;         // a tensor map's change: by the warp as one
inline constexpr std::uint16_t kPeek = 32768;      // a wait that, told no, was none: others go on
inline constexpr std::uint16_t kPair = 256;        // cta_group::2
inline constexpr std::uint16_t kAccumulate = 512;  // mma with enable-input-d
inline constexpr std::uint16_t kMatrix = 512;      // tensor copy of a matrix's adjacent rows
inline constexpr std::uint16_t kSignAsked = 512;  // an add: of what it finds the sign is used alone
inline constexpr std::uint16_t kOfAtomic = 512;   // a load: what an atomic of its thread has found
inline constexpr std::uint16_t kLateLanes = 1024;  // the lanes a wait left behind
inline constexpr std::uint16_t kFalse = 2048;      // a try that said no
inline constexpr std::uint16_t kIncrease = 4096;   // setmaxnreg.inc
inline constexpr std::uint16_t kTmemA =
    16384;  // mma with A in tensor memory, at `peer`, or in registers
inline constexpr std::uint16_t kBlockScale = 32768;  // mma with scale factors
}  // namespace event_flag

/// One step of one operation. Fields that an operation does not have are zero.
///
/// Family        address        count        bytes      phase .. tx
/// mbarrier      the object     arrivals     expect/tx  phase the step acted in; then the object's
///                                                      state after it
/// init          the object     arrivals     -          `wanted`: 1 when it was live and idle
/// wait          the object     -            -          phase the object was in when it looked;
///                                                      `wanted` is what it waited for
/// named barrier id             threads (n)  -          phase: generation
/// load          shared address -            of data    `peer`: the signalled barrier; phase: the
///                                                      phase its bytes were counted in
/// store         shared address bulk group   of data    -
/// tensor copy, issued: `wanted` the bytes of its swizzle; of a load `count` those of a row, of a
/// store `peer`; `phase` its map, which of operations on maps is `count`
/// either, issued: `global` the first byte of its box in global memory, `pending` its rows, `tx`
/// the bytes of a row, `expected` from row to row; no rows: not described
/// bulk load from shared memory: kTouched, with kSharedSource: `address`, `cta` its source
/// lanes' access, issued: it goes on until the update of an mbarrier with kOfCopies and the same
/// serial is signalled (cp.async that an mbarrier tracks, st.async, red.async)
/// bulk groups   -              -            -          phase: the group committed; the first that
///                                                      a wait leaves; `wanted`: 1, of one lane
/// tensor memory TMEM address   columns      -          of mma: `wanted` its instruction, `phase`
///                                                      its kind; `pending`, `expected`: where the
///                                                      scale factors of A and B are; of cp:
///                                                      `wanted` its shape; of ld: lanes, 0: 32
/// wgmma         -              columns      -          `wanted`, `phase`: as of mma; `pending`:
///                                                      its number in its warp; `expected`: warps
///                                                      of the warpgroup that have issued it.
///                                                      Its kWritten is the whole warpgroup's, with
///                                                      the serial of all four and the first warp
/// wgmma commit  -              -            -          `phase`: the group; `pending`: wgmmas of
///                                                      its warp until then
/// wgmma wait    -              groups left  -          `pending`: wgmmas of its warp that are over
/// CLC request   response       -            16         as of a load; `wanted`: the cluster it got
///                                                      + 1; 0: it failed
/// CLC query     response       1: the CTA   -          `wanted`: the answer
/// row store     tile base      lanes        of a lane  phase, wanted: row and column; `peer`:
///                                                      bytes of a row; `expected`: of an element;
///                                                      `extra`: of its swizzle
/// lanes' access  as of a row store, of global memory too: a rectangle of bytes for each event,
///                                                      with elements of one byte; of shared
///                                                      memory `tx` says what is known of it
/// kOnItsWay     the bytes        -           their      `pending`: line of the cp.async that does
///                                            number     them; `phase` 1: at the end of its warp
/// kLaneRace      the word       -           4          lanes: `lane`, before it `wanted`, which
///                                                      wrote if `phase`, in line `pending`
/// trap          -              -          -          `wanted`: 1 + the number of what it says
/// stage note    full[0]        stages       StageStep  phase: lap; wanted: index
struct Event {
  std::uint64_t time = 0;  // step number; cycles in timed and hardware traces
  Op op = Op::kCount;
  Step step = Step::kDone;
  Fault fault = Fault::kNone;
  std::uint8_t lanes = 0;  // how many lanes executed it
  std::uint16_t flags = 0;
  Ordering ordering{Semantics::kRelaxed, Scope::kCta};
  std::uint32_t warp = 0;  // who: warp number in the grid; of an asynchronous step, its issuer
  std::uint32_t cta = 0;   // CTA the object is in, number in the grid
  std::uint32_t address = 0;
  std::uint32_t count = 0;
  std::uint32_t bytes = 0;
  std::uint32_t phase = 0;
  std::uint32_t wanted = 0;
  std::uint32_t pending = 0;   // arrivals still missing after the step
  std::int32_t tx = 0;         // tx-count after the step
  std::uint32_t expected = 0;  // arrivals a phase takes
  std::uint32_t peer = 0;      // a second address: an operand, a signalled barrier
  std::uint32_t peer_cta = 0;
  std::uint8_t lane = 0;       // where one lane executed it: which
  std::uint8_t reduction = 0;  // of a copy: how it combines with what is there; 0: it does not
  std::uint32_t mask = 0;      // where some lanes of the warp executed it together: which
  std::uint32_t serial = 0;    // an asynchronous operation's number, the same in all its steps
  std::uint64_t global =
      0;  // global-memory address; smem descriptor of A for mma (of wgmma: as of tcgen05)
  std::uint64_t extra = 0;  // smem descriptor of B for mma, CTA mask
  SourceSite site{};

  /// The lanes that executed it, as bits.
  std::uint32_t lane_mask() const {
    return lanes == 1 ? 1U << lane : mask != 0 ? mask : ~std::uint32_t{0};
  }
};

}  // namespace warptwin
