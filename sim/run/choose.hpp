/// A configuration for a problem, by rule: what `--set auto=1` asks for.

#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/run/scenario_entry.hpp"

namespace warptwin::sim {

/// SMs that the launch is spread over: a B200's.
inline constexpr std::uint32_t kChooserSms = 148;
/// K steps in flight, at most.
inline constexpr std::uint32_t kChooserSlotsMax = 24;

struct ChosenConfig {
  ParameterSet parameters;
  /// What was chosen, in the order in which the scenario lists its parameters.
  std::vector<std::pair<std::string, std::int64_t>> values;
};

/// The parameters that the rule reads or chooses.
std::span<const std::string_view> chooser_parameters();

/// Chooses the parameters of a GEMM that are not in `fixed`, for its m, n and k:
///
///   swap_ab        1 for m < 32
///   cta_group      2, but 1 for m < 32; tile_m 128 rows a CTA, clusters of one group
///   tile_k         128 bytes
///   tile_n         the fewest waves of tiles over the SMs, then the smallest tile
///   k_group        4 for tiles of up to 64 x 16, 2 up to 64 x 96, else 1
///   accum_stages   min(2, waves); clc_stages 0 for one wave, else 2
///   swizzle        from 4 waves on the strip of 1, 2, 4 or 8 tiles for which a wave loads
///                  least, else 0
///   stages         what fits, up to 24 k steps; at least one beside those that in_flight holds
///   prefetch       min(4, k groups, stages) for m < 128
///   source_stages  1 for 256 x 256, 4 beside a ring of 8 k steps, else 2
///   ctas, clusters as many as the SMs hold, when there are more tiles
///
/// A parameter that the scenario has not is not chosen.
///
/// Errors: ConfigError for a scenario without m, n, k, tile_n and stages, and when nothing fits
///         what is fixed.
/// Source: the configuration rule of the structured SM100 kernels.
ChosenConfig choose_config(const ScenarioEntry& scenario,
                           const ParameterSet& given,
                           const std::set<std::string>& fixed);

}  // namespace warptwin::sim
