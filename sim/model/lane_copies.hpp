/// cp.async: copies of 4, 8 or 16 bytes that each lane of a warp makes, and waits for by groups or
/// has an mbarrier count.
///
/// A copy may write at any time between its issue and its wait. The model sees both ends of that
/// time: at the issue a load of the source and a store that nobody knows the value of, at the wait
/// the same load and the store of the data. Whoever is not ordered with both races. Who is ordered
/// behind the issue, and before the wait, uses bytes that are on their way: the machine says so.
///
/// What an mbarrier counts is on its way until a wait for the phase that counts it, and the
/// detectors report who uses its bytes before (`AsyncAccess`). It publishes what it has written,
/// and nothing that its thread did before.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/model/operation.hpp"
#include "sim/model/warp_registers.hpp"

namespace warptwin::sim {

/// A cp.async, as lanes of a warp execute it.
struct LaneCopies {
  std::uint32_t mask = 0;  // lanes
  std::uint32_t size = 0;  // bytes that each writes
  std::array<std::uint64_t, kWarpLanes> from{};
  std::array<std::uint32_t, kWarpLanes> to{};     // in the own CTA's shared memory
  std::array<std::uint32_t, kWarpLanes> bytes{};  // that each reads; what is left is zeros
};

/// Instructions beside each cp.async of kernel text, by which lanes find their places: of
/// gemm_wgmma_unaligned's loop as ptxas 13.0 has it for sm_90a. A program in PTX has its own.
inline constexpr std::uint32_t kPlacingInstructions = 28;
inline constexpr std::uint32_t kPlacingIntegers = 13;  // of them, beside multiply-adds

/// The copies of a warp that are under way.
class CopiesOfWarp {
 public:
  /// Makes the operations that copies consist of, and performs them.
  class Issuer {
   public:
    virtual Operation make(Op kind, std::uint32_t lanes) const = 0;
    virtual void perform(Operation& operation) = 0;
    /// The lanes of `access` are about to load or store: `kind`.
    virtual void touches(const LaneAccess& access, Op kind) = 0;
    /// What the lanes have stored is a copy's that an mbarrier counts.
    virtual void hands_over(const LaneAccess& access) = 0;

   protected:
    ~Issuer() = default;
  };

  /// `tells_groups`: a wait for groups may follow copies that an mbarrier counts.
  CopiesOfWarp(std::uint32_t rank, bool moves_data, WarpRegisters& registers, bool tells_groups)
      : rank_{rank}, moves_data_{moves_data}, registers_{&registers}, tells_groups_{tells_groups} {}

  /// Lanes begin copies. Throws ConfigError where they are not of 4, 8 or 16 bytes, or a lane reads
  /// more than it writes.
  void issue(Issuer& issuer, const LaneCopies& copies);
  /// cp.async.commit_group. Each lane has groups of its own, numbered as it commits them.
  void commit(std::uint32_t lanes);
  /// cp.async.wait_group: what is left of each lane are its last `pending` groups.
  void wait(Issuer& issuer, std::uint32_t lanes, std::uint64_t pending);
  /// cp.async.mbarrier.arrive, on one of the own CTA; `counted`: .noinc.
  void arrive(Issuer& issuer, std::uint32_t lanes, std::uint32_t mbarrier, bool counted);
  /// What is to be performed where the warp ends: it reports a copy that nobody has waited for.
  std::optional<Operation> end();
  /// Nobody asks for them any more.
  void forget() { copies_.clear(); }

 private:
  struct Copy {
    LaneAccess source;
    LaneAccess target;
    std::uint32_t left = 0;                         // lanes that have not waited for it
    std::array<std::uint32_t, kWarpLanes> group{};  // kNoGroup: not committed yet
    SourceSite site{};
    std::uint32_t serial = 0;  // of the mbarrier's update that counts it; 0: none does, yet
    std::uint64_t lands = 0;   // when it is there, where an engine keeps time
    std::uint32_t number = 0;  // among those of the warp
  };
  static constexpr std::uint32_t kNoGroup = ~std::uint32_t{0};

  void issue_alike(Issuer& issuer, const LaneCopies& copies, std::uint32_t lanes);
  Operation load_of(Issuer& issuer, Copy& copy, LaneAccess& source, std::uint32_t lanes) const;
  Operation store_of(
      Issuer& issuer, Copy& copy, LaneAccess& target, std::uint32_t lanes, LaneCopyStep step) const;
  void land(Issuer& issuer, Copy& copy, std::uint32_t lanes);
  void tell_over(Issuer& issuer, const Copy& copy) const;
  std::vector<AsyncAccess> hand_over(Issuer& issuer, std::uint32_t lanes, std::uint64_t& lands);

  std::uint32_t rank_;
  bool moves_data_;
  WarpRegisters* registers_;
  bool tells_groups_;
  std::uint32_t issued_ = 0;
  std::vector<Copy> copies_;                           // that some lane has not waited for
  std::vector<Copy> counted_;                          // likewise, and an mbarrier counts them
  std::array<std::uint32_t, kWarpLanes> committed_{};  // groups of each lane
};

}  // namespace warptwin::sim
