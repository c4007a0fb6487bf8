#include "sim/run/occupancy.hpp"

#include <algorithm>

#include "common/machine/types.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kSharedUnit = 128;    // bytes that are allocated together
constexpr std::uint32_t kRegisterUnit = 256;  // registers of a warp that are allocated together
constexpr std::uint32_t kRegisterFiles = 4;   // a warp has its registers in one

constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) {
  return ceil_div(value, unit) * unit;
}

// CTAs whose warps find their registers in the files of an SM.
std::uint32_t fitting_registers(const CtaNeeds& needs, const SmLimits& limits) {
  const std::uint32_t warps = ceil_div(needs.threads, kWarpLanes);
  const std::uint32_t registers = round_up(needs.registers_per_thread * kWarpLanes, kRegisterUnit);
  return limits.registers / kRegisterFiles / registers * kRegisterFiles / warps;
}

std::uint32_t whole(double value) {
  return static_cast<std::uint32_t>(value);
}

}  // namespace

SmLimits SmLimits::of(const Chip& chip) {
  return {whole(chip.sm_shared_bytes),
          whole(chip.sm_shared_per_cta),
          whole(chip.sm_threads),
          whole(chip.sm_registers),
          whole(chip.sm_named_barriers),
          whole(chip.sm_ctas),
          whole(chip.sms)};
}

Occupancy occupancy(const CtaNeeds& needs, const SmLimits& limits) {
  const std::uint32_t shared = round_up(needs.shared_bytes + limits.shared_per_cta, kSharedUnit);
  const std::uint32_t threads = round_up(needs.threads, kWarpLanes);
  const Occupancy all[] = {
      {limits.ctas, "CTAs per SM"},
      {shared == 0 ? limits.ctas : limits.shared_bytes / shared, "shared memory"},
      {limits.threads / std::max(1U, threads), "threads"},
      {needs.registers_per_thread == 0 ? limits.ctas : fitting_registers(needs, limits),
       "registers"},
      {limits.named_barriers / std::max(1U, needs.named_barriers), "named barriers"},
  };
  return *std::min_element(
      std::begin(all), std::end(all), [](const Occupancy& a, const Occupancy& b) {
        return a.ctas_per_sm < b.ctas_per_sm;
      });
}

}  // namespace warptwin::sim
