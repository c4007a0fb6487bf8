/// Scenario: attention_2sm whose pairs of CTAs claim tiles by cluster launch control, as the single
/// ones of attention_clc do.
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
/// clc.full[c]         1   scheduler, elected lane  16       response c may be read
/// clc.empty[c]        928 scheduler, every lane, and all others      -   it may be overwritten
/// throttle.full[c]    32  load, every lane         -        the next tile has begun
/// throttle.empty[c]   32  scheduler, every lane    -        the scheduler knows
///
/// Expected: as attention_clc.

#pragma once

#include "scenarios/attention_clc.hpp"

namespace warptwin::scenarios {

struct AttentionPersistent : AttentionClcOf<AttentionParts, CtaGroup::kTwo> {
  static constexpr ScenarioInfo kInfo{
      "attention_persistent", ScenarioKind::kClean, "attention whose pairs of CTAs claim tiles"};
};

}  // namespace warptwin::scenarios
