/// Scenario: attention by pairs of CTAs: one MMA of cta_group::2 computes a tile of queries of each
/// CTA. A CTA holds its own queries, scores and O, and half of what both multiply by: of a tile of
/// keys half of the rows, of a tile of values half of the columns.
///
/// Barrier             Arrivals per phase           Bytes    Completion means
/// q.full[t]           1   load, elected lane       both Qs  queries of tile t may be read, in both
/// q.empty[t]          1   mma, tcgen05.commit      -        queries of tile t may be overwritten
/// kv.full[s]          1   load, elected lane       both     stage s, keys or values, may be read
/// kv.empty[s]         1   mma, tcgen05.commit      -        stage s may be overwritten
/// scores.full[t]      1   mma, tcgen05.commit      -        S of tile t is complete, in both
/// scores.replaced[t]  256 softmax, every lane      -        P is stored where S was, in both
/// scores.empty[t]     1   mma, tcgen05.commit      -        P has been read: S may come again
/// accum.full[t]       1   mma, tcgen05.commit      -        O of tile t has taken P * V in
/// accum.empty[t]      256 correction, every lane   -        O is corrected, or has been read
/// stats.full[r]       128 softmax, every lane      -        a factor for each row may be read
/// stats.empty[r]      128 correction, every lane   -        the factors may be overwritten
/// tmem.done[0]        768 softmax, every lane      -        tensor memory may be freed
///                     (512) and correction (256)
/// tmem.peer[0]        1   mma, elected lane        -        the peer has allocated
///
/// The even CTA of a pair leads: its q.full and kv.full count the copies of both, on its
/// scores.replaced and accum.empty both softmaxes and both corrections arrive, and its MMA warp
/// alone multiplies and commits, to both CTAs but for scores.empty, for which it alone waits. Stats
/// stay in their CTA.
///
/// With `causal` and `window` the pair loads the keys that one of its queries sees: the first tile
/// of queries has three trips more than it needs.
///
/// Expected: clean in every interleaving, as attention is.

#pragma once

#include "scenarios/attention.hpp"

namespace warptwin::scenarios {

struct Attention2sm : AttentionOf<AttentionParts, CtaGroup::kTwo> {
  static constexpr ScenarioInfo kInfo{
      "attention_2sm", ScenarioKind::kClean, "attention by pairs of CTAs"};
};

}  // namespace warptwin::scenarios
