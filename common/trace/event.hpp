/// What happened, in the words of the machine: one fixed-size record per step of an operation.
/// Engines and GPUs write events; checkers, the proof and the comparator read them and nothing
/// else.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "common/machine/types.hpp"
#include "common/trace/payload.hpp"

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

/// Bits of Event::flags.
namespace event_flag {
// Those that a GPU's events and trace files have.
inline constexpr std::uint32_t kExpectTx = 1U << 0;    // arrive.expect_tx
inline constexpr std::uint32_t kNoComplete = 1U << 1;  // arrive.noComplete
inline constexpr std::uint32_t kDrop = 1U << 2;        // arrive_drop
inline constexpr std::uint32_t kExactPhase = 1U << 4;  // a wait's phase is a number, no parity
inline constexpr std::uint32_t kRead = 1U << 7;        // wait_group.read
inline constexpr std::uint32_t kPair = 1U << 8;        // cta_group::2
inline constexpr std::uint32_t kFalse = 1U << 11;      // a try that said no
// Those of the model alone.
inline constexpr std::uint32_t kRemote = 1U << 3;          // of another CTA, or addressed as such
inline constexpr std::uint32_t kPhaseCompleted = 1U << 5;  // it completed phase `phase`
inline constexpr std::uint32_t kTraps = 1U << 6;           // hardware would kill the kernel here
inline constexpr std::uint32_t kAccumulate = 1U << 9;      // mma with enable-input-d
inline constexpr std::uint32_t kLateLanes = 1U << 10;      // the lanes a wait left behind
inline constexpr std::uint32_t kIncrease = 1U << 12;       // setmaxnreg.inc
inline constexpr std::uint32_t kSparse = 1U << 13;         // mma with sparse A
inline constexpr std::uint32_t kTmemA = 1U << 14;       // mma with A in tensor memory, in registers
inline constexpr std::uint32_t kBlockScale = 1U << 15;  // mma with scale factors
inline constexpr std::uint32_t kPeek = 1U << 16;        // a wait that, told no, was none
inline constexpr std::uint32_t kReadOnly = 1U << 17;    // ld.global.nc
inline constexpr std::uint32_t kOfCopies = 1U << 18;    // on an mbarrier: when copies are complete
inline constexpr std::uint32_t kSharedSource = 1U << 19;  // bulk load from a CTA's shared memory
inline constexpr std::uint32_t kRelaxed = 1U << 20;       // of a global word: by fences alone
inline constexpr std::uint32_t kCountsTries = 1U << 21;   // a try of a loop that has moved on
inline constexpr std::uint32_t kOwnQuarter = 1U << 22;  // tcgen05.ld, .st: not the quarter it names
inline constexpr std::uint32_t kArrivedBefore = 1U << 23;  // bar: its warp has, in this generation
inline constexpr std::uint32_t kByWarp = 1U << 24;     // a tensor map's change: by the warp as one
inline constexpr std::uint32_t kMatrix = 1U << 25;     // tensor copy of adjacent rows of a matrix
inline constexpr std::uint32_t kSignAsked = 1U << 26;  // an add: of what it finds, the sign alone
inline constexpr std::uint32_t kOfAtomic = 1U << 27;   // a load: what an atomic of its thread found
// Of a kSharedLoad or kGlobalLoad of lanes: nobody reads. The copies that these lanes have made to,
// or from, the bytes are over, as `cp.async.wait_group` has told each of them. They are those of
// the update of an mbarrier whose serial is `payload::Rows::copies`.
inline constexpr std::uint32_t kCopiesAreOver = 1U << 28;
}  // namespace event_flag

