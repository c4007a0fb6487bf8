/// What two runs computed, element by element, and what each copy brought.
///
/// Where nothing is added up, or the simulator added up both, the bits must be the same. Else the
/// order of the additions is the machine's own: with n products in an element, each of the n - 1
/// additions of a sum in fp32 is off by at most 2^-23 (a tensor core may truncate) of a partial
/// sum, which is at most M, the sum of the products' absolute values; storing rounds by u. So
///
///   |x - y| <= u (|x| + |y|) + 2 n 2^-23 M,   u = 2^-8 for bf16, 2^-11 f16, 2^-24 f32, ...

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/compare/matching.hpp"

namespace warptwin::sim {

/// One output in both traces.
struct ValueComparison {
  std::string name;
  std::uint64_t elements = 0;
  std::uint64_t same = 0;    // bit for bit
  std::uint64_t beyond = 0;  // that are further apart than the bound
  double worst = 0;          // largest difference, as a fraction of its bound
  double absolute = 0;       // the bound is relative * (|x| + |y|) + absolute; both 0: none
  double relative = 0;
  std::vector<Mismatch> first;  // the first element beyond, if there is one
};

/// Whether the two may have added up in different orders: tensor cores of a GPU took part in one.
bool sums_may_differ(const Trace& first, const Trace& second);

/// Every output that both traces have; none when their inputs were of different seeds, which
/// `notes` then says.
std::vector<ValueComparison> compare_values(const Trace& first,
                                            const Trace& second,
                                            std::vector<std::string>& notes);

/// The loads of the traces that brought other bytes, the first of each warp. `compared` counts
/// those whose checksums both traces have. Where a wait saw them instead: see stages.hpp.
std::vector<Mismatch> compare_data(const Trace& first,
                                   const Trace& second,
                                   const Matching& matching,
                                   std::uint64_t& compared);

/// "d: 262144 elements, 262000 the same bit for bit, the rest within ...".
std::string text_of(const ValueComparison& values);

}  // namespace warptwin::sim
