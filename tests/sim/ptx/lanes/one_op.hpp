// One instruction by itself, on values of one's own.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace warptwin::ptx {

/// Up to five sources of a lane.
using Sources = std::array<std::uint64_t, 5>;

/// What `instruction` writes for each of `inputs`. `types` are those of its registers, the written
/// one first: {"b32", "b32", "pred"}. `with_second`: of d|p, p in bit 63.
std::vector<std::uint64_t> evaluate(const std::string& instruction,
                                    const std::vector<std::string>& types,
                                    const std::vector<Sources>& inputs,
                                    bool with_second = false);

/// All pairs or triples of these.
std::vector<Sources> combinations(const std::vector<std::uint64_t>& values, std::size_t count);

}  // namespace warptwin::ptx
