#include "sim/timed/modules/lane_memory.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kBanks = 32;
constexpr std::uint32_t kBankBytes = 4;
constexpr std::uint64_t kLineBytes = 128;
constexpr std::uint64_t kSectorBytes = 32;

}  // namespace

std::uint32_t passes_of(const LaneAccess& access) {
  const std::uint32_t words = std::max(access.bytes / kBankBytes, 1U);
  const std::uint32_t lanes = std::max(kWarpLanes / words, 1U);
  std::uint32_t passes = 0;
  for (std::uint32_t first = 0; first < kWarpLanes; first += lanes) {
    std::array<std::vector<std::uint64_t>, kBanks> banks;
    std::size_t most = 0;
    for (std::uint32_t lane = first; lane < first + lanes; ++lane) {
      if ((access.mask >> lane & 1U) == 0) {
        continue;
      }
      for (std::uint32_t i = 0; i < words; ++i) {
        const std::uint64_t word = access.address[lane] / kBankBytes + i;
        std::vector<std::uint64_t>& bank = banks[word % kBanks];
        if (std::find(bank.begin(), bank.end(), word) == bank.end()) {
          bank.push_back(word);
          most = std::max(most, bank.size());
        }
      }
    }
    passes += static_cast<std::uint32_t>(most);
  }
  return std::max(passes, 1U);
}

std::vector<LineAccess> lines_of(const LaneAccess& access) {
  std::vector<std::uint64_t> sectors;
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    if ((access.mask >> lane & 1U) == 0 || access.bytes == 0) {
      continue;
    }
    const std::uint64_t begin = access.address[lane] / kSectorBytes;
    const std::uint64_t last = (access.address[lane] + access.bytes - 1) / kSectorBytes;
    for (std::uint64_t sector = begin; sector <= last; ++sector) {
      sectors.push_back(sector);
    }
  }
  std::sort(sectors.begin(), sectors.end());
  sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
  std::vector<LineAccess> lines;
  for (const std::uint64_t sector : sectors) {
    const std::uint64_t line = sector * kSectorBytes / kLineBytes * kLineBytes;
    if (lines.empty() || lines.back().line != line) {
      lines.push_back({line, 0});
    }
    lines.back().bytes += double{kSectorBytes};
  }
  return lines;
}

Ticks LaneMemory::load_global(Ticks from, const LaneAccess& access) {
  // What the whole way takes without L2's part of it.
  const Ticks rest = global_latency_ - std::min(global_latency_, memory_.latency());
  Ticks end = from;
  for (const LineAccess& one : lines_of(access)) {
    const Ticks fetched = memory_.fetch(from, l2_, one.line, one.bytes);
    end = std::max(end, inbound_.stream(fetched, to_ticks(one.bytes / rate_)) + rest);
  }
  return end;
}

Ticks LaneMemory::store_global(Ticks from, const LaneAccess& access) {
  Ticks end = from;
  for (const LineAccess& one : lines_of(access)) {
    const Ticks left = outbound_.reserve(from, to_ticks(one.bytes / rate_));
    end = std::max({end, left, memory_.store(from, l2_.half, one.line, one.bytes)});
  }
  return end;
}

}  // namespace warptwin::sim
