/// What somebody may have meant by a name that does not exist.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warptwin::sim {

/// The `count` names that take the fewest insertions, deletions and replacements of a letter to
/// become `name`, nearest first; of equals, those that come first.
std::vector<std::string_view> nearest(std::string_view name,
                                      std::vector<std::string_view> names,
                                      std::size_t count);

/// "; did you mean 'gemm'?", with `count` names at most; empty where there is none.
std::string did_you_mean(std::string_view name,
                         std::vector<std::string_view> names,
                         std::size_t count = 1);

}  // namespace warptwin::sim
