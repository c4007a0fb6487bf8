#include "sim/timed/places.hpp"

#include <algorithm>

namespace warptwin::sim {

namespace {

// Those of the chip; else its GPCs, of one size, of which as many ask each half of L2.
std::vector<SmGroup> groups_of(const Chip& chip, std::uint32_t halves) {
  if (!chip.places.empty()) {
    return chip.places;
  }
  const auto gpcs = static_cast<std::uint32_t>(chip.gpcs);
  const auto all = static_cast<std::uint32_t>(chip.sms);  // a turn each, whatever their size
  std::vector<SmGroup> groups;
  for (std::uint32_t gpc = 0; gpc < gpcs; ++gpc) {
    groups.push_back({all, gpc, gpc * halves / gpcs});
  }
  return groups;
}

// Where there are no GPCs: neighbours ask one half.
L2Port neighbour(const Chip& chip, std::uint32_t halves, std::uint32_t sm) {
  const auto half = static_cast<std::uint32_t>(static_cast<double>(sm) * halves /
                                               std::max<double>(chip.sms, 1.0));
  return {std::min(half, halves - 1), 0};
}

}  // namespace

std::vector<L2Port> dealt_out(const Chip& chip,
                              std::uint32_t halves,
                              std::uint32_t size,
                              std::uint32_t clusters) {
  std::vector<L2Port> ports;
  if (chip.gpcs == 0) {
    for (std::uint32_t sm = 0; sm < clusters * size; ++sm) {
      ports.push_back(neighbour(chip, halves, sm));
    }
    return ports;
  }
  std::vector<SmGroup> groups = groups_of(chip, halves);
  const auto full = [&](const SmGroup& group) { return group.sms < size; };
  if (std::all_of(groups.begin(), groups.end(), full)) {
    std::for_each(groups.begin(), groups.end(), [&](SmGroup& group) { group.sms = size; });
  }
  const std::vector<SmGroup> empty = groups;
  for (std::size_t turn = 0; ports.size() < std::size_t{clusters} * size; ++turn) {
    if (turn % groups.size() == 0 && std::all_of(groups.begin(), groups.end(), full)) {
      groups = empty;
    }
    SmGroup& group = groups[turn % groups.size()];
    if (!full(group)) {
      group.sms -= size;
      ports.insert(ports.end(), size, L2Port{group.half, group.gpc});
    }
  }
  return ports;
}

}  // namespace warptwin::sim