/// What events of an operation say, of memory by words.
constexpr payload::Kind payload_of(Op op) {
  switch (op) {
    case Op::kMbarrierInit:
    case Op::kMbarrierInval:
    case Op::kMbarrierArrive:
    case Op::kMbarrierExpectTx:
    case Op::kMbarrierCompleteTx:
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
    case Op::kTcgen05Commit:
      return payload::Kind::kMbarrier;
    case Op::kFenceProxyAsync:
      return payload::Kind::kProxyFence;
    case Op::kFenceProxyTensormap:
    case Op::kTensormapReplace:
      return payload::Kind::kMap;
    case Op::kBarSync:
    case Op::kBarArrive:
      return payload::Kind::kNamedBarrier;
    case Op::kSyncWarp:
    case Op::kElectSync:
      return payload::Kind::kMembers;
    case Op::kTensorLoad:
    case Op::kTensorStore:
    case Op::kBulkLoad:
    case Op::kBulkStore:
      return payload::Kind::kCopy;
    case Op::kBulkCommitGroup:
    case Op::kBulkWaitGroup:
      return payload::Kind::kBulkGroups;
    case Op::kTcgen05Alloc:
      return payload::Kind::kTmemAllocation;
    case Op::kTcgen05Dealloc:
    case Op::kTcgen05Relinquish:
      return payload::Kind::kTmemRegion;
    case Op::kTcgen05Mma:
      return payload::Kind::kMma;
    case Op::kTcgen05Cp:
      return payload::Kind::kTmemCopy;
    case Op::kTcgen05Ld:
    case Op::kTcgen05St:
      return payload::Kind::kTmemAccess;
    case Op::kTcgen05WaitLd:
    case Op::kTcgen05WaitSt:
      return payload::Kind::kTmemWait;
    case Op::kWgmma:
      return payload::Kind::kWgmma;
    case Op::kWgmmaCommit:
    case Op::kWgmmaWait:
      return payload::Kind::kWgmmaGroups;
    case Op::kSharedStore:
    case Op::kSharedLoad:
      return payload::Kind::kSharedWord;
    case Op::kGlobalLoad:
    case Op::kGlobalStore:
    case Op::kGlobalLoadAcquire:
    case Op::kGlobalStoreRelease:
    case Op::kGlobalRedAdd:
    case Op::kGlobalWait:
      return payload::Kind::kGlobalWord;
    case Op::kClcTryCancel:
      return payload::Kind::kClcRequest;
    case Op::kClcQuery:
      return payload::Kind::kClcQuery;
    case Op::kSetmaxnreg:
      return payload::Kind::kRegisters;
    case Op::kStageNote:
      return payload::Kind::kNote;
    case Op::kTrap:
      return payload::Kind::kTrap;
    default:
      return payload::Kind::kNone;
  }
}

/// One step of one operation: what all say, as far as they have it, and a payload of its kind.
struct Event {
  std::uint64_t time = 0;  // step number; cycles in timed and hardware traces
  Op op = Op::kCount;
  Step step = Step::kDone;
  Fault fault = Fault::kNone;
  std::uint8_t lanes = 0;  // how many lanes executed it
  std::uint32_t flags = 0;
  std::uint32_t warp = 0;  // who: warp number in the grid; of an asynchronous step, its issuer
  std::uint32_t cta = 0;   // CTA the object is in, number in the grid
  /// The object: its address in shared or tensor memory, or a named barrier's number.
  std::uint32_t address = 0;
  std::uint32_t bytes = 0;   // of data, or that an mbarrier expects or counts
  std::uint32_t phase = 0;   // of a barrier: the one that the step acted in
  std::uint32_t serial = 0;  // an asynchronous operation's number, the same in all its steps
  std::uint64_t global = 0;  // address in global memory
  std::uint32_t mask = 0;    // where some lanes of the warp executed it together: which
  std::uint8_t lane = 0;     // where one lane executed it: which
  Ordering ordering{Semantics::kRelaxed, Scope::kCta};

 private:
  static constexpr std::size_t kPayloadBytes = 40;
  payload::Kind kind_ = payload::Kind::kNone;
  alignas(8) std::byte payload_[kPayloadBytes] = {};

 public:
  SourceSite site{};

  Event() = default;
  /// With the payload of its kind, all zero.
  explicit Event(Op kind) : op{kind}, kind_{kKinds[static_cast<unsigned>(kind)]} {}

