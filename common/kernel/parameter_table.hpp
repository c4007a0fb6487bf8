/// Tables of parameters that are made from others. Host code.

#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "common/kernel/scenario.hpp"

namespace warptwin {

/// The rows of `base`, and `rows` behind them. A row with the name of one in `base` takes its
/// place. For a scenario that is like another:
///
///   static std::span<const Parameter> parameters() {
///     static const auto kParameters = extended(Gemm::parameters(), {{"k", "...", 256, 1, 4096}});
///     return kParameters;
///   }
inline std::vector<Parameter> extended(std::span<const Parameter> base,
                                       std::initializer_list<Parameter> rows) {
  std::vector<Parameter> all{base.begin(), base.end()};
  for (const Parameter& row : rows) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const Parameter& one) {
      return std::string_view{one.name} == row.name;
    });
    if (same == all.end()) {
      all.push_back(row);
    } else {
      *same = row;
    }
  }
  return all;
}

}  // namespace warptwin
