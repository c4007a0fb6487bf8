/// Which warps of a CTA play which role.

#pragma once

#include <cstdint>

#include "common/machine/types.hpp"

namespace warptwin {

/// `warps` consecutive warps of one role.
struct RoleWarps {
  Role role;            // what these warps do
  std::uint32_t warps;  // of each CTA, with indices that follow each other
};

/// The roles of a CTA in warp order, the same in every CTA. Roles that read tensor memory stand
/// first,
/// since the lane slice of a warp is its rank modulo 4.
template <std::uint32_t kCount>
struct RoleTable {
  RoleWarps rows[kCount];  // the first row begins with warp 0

  /// All warps of a CTA.
  constexpr std::uint32_t warps() const {
    std::uint32_t total = 0;
    for (const RoleWarps& row : rows) {
      total += row.warps;
    }
    return total;
  }
  /// Those of one role; 0 where no row has it.
  constexpr std::uint32_t warps(Role role) const {
    std::uint32_t total = 0;
    for (const RoleWarps& row : rows) {
      total += row.role == role ? row.warps : 0;
    }
    return total;
  }
  /// Threads of a role in one CTA.
  constexpr std::uint32_t lanes(Role role) const { return warps(role) * kWarpLanes; }
  /// The role of the warp of this index in its CTA; kCount behind the last row.
  constexpr Role role_of(std::uint32_t warp_index) const {
    std::uint32_t first = 0;
    for (const RoleWarps& row : rows) {
      if (warp_index < first + row.warps) {
        return row.role;
      }
      first += row.warps;
    }
    return Role::kCount;
  }
  /// The index of the role's first warp; where no row has it, the count of all warps.
  constexpr std::uint32_t first_warp(Role role) const {
    std::uint32_t first = 0;
    for (const RoleWarps& row : rows) {
      if (row.role == role) {
        return first;
      }
      first += row.warps;
    }
    return first;
  }
};

/// A table of as many rows as are given.
template <class... Rows>
RoleTable(RoleWarps, Rows...) -> RoleTable<1 + sizeof...(Rows)>;

}  // namespace warptwin