  payload::Kind kind() const { return kind_; }
  /// The payload, where it is a `T`. Else the process ends, as by a broken invariant, and names
  /// what was asked of which event.
  template <class T>
  const T& as() const {
    static_assert(sizeof(T) <= kPayloadBytes);
    if (kind_ != T::kKind) {
      lacks(T::kKind);
    }
    return *std::launder(reinterpret_cast<const T*>(payload_));
  }
  template <class T>
  T& as() {
    static_assert(sizeof(T) <= kPayloadBytes);
    if (kind_ != T::kKind) {
      lacks(T::kKind);
    }
    return *std::launder(reinterpret_cast<T*>(payload_));
  }
  template <class T>
  bool is() const {
    return kind_ == T::kKind;
  }
  /// Gives it another payload, all zero.
  template <class T>
  T& set() {
    static_assert(sizeof(T) <= kPayloadBytes && std::is_trivially_copyable_v<T>);
    kind_ = T::kKind;
    return *new (payload_) T{};
  }
  /// Calls `f` with the payload.
  template <class F>
  auto visit(F&& f) const;
  /// Of a load, and of a request for clusters: what counts its bytes.
  const payload::Signal& signal() const {
    if (kind_ != payload::Kind::kCopy && kind_ != payload::Kind::kLanding &&
        kind_ != payload::Kind::kClcRequest) {
      lacks(payload::Kind::kCopy);
    }
    // The first base of each of the three.
    return *std::launder(reinterpret_cast<const payload::Signal*>(payload_));
  }
  payload::Signal& signal() { return const_cast<payload::Signal&>(std::as_const(*this).signal()); }
  /// Of a step on an mbarrier, and of a landing.
  const payload::BarrierState& state() const {
    if (is<payload::Landing>()) {
      return as<payload::Landing>();
    }
    return as<payload::Mbarrier>();
  }
  payload::BarrierState& state() {
    return const_cast<payload::BarrierState&>(std::as_const(*this).state());
  }
  /// Of an access to memory: its rows; null where it is of a word, or which bytes is not known.
  const payload::Rows* rows() const {
    const auto* const rows = is<payload::Rows>() ? &as<payload::Rows>() : nullptr;
    return rows != nullptr && rows->element_bytes != 0 ? rows : nullptr;
  }
  /// Of both kinds of MMA.
  const payload::Product& product() const {
    if (is<payload::Wgmma>()) {
      return as<payload::Wgmma>();
    }
    return as<payload::Mma>();
  }

  payload::Numbers numbers() const;

  /// The lanes that executed it, as bits.
  std::uint32_t lane_mask() const {
    return lanes == 1 ? 1U << lane : mask != 0 ? mask : ~std::uint32_t{0};
  }

 private:
  static constexpr auto kKinds = [] {
    std::array<payload::Kind, static_cast<unsigned>(Op::kCount) + 1> kinds{};
    for (unsigned i = 0; i < kinds.size(); ++i) {
      kinds[i] = payload_of(static_cast<Op>(i));
    }
    return kinds;
  }();
  [[noreturn]] void lacks(payload::Kind kind) const;
};

template <class F>
auto Event::visit(F&& f) const {
  switch (kind_) {
    case payload::Kind::kMbarrier:
      return f(as<payload::Mbarrier>());
    case payload::Kind::kNamedBarrier:
      return f(as<payload::NamedBarrier>());
    case payload::Kind::kProxyFence:
      return f(as<payload::ProxyFence>());
    case payload::Kind::kMap:
      return f(as<payload::Map>());
    case payload::Kind::kMembers:
      return f(as<payload::Members>());
    case payload::Kind::kCopy:
      return f(as<payload::Copy>());
    case payload::Kind::kLanding:
      return f(as<payload::Landing>());
    case payload::Kind::kBulkGroups:
      return f(as<payload::BulkGroups>());
    case payload::Kind::kTmemAllocation:
      return f(as<payload::TmemAllocation>());
    case payload::Kind::kTmemRegion:
      return f(as<payload::TmemRegion>());
    case payload::Kind::kMma:
      return f(as<payload::Mma>());
    case payload::Kind::kTmemCopy:
      return f(as<payload::TmemCopy>());
    case payload::Kind::kTmemAccess:
      return f(as<payload::TmemAccess>());
    case payload::Kind::kTmemWait:
      return f(as<payload::TmemWait>());
    case payload::Kind::kWgmma:
      return f(as<payload::Wgmma>());
    case payload::Kind::kWgmmaGroups:
      return f(as<payload::WgmmaGroups>());
    case payload::Kind::kSharedWord:
      return f(as<payload::SharedWord>());
    case payload::Kind::kRows:
      return f(as<payload::Rows>());
    case payload::Kind::kGlobalWord:
      return f(as<payload::GlobalWord>());
    case payload::Kind::kClcRequest:
      return f(as<payload::ClcRequest>());
    case payload::Kind::kClcQuery:
      return f(as<payload::ClcQuery>());
    case payload::Kind::kRegisters:
      return f(as<payload::Registers>());
    case payload::Kind::kNote:
      return f(as<payload::Note>());
    case payload::Kind::kTrap:
      return f(as<payload::Trap>());
    case payload::Kind::kLaneRace:
      return f(as<payload::LaneRace>());
    case payload::Kind::kOnItsWay:
      return f(as<payload::OnItsWay>());
    default:
      return f(payload::None{});
  }
}
static_assert(std::is_trivially_copyable_v<Event>);
static_assert(sizeof(Event) == 112);

}  // namespace warptwin
