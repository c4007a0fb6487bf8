/// What the proof reads from an event of a run.

#pragma once

#include <cstdint>

#include "common/trace/event.hpp"

namespace warptwin::sim {

/// Whether the event is work of its warp, once for each operation: late lanes have none of their
/// own, a bar.sync that waits has two events, and which warp ends its CTA is nobody's work.
bool is_work(const Event& event);

/// Whether the event starts an asynchronous operation that is a leaf of the proof.
bool starts_leaf(const Event& event);

/// The phase that a try means: where it does not say so, the one its parity names now.
std::int32_t meant_by_try(const Event& event);

/// Of a wait that has passed, or a try: the phase; 0 of other operations.
std::int64_t phase_waited_for(const Event& event);

}  // namespace warptwin::sim
