/// Holds a kernel's storage to its roles while it is compiled: a barrier that waits for a role
/// without warps, or that such a role waits for, does not compile, nor does a ring without stages.
/// Without this the kernel would compile and hang.

#pragma once

#include <cstdint>
#include <type_traits>

#include "common/kernel/role_functions.hpp"
#include "common/machine/roles.hpp"
#include "common/machine/shared_layout.hpp"

namespace warptwin {

/// A layout that notes the first role which a barrier is declared for and which has no warps, and
/// the first ring that has no stages and should.
template <std::uint32_t kRows>
class RoleLayout {
 public:
  /// Lays out from address 0, for the roles of a CTA.
  constexpr explicit RoleLayout(RoleTable<kRows> roles) : roles_{roles} {}

  /// As `SharedLayout::barriers`; notes the contract's roles unless `count` is 0.
  constexpr MbarrierArray barriers(RegionName name,
                                   std::uint32_t count,
                                   const BarrierContract& contract) {
    if (count != 0) {
      note(contract.waiter);
      for (const Contributor& contributor : contract.contributors) {
        note(contributor.role);
      }
    }
    return layout_.barriers(name, count, contract);
  }
  /// As `SharedLayout::tiles`.
  constexpr SharedAddress tiles(RegionName name,
                                std::uint32_t count,
                                std::uint32_t bytes,
                                std::uint32_t alignment) {
    return layout_.tiles(name, count, bytes, alignment);
  }
  constexpr SharedAddress word(RegionName name) { return layout_.word(name); }  // as SharedLayout's
  /// As `SharedLayout::ring`; notes a ring without stages.
  constexpr void ring(const RingRegion& ring) {
    if (empty_ring_ == nullptr && ring.stages == 0 && !ring.may_be_empty) {
      empty_ring_ = ring.owner;
    }
    layout_.ring(ring);
  }

  /// kCount: every role has warps.
  constexpr Role missing() const { return missing_; }
  /// Whose ring has no stages; null: every ring has one or more, or may be empty.
  constexpr const char* empty_ring() const { return empty_ring_; }

 private:
  constexpr void note(Role role) {
    if (missing_ == Role::kCount && role != Role::kCount && roles_.warps(role) == 0) {
      missing_ = role;
    }
  }

  SharedLayout layout_{SharedAddress{}};
  RoleTable<kRows> roles_;
  Role missing_ = Role::kCount;
  const char* empty_ring_ = nullptr;
};

/// What the storage of a kernel with these extents asks a layout for.
template <class Kernel, class Extents>
constexpr auto role_layout(const Extents& extents) {
  constexpr auto kRoles = Kernel::kRoles;
  RoleLayout layout{kRoles};
  const typename Kernel::Storage storage{layout, extents};
  static_cast<void>(storage);
  return layout;
}

/// The first role without warps that a barrier of the storage is declared for; kCount: none.
template <class Kernel, class Extents>
constexpr Role role_without_warps() {
  return role_layout<Kernel>(Extents{}).missing();
}

/// Refuses, when it is instantiated, a kernel whose storage at constant `Extents` has a barrier for
/// a role without warps, or a ring without stages. A storage that is no constant at these extents
/// is passed over.
template <class Kernel, class Extents>
constexpr void check_storage_roles() {
  if constexpr (requires {
                  typename std::integral_constant<Role, role_without_warps<Kernel, Extents>()>;
                }) {
    constexpr Role kMissing = role_without_warps<Kernel, Extents>();
#define WARPTWIN_ROLE(kRole, function)                                            \
  static_assert(kMissing != Role::kRole,                                          \
                "a barrier of the kernel's storage is declared for Role::" #kRole \
                ", and kRoles gives it no warps: add RoleWarps{Role::" #kRole     \
                ", 1} to kRoles, or declare the pipeline for a role that has warps");
    WARPTWIN_FOR_EACH_ROLE(WARPTWIN_ROLE)
#undef WARPTWIN_ROLE
    static_assert(role_layout<Kernel>(Extents{}).empty_ring() == nullptr,
                  "a ring of the kernel's storage has no stages at its constant extents: whoever "
                  "waits for one would wait for no barrier");
  }
}

}  // namespace warptwin
