#include "sim/run/instantiate.hpp"

#include <string>

namespace warptwin::sim {

namespace {

std::uint32_t warps_of(Role role, std::span<const RoleWarps> rows) {
  std::uint32_t total = 0;
  for (const RoleWarps& row : rows) {
    total += row.role == role ? row.warps : 0;
  }
  return total;
}

}  // namespace

void EntryLayout::ring(const RingRegion& ring) {
  if (empty_ring_ == nullptr && ring.stages == 0 && !ring.may_be_empty) {
    empty_ring_ = ring.owner;
  }
  RecordingLayout::ring(ring);
}

void add_roles(Symbols& symbols,
               const EntryLayout& layout,
               std::span<const RoleWarps> roles,
               std::span<const RoleWarps> most) {
  if (const char* ring = layout.empty_ring()) {
    throw ConfigError(std::string{"ring '"} + ring + "' has no stages; use 1 or more");
  }
  for (const RoleWarps& row : roles) {
    const std::uint32_t wanted = warps_of(row.role, roles);
    const std::uint32_t known = warps_of(row.role, most);
    if (wanted > known) {
      throw ConfigError(std::string{"roles() gives role '"} + name_of(row.role) + "' " +
                        std::to_string(wanted) + " warps, and kRoles, which is its most, " +
                        std::to_string(known));
    }
    if (row.warps != 0) {
      symbols.roles.push_back(row);
    }
  }
}

}  // namespace warptwin::sim
