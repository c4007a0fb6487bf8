/// What the broken twins of gemm_multicast_preferred share.

#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "common/machine/shared_layout.hpp"

#include "scenarios/gemm_multicast_preferred.hpp"

namespace warptwin::scenarios {

/// The parameters, at which all clusters have the fallback shape: here that is no choice.
inline std::vector<Parameter> all_fallen_back(std::span<const Parameter> parameters) {
  std::vector<Parameter> all{parameters.begin(), parameters.end()};
  const auto shapes = std::find_if(all.begin(), all.end(), [](const Parameter& one) {
    return std::string_view{one.name} == "shapes";
  });
  shapes->standard = 15;
  shapes->choice = false;
  return all;
}

/// The storage of a CTA as if its cluster had the preferred shape. Regions are where they are in
/// either; the ring's tiles are the first.
template <class Storage>
constexpr Storage as_in_preferred(const auto& extents, const Storage& smem) {
  SharedLayout layout{smem.input.tiles};
  return {layout, extents};
}

}  // namespace warptwin::scenarios
