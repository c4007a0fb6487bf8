/// The words of the machine: addresses, phases, orderings, sites. Every type here means on a GPU
/// what
/// it means in the simulator, and none of them knows a backend.

#pragma once

#include <compare>
#include <cstdint>

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
  const char* file = "";
  std::uint32_t line = 0;

  // Builtins, not std::source_location: Clang 14 with libstdc++ 12 has no usable one.
  static constexpr SourceSite current(const char* file = __builtin_FILE(),
                                      std::uint32_t line = __builtin_LINE()) {
    return {file, line};
  }
};

/// How many CTAs one tcgen05 operation acts on; one value per kernel (PTX ISA, "cta_group").
enum class CtaGroup : std::uint8_t { kOne = 1, kTwo = 2 };

/// How many CTAs issue one MMA together.
constexpr std::uint32_t ctas_in(CtaGroup group) {
  return static_cast<std::uint32_t>(group);
}

/// A byte address in the executing CTA's own shared-memory window (`shared::cta`).
struct SharedAddress {
  std::uint32_t value = 0;

  friend constexpr SharedAddress operator+(SharedAddress base, std::uint32_t bytes) {
    return {base.value + bytes};
  }
  friend constexpr auto operator<=>(SharedAddress, SharedAddress) = default;
};

/// A byte address in the shared-memory window of the whole cluster (`shared::cluster`): what `mapa`
/// gives. Opaque: its bits differ between backends.
struct ClusterAddress {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(ClusterAddress, ClusterAddress) = default;
};

/// A byte address in global memory.
struct GlobalAddress {
  std::uint64_t value = 0;

  friend constexpr GlobalAddress operator+(GlobalAddress base, std::uint64_t bytes) {
    return {base.value + bytes};
  }
  friend constexpr auto operator<=>(GlobalAddress, GlobalAddress) = default;
};

/// A tensor-memory address: lane in bits 31..16, column in bits 15..0, columns of 32 bits.
struct TmemAddress {
  std::uint32_t value = 0;

  constexpr std::uint32_t lane() const { return value >> 16; }
  constexpr std::uint32_t column() const { return value & 0xFFFFU; }
  constexpr TmemAddress at_lane(std::uint32_t lane) const { return {value + (lane << 16)}; }
  constexpr TmemAddress at_column(std::uint32_t column) const { return {value + column}; }
  friend constexpr auto operator<=>(TmemAddress, TmemAddress) = default;
};

/// An mbarrier of the executing CTA. Waits, init and inval exist only for it.
struct Mbarrier {
  SharedAddress address;
  friend constexpr auto operator<=>(Mbarrier, Mbarrier) = default;
};

/// An mbarrier of any CTA of the cluster: it can be arrived on, never waited for.
struct RemoteMbarrier {
  ClusterAddress address;
};

/// `count` mbarriers side by side: `full[stage]`.
struct MbarrierArray {
  SharedAddress base;

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

  constexpr std::uint32_t parity() const { return parity_; }
  constexpr std::uint32_t value() const { return value_; }
  constexpr bool is_exact() const { return exact_; }

 private:
  constexpr WaitPhase(std::uint32_t value, std::uint32_t parity, bool exact)
      : value_{value}, parity_{parity}, exact_{exact} {}
  std::uint32_t value_;
  std::uint32_t parity_;
  bool exact_;
};

/// The `.sem` of an operation: what it orders.
enum class Semantics : std::uint8_t { kRelaxed, kAcquire, kRelease, kAcqRel };
/// The `.scope` of an operation: with whom.
enum class Scope : std::uint8_t { kCta, kCluster, kGpu };

/// The `.sem` and `.scope` of an operation.
struct Ordering {
  Semantics semantics;
  Scope scope;
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
enum class TmemCopy : std::uint8_t { k128x256b, k128x128b, k32x128bWarpx4 };

/// Rows of the tile that one reads, and columns of tensor memory that it writes.
constexpr std::uint32_t rows_of(TmemCopy shape) {
  return shape == TmemCopy::k32x128bWarpx4 ? 32 : kTmemLanes;
}
/// Columns of tensor memory that one copy fills.
constexpr std::uint32_t columns_of(TmemCopy shape) {
  return shape == TmemCopy::k128x256b ? 8 : 4;
}

/// The state space a proxy fence covers.
enum class ProxySpace : std::uint8_t { kAll, kSharedCta, kSharedCluster, kGlobal };

/// A set of CTAs of a cluster: bit i stands for cluster rank i.
struct CtaMask {
  std::uint16_t bits = 0;

  constexpr bool contains(std::uint32_t rank) const { return ((bits >> rank) & 1U) != 0; }
  constexpr std::uint32_t count() const {
    std::uint32_t count = 0;
    for (std::uint32_t rest = bits; rest != 0; rest &= rest - 1) {
      ++count;
    }
    return count;
  }
  static constexpr CtaMask of(std::uint32_t rank) {
    return {static_cast<std::uint16_t>(1U << rank)};
  }
  friend constexpr CtaMask operator|(CtaMask a, CtaMask b) {
    return {static_cast<std::uint16_t>(a.bits | b.bits)};
  }
  friend constexpr bool operator==(CtaMask, CtaMask) = default;
};

/// Element coordinates of a tensor copy, innermost dimension first.
template <std::uint32_t kRank>
struct Coordinates {
  static_assert(kRank >= 1 && kRank <= 5, "a tensor map has 1 to 5 dimensions");
  std::int32_t at[kRank];
};

/// What a warp does for the whole kernel.
enum class Role : std::uint8_t {
  kLoad,
  kMma,
  kEpilogue,
  kEpilogueLoad,
  kScheduler,
  kProducer,
  kConsumer,
  kSoftmax,
  kCorrection,
  kScaleLoad,
  kScaleToTmem,
  kIdle,
  kCount,
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
                                    "idle"};
  return role < Role::kCount ? kNames[static_cast<unsigned>(role)] : "none";
}

}  // namespace warptwin
