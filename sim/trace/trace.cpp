#include "sim/trace/trace.hpp"

#include <algorithm>

namespace warptwin::sim {

std::uint32_t Trace::warps_per_cta() const {
  std::uint32_t total = 0;
  for (const TraceRole& role : roles) {
    total += role.warps;
  }
  return total;
}

std::uint32_t Trace::name(const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    names.push_back(name);
    return static_cast<std::uint32_t>(names.size() - 1);
  }
  return static_cast<std::uint32_t>(found - names.begin());
}

bool Trace::has_tokens() const {
  return std::any_of(
      warps.begin(), warps.end(), [](const WarpTrace& warp) { return !warp.tokens.empty(); });
}

std::string Trace::warp_name(std::size_t number) const {
  const std::uint32_t per_cta = std::max(warps_per_cta(), 1U);
  const auto index = static_cast<std::uint32_t>(number % per_cta);
  std::string role = "none";
  std::uint32_t first = 0;
  for (const TraceRole& row : roles) {
    if (index >= first && index < first + row.warps) {
      role = row.name;
    }
    first += row.warps;
  }
  return "cta " + std::to_string(number / per_cta) + " warp " + std::to_string(index) + " (" +
         role + ")";
}

}  // namespace warptwin::sim
