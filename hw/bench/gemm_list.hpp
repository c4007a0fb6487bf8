/// Lists of configurations of `gemm_wgmma`, of which programs that measure take one a line.

#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace warptwin::hw::bench {

/// A line is "m n k tile_m tile_n stages cluster_m in_flight ctas swizzle"; ctas 0 is one for every
/// tile. tile_k is 64.
struct Configuration {
  std::uint32_t m, n, k, tile_m, tile_n, stages, cluster_m, in_flight, ctas, swizzle;
  bool loads = false;  // nothing is multiplied
};

/// As a list has it.
inline std::string line_of(const Configuration& c) {
  std::string line;
  for (const std::uint32_t field :
       {c.m, c.n, c.k, c.tile_m, c.tile_n, c.stages, c.cluster_m, c.in_flight, c.ctas, c.swizzle}) {
    line += (line.empty() ? "" : " ") + std::to_string(field);
  }
  return line;
}

/// Those of the file `list`. None, and standard output says why: it has no line, or one that cannot
/// be read, is not made of whole tiles, or of which `is_here` says no.
template <class IsHere>
std::vector<Configuration> read_list(const char* list, const IsHere& is_here) {
  std::ifstream file{list};
  std::vector<Configuration> all;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream words{line};
    Configuration c{};
    words >> c.m >> c.n >> c.k >> c.tile_m >> c.tile_n >> c.stages >> c.cluster_m >> c.in_flight >>
        c.ctas >> c.swizzle;
    const bool whole = words && c.tile_m != 0 && c.tile_n != 0 && c.cluster_m != 0 &&
                       c.m % (c.tile_m * c.cluster_m) == 0 && c.n % c.tile_n == 0;
    if (!whole || !is_here(c)) {
      std::printf("%s:%d: no configuration that is here: '%s'\n", list, number, line.c_str());
      return {};
    }
    all.push_back(c);
  }
  if (all.empty()) {
    std::printf("%s: no line can be read\n", list);
  }
  return all;
}

}  // namespace warptwin::hw::bench
