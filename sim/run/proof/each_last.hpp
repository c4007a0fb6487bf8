/// Proves a launch whose threads ask whether they were the last to add to a word of global memory,
/// for each thread that may be: see sim/model/last_adders.hpp.

#pragma once

#include <cstdint>
#include <functional>

#include "sim/run/proof/prove.hpp"

namespace warptwin::sim {

/// As many ways are proved, who is the last of each word, one by one.
inline constexpr std::uint64_t kLastWaysMax = 1024;

/// How a launch is proved with one choice of who is last, and what it leaves.
struct LastChoices {
  std::uint32_t warps_per_cluster = 1;
  std::function<ProofResult(const ProofOptions&)> prove_one;
  /// Global memory behind a run with data, as one number. Empty: that is too much data for a proof.
  std::function<std::uint64_t(const ProofOptions&)> left;
};

/// `result` is what `prove_one` has found with whoever happened to be the last. With more ways than
/// kLastWaysMax, where it cannot be told who may be the last, and where that decides what the
/// launch leaves, the result is undecided.
ProofResult prove_each_last(ProofResult result,
                            const ProofOptions& options,
                            const LastChoices& choices);

}  // namespace warptwin::sim
