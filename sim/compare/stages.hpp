/// What the stages of two runs were filled with, phase by phase.
///
/// A phase of a barrier stands for the bytes that count in it. The simulator knows what each load
/// wrote; a GPU, what a wait for the phase found in the places that loads fill. Both by a checksum.
/// A place that no load filled for a phase is not looked at: what lies there is older, or another
/// barrier's.
///
/// Which phase a load is meant for: where a place is filled as often as its barrier completes, the
/// n-th time is for phase n; else it is the phase that its bytes count in. In a right kernel these
/// are the same.
///
/// What the kernel has written itself, and loads again, is passed over where the two machines may
/// have added up in different orders: its bits need not be the same. The outputs are held to a
/// bound.

#pragma once

#include <cstdint>
#include <vector>

#include "sim/compare/matching.hpp"
#include "sim/compare/replay.hpp"

namespace warptwin::sim {

struct StageCheck {
  std::vector<Mismatch> mismatches;  // the first of each warp that waited, or loaded
  std::uint64_t loads = 0;           // held against what waits, or other loads, saw
  std::uint64_t waits = 0;           // that saw them, once for each place
  std::uint64_t unseen = 0;          // loads with a phase that no wait with a token was for
};

/// Holds what one trace knows of each stage against what waits of the other saw, or both traces'
/// waits where neither has loads whose data is known. Clusters that claim work are taken
/// together: that each box was seen once by one of them, wherever, with all its waits alike.
///
/// `matching` is from `first` to `second`; the replays are theirs.
StageCheck check_stages(const Trace& first,
                        const Trace& second,
                        const Matching& matching,
                        const Replay& of_first,
                        const Replay& of_second);

/// Whether clusters of the launch claim work: then which of them does what is free.
bool claims_work(const Trace& trace);

/// Whether it is known what the loads of a trace wrote.
bool has_data_of_loads(const Trace& trace);

}  // namespace warptwin::sim
