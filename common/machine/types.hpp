/// The words of the machine: addresses, phases, orderings, sites. Every type here means on a GPU
/// what
/// it means in the simulator, and none of them knows a backend.

#pragma once

#include <compare>
#include <cstdint>
#if !defined(__CUDACC__) && !defined(__clang__)
#include <source_location>
#endif

// The caller's column, as a default argument.
#if defined(__CUDACC__)
#define WARPTWIN_COLUMN 0
#elif defined(__clang__)
#define WARPTWIN_COLUMN __builtin_COLUMN()
#else
#define WARPTWIN_COLUMN std::source_location::current().column()
#endif

namespace warptwin {

inline constexpr std::uint32_t kWarpLanes = 32;         // threads of a warp
inline constexpr std::uint32_t kWarpsPerWarpgroup = 4;  // what wgmma is issued by
inline constexpr std::uint32_t kNamedBarriers = 16;     // of a CTA: bar.sync 0 to 15
/// Bytes of a cluster-launch-control response, and their alignment.
inline constexpr std::uint32_t kClcResponseBytes = 16;
inline constexpr std::uint32_t kTmemLanes = 128;    // rows of tensor memory
inline constexpr std::uint32_t kTmemColumns = 512;  // of 4 bytes a lane
/// Largest pending count and largest absolute tx-count of an mbarrier (PTX ISA, "mbarrier").
inline constexpr std::uint32_t kMbarrierCountMax = (1U << 20) - 1;
/// Shared memory one CTA can opt in to on SM90 and SM100, in bytes.
inline constexpr std::uint32_t kSharedBytesPerCtaMax = 232448;

/// Rounds `value` up to a multiple of `multiple`.
constexpr std::uint32_t align_up(std::uint32_t value, std::uint32_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// The quotient, rounded up.
constexpr std::uint32_t ceil_div(std::uint32_t value, std::uint32_t divisor) {
  return (value + divisor - 1) / divisor;
}

/// Where in the kernel text an operation stands. A default argument `SourceSite::current()` names
/// the
/// caller's line, through any number of layers that pass it on; on a GPU it folds away.
struct SourceSite {
  const char* file = "";     // as the compiler was given it
  std::uint32_t line = 0;    // from 1; 0: no line
  std::uint32_t column = 0;  // from 1; 0: not known, as on a GPU. No report says it

  /// The caller's. Builtins: Clang 14 with libstdc++ 12 has no usable std::source_location.
  static constexpr SourceSite current(const char* file = __builtin_FILE(),
                                      std::uint32_t line = __builtin_LINE(),
                                      std::uint32_t column = WARPTWIN_COLUMN) {
    return {file, line, column};
  }
};
#undef WARPTWIN_COLUMN

/// How many CTAs one tcgen05 operation acts on; one value per kernel (PTX ISA, "cta_group").
enum class CtaGroup : std::uint8_t {
  kOne = 1,  // .cta_group::1: the executing CTA
  kTwo = 2,  // .cta_group::2: the two CTAs of a pair
};

/// How many CTAs issue one MMA together.
constexpr std::uint32_t ctas_in(CtaGroup group) {
  return static_cast<std::uint32_t>(group);
}

/// A byte address in the executing CTA's own shared-memory window (`shared::cta`).
struct SharedAddress {
  std::uint32_t value = 0;  // in bytes, 32 bits wide as in PTX

  /// The address `bytes` further on; nothing checks that a region reaches so far.
  friend constexpr SharedAddress operator+(SharedAddress base, std::uint32_t bytes) {
    return {base.value + bytes};
  }
  friend constexpr auto operator<=>(SharedAddress, SharedAddress) = default;  // in order of bytes
};

/// A byte address in the shared-memory window of the whole cluster (`shared::cluster`): what `mapa`
/// gives. Opaque: its bits differ between backends.
struct ClusterAddress {
  std::uint32_t value = 0;  // as only the backend that made it can read
  friend constexpr auto operator<=>(ClusterAddress, ClusterAddress) = default;  // of bits alone
};

/// A byte address in global memory.
struct GlobalAddress {
  std::uint64_t value = 0;  // in bytes

  /// The address `bytes` further on; nothing checks that a tensor reaches so far.
  friend constexpr GlobalAddress operator+(GlobalAddress base, std::uint64_t bytes) {
    return {base.value + bytes};
  }
  friend constexpr auto operator<=>(GlobalAddress, GlobalAddress) = default;  // in order of bytes
};

/// A tensor-memory address: lane in bits 31..16, column in bits 15..0, columns of 32 bits.
struct TmemAddress {
  std::uint32_t value = 0;  // as tcgen05 instructions take it

  constexpr std::uint32_t lane() const { return value >> 16; }        // 0 to 127: the row
  constexpr std::uint32_t column() const { return value & 0xFFFFU; }  // 0 to 511, 4 bytes each
  /// The same column, `lane` lanes further on.
  constexpr TmemAddress at_lane(std::uint32_t lane) const { return {value + (lane << 16)}; }
  /// The same lane, `column` columns further on.
  constexpr TmemAddress at_column(std::uint32_t column) const { return {value + column}; }
  friend constexpr auto operator<=>(TmemAddress, TmemAddress) = default;  // by lane, then column
};

/// An mbarrier of the executing CTA. Waits, init and inval exist only for it.
struct Mbarrier {
  SharedAddress address;                                            // of its 8 bytes, aligned to 8
  friend constexpr auto operator<=>(Mbarrier, Mbarrier) = default;  // in order of addresses
};

/// An mbarrier of any CTA of the cluster: it can be arrived on, never waited for.
struct RemoteMbarrier {
  ClusterAddress address;  // what `mapa` made of its address in the CTA
};

/// `count` mbarriers side by side: `full[stage]`.
struct MbarrierArray {
  SharedAddress base;  // of the first; each takes 8 bytes

  /// The mbarrier of this index, which nothing checks against the count.
  constexpr Mbarrier operator[](std::uint32_t index) const {
    return {base + index * static_cast<std::uint32_t>(sizeof(std::uint64_t))};
  }
};

/// The phase a wait is for. Hardware is told its parity; the simulator is also told the number when
/// the caller knows it, and so can tell a wait that aliases from one that is right.
///
/// Phase -1 stands for the phase before the first: on a fresh mbarrier it counts as complete.
class WaitPhase {
 public:
  /// The caller knows which phase it means: `number` counts completed phases from 0.
  static constexpr WaitPhase number(std::uint32_t number) { return {number, number & 1U, true}; }
  /// The same where its parity is at hand too: on a GPU the number is then never computed.
  static constexpr WaitPhase number(std::uint32_t number, std::uint32_t parity) {
    return {number, parity, true};
  }
  /// Only the parity is known, as in hand-written kernels.
  static constexpr WaitPhase parity_only(std::uint32_t parity) {
    return {parity, parity & 1U, false};
  }

  constexpr std::uint32_t parity() const { return parity_; }  // 0 or 1: all that hardware is told
  constexpr std::uint32_t value() const { return value_; }    // the number, or the parity as given
  constexpr bool is_exact() const { return exact_; }          // whether the number is known

 private:
  constexpr WaitPhase(std::uint32_t value, std::uint32_t parity, bool exact)
      : value_{value}, parity_{parity}, exact_{exact} {}
  std::uint32_t value_;
  std::uint32_t parity_;
  bool exact_;
};

/// The `.sem` of an operation: what it orders.
enum class Semantics : std::uint8_t {
  kRelaxed,  // .relaxed: nothing
  kAcquire,  // .acquire: what comes later, behind what this observes
  kRelease,  // .release: what came earlier, before whoever observes this
  kAcqRel,   // .acq_rel: both
};
/// The `.scope` of an operation: with whom.
enum class Scope : std::uint8_t {
  kCta,      // .cta: the threads of the CTA
  kCluster,  // .cluster: the threads of its cluster
  kGpu,      // .gpu: every thread of the GPU
};

/// The `.sem` and `.scope` of an operation.
struct Ordering {
  Semantics semantics;  // its `.sem`
  Scope scope;          // its `.scope`
};

inline constexpr Ordering kReleaseCta{Semantics::kRelease, Scope::kCta};  // .release.cta
inline constexpr Ordering kReleaseCluster{Semantics::kRelease,
                                          Scope::kCluster};               // .release.cluster
inline constexpr Ordering kRelaxedCta{Semantics::kRelaxed, Scope::kCta};  // .relaxed.cta
inline constexpr Ordering kRelaxedCluster{Semantics::kRelaxed,
                                          Scope::kCluster};               // .relaxed.cluster
inline constexpr Ordering kAcquireCta{Semantics::kAcquire, Scope::kCta};  // .acquire.cta
inline constexpr Ordering kAcquireCluster{Semantics::kAcquire,
                                          Scope::kCluster};  // .acquire.cluster

/// The shapes of `tcgen05.cp`: lanes x bits, from a K-major tile without swizzle; the 32 lanes of
/// the last are written to all four quarters.
enum class TmemCopy : std::uint8_t {
  k128x256b,       // 8 columns of every lane
  k128x128b,       // 4 columns of every lane
  k32x128bWarpx4,  // 4 columns of 32 lanes, in each quarter
};

/// Rows of the tile that one reads, and columns of tensor memory that it writes.
constexpr std::uint32_t rows_of(TmemCopy shape) {
  return shape == TmemCopy::k32x128bWarpx4 ? 32 : kTmemLanes;
}
/// Columns of tensor memory that one copy fills.
constexpr std::uint32_t columns_of(TmemCopy shape) {
  return shape == TmemCopy::k128x256b ? 8 : 4;
}

/// The state space a proxy fence covers.
enum class ProxySpace : std::uint8_t {
  kAll,            // fence.proxy.async
  kSharedCta,      // fence.proxy.async.shared::cta
  kSharedCluster,  // fence.proxy.async.shared::cluster
  kGlobal,         // fence.proxy.async.global
};

/// A set of CTAs of a cluster: bit i stands for cluster rank i.
struct CtaMask {
  std::uint16_t bits = 0;  // of ranks 0 to 15

  /// Whether the CTA of this rank, below 16, is in the set.
  constexpr bool contains(std::uint32_t rank) const { return ((bits >> rank) & 1U) != 0; }
  /// How many CTAs are in the set.
  constexpr std::uint32_t count() const {
    std::uint32_t count = 0;
    for (std::uint32_t rest = bits; rest != 0; rest &= rest - 1) {
      ++count;
    }
    return count;
  }
  /// The CTA of this rank, below 16, alone.
  static constexpr CtaMask of(std::uint32_t rank) {
    return {static_cast<std::uint16_t>(1U << rank)};
  }
  /// The CTAs of either set.
  friend constexpr CtaMask operator|(CtaMask a, CtaMask b) {
    return {static_cast<std::uint16_t>(a.bits | b.bits)};
  }
  friend constexpr bool operator==(CtaMask, CtaMask) = default;  // the same CTAs
};

/// Element coordinates of a tensor copy, innermost dimension first.
template <std::uint32_t kRank>
struct Coordinates {
  static_assert(kRank >= 1 && kRank <= 5, "a tensor map has 1 to 5 dimensions");
  std::int32_t at[kRank];  // may be negative, or beyond the edge
};

/// Four rows of a matrix, from a column on: what .tile::gather4 copies.
struct RowsOf4 {
  std::int32_t column;  // the first of each row, in elements
  std::int32_t row[4];  // any, in any order; one outside the matrix is of zeros
};

/// What one lane of a cp.async copies: the first `bytes` of as many as the instruction writes; the
/// rest are zeros. Of none, nothing is read.
struct CopyOfLane {
  SharedAddress to;     // in the own CTA, aligned to what the instruction writes
  GlobalAddress from;   // likewise
  std::uint32_t bytes;  // that are read
};

/// Pixels of images, one behind the other, as an im2col map takes them: channel, W, H and D as far
/// as there are, and the image; and how far from each of them what is copied stands.
template <std::uint32_t kRank>
struct PixelCoordinates {
  static_assert(kRank >= 3 && kRank <= 5, "an im2col map has 3 to 5 dimensions");
  std::int32_t at[kRank];           // of the first pixel's place in the bounding box
  std::uint16_t offset[kRank - 2];  // along W, H and D
};

/// What a warp does for the whole kernel.
enum class Role : std::uint8_t {
  kLoad,          // copies operand tiles to shared memory
  kMma,           // issues the MMAs
  kEpilogue,      // reads accumulators, writes the output
  kEpilogueLoad,  // loads what the epilogue reads beside them: bias, residual
  kScheduler,     // asks for tiles by cluster launch control
  kProducer,      // fills a ring that has no tensor core behind it
  kConsumer,      // empties such a ring
  kSoftmax,       // attention: turns scores into probabilities, in place
  kCorrection,    // attention: rescales the sums of the output, and writes it
  kScaleLoad,     // copies scale factors to shared memory
  kScaleToTmem,   // stores them from there to tensor memory
  kTransform,     // turns an operand into what MMAs take, and stores it to tensor memory
  kIdle,          // nothing, between the start and the end of the kernel
  kCount,         // no role: how many there are
};

/// A role as reports call it: that of its function.
constexpr const char* name_of(Role role) {
  constexpr const char* kNames[] = {"load",
                                    "mma",
                                    "epilogue",
                                    "epilogue_load",
                                    "scheduler",
                                    "producer",
                                    "consumer",
                                    "softmax",
                                    "correction",
                                    "scale_load",
                                    "scale_to_tmem",
                                    "transform",
                                    "idle"};
  return role < Role::kCount ? kNames[static_cast<unsigned>(role)] : "none";
}

}  // namespace warptwin
