/// What says that lanes have waited by themselves for copies that an mbarrier counts.

#pragma once

#include "common/trace/event.hpp"

namespace warptwin::sim {

/// In the flags of a kSharedLoad or kGlobalLoad of lanes: nobody reads. The copies that these lanes
/// have made to, or from, the bytes are over, as `cp.async.wait_group` has told each of them. They
/// are those of the update of an mbarrier whose serial is `payload::Rows::copies`.
inline constexpr std::uint16_t kCopiesAreOver = event_flag::kIncrease;

}  // namespace warptwin::sim
