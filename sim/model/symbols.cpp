#include "sim/model/symbols.hpp"

#include <cstdio>

namespace warptwin::sim {

const char* name_of(ArrivalKind kind) {
  switch (kind) {
    case ArrivalKind::kTmaBytes:
      return "arrive.expect_tx and its copies' bytes";
    case ArrivalKind::kUmmaCommit:
      return "tcgen05.commit";
    case ArrivalKind::kEveryLane:
      return "arrive, every lane";
    case ArrivalKind::kElectedLane:
      return "arrive, one lane a warp";
  }
  return "";
}

const Region* Symbols::find(std::uint32_t address) const {
  for (const Region& region : regions) {
    if (region.contains(address)) {
      return &region;
    }
  }
  return nullptr;
}

const Ring* Symbols::ring_of_full(std::uint32_t full) const {
  for (const Ring& ring : rings) {
    if (ring.full == full) {
      return &ring;
    }
  }
  return nullptr;
}

std::string Symbols::name(std::uint32_t address) const {
  const Region* region = find(address);
  if (region == nullptr) {
    char text[32];
    std::snprintf(text, sizeof text, "shared+0x%x", address);
    return text;
  }
  std::string name = region->owner;
  if (!region->part.empty()) {
    name += "." + region->part;
  }
  if (region->count > 1) {
    name += "[" + std::to_string((address - region->address) / region->element_bytes) + "]";
  }
  return name;
}

std::string Symbols::named_barrier(const char* kind, std::uint32_t id) const {
  const std::string number = std::string{kind} + " " + std::to_string(id);
  return find(id) != nullptr ? name(id) + " (" + number + ")" : number;
}

Role Symbols::role_of(std::uint32_t warp_index) const {
  std::uint32_t first = 0;
  for (const RoleWarps& row : roles) {
    if (warp_index < first + row.warps) {
      return row.role;
    }
    first += row.warps;
  }
  return Role::kCount;
}

MbarrierArray RecordingLayout::barriers(RegionName name,
                                        std::uint32_t count,
                                        const BarrierContract& contract) {
  const MbarrierArray array = layout_.barriers(name, count, contract);
  if (count != 0) {
    symbols_.regions.push_back(
        {RegionKind::kBarriers, name.owner, name.part, array.base.value, count, 8, contract});
  }
  symbols_.bytes = layout_.bytes();
  return array;
}

SharedAddress RecordingLayout::tiles(RegionName name,
                                     std::uint32_t count,
                                     std::uint32_t bytes,
                                     std::uint32_t alignment) {
  const SharedAddress at = layout_.tiles(name, count, bytes, alignment);
  symbols_.regions.push_back({RegionKind::kTile,
                              name.owner,
                              name.part,
                              at.value,
                              count,
                              align_up(bytes, alignment),
                              BarrierContract{}});
  symbols_.bytes = layout_.bytes();
  return at;
}

SharedAddress RecordingLayout::word(RegionName name) {
  const SharedAddress at = layout_.word(name);
  symbols_.regions.push_back(
      {RegionKind::kWord, name.owner, name.part, at.value, 1, 4, BarrierContract{}});
  symbols_.bytes = layout_.bytes();
  return at;
}

void RecordingLayout::ring(const RingRegion& ring) {
  symbols_.rings.push_back({ring.owner,
                            ring.full.base.value,
                            ring.empty.base.value,
                            ring.stages,
                            ring.tiles.value,
                            ring.stage_bytes});
}

}  // namespace warptwin::sim
