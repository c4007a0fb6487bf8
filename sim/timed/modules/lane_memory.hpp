/// What loads and stores of the lanes of a warp take, each lane at an address of its own.

#pragma once

#include <cstdint>
#include <vector>

#include "sim/model/lane_access.hpp"
#include "sim/timed/modules/memory_system.hpp"
#include "sim/timed/modules/shared_memory.hpp"

namespace warptwin::sim {

/// A line of global memory of which some sectors are accessed.
struct LineAccess {
  std::uint64_t line = 0;  // its address
  double bytes = 0;
};

/// Passes that an access takes through the banks of shared memory: 32 banks of 4 bytes, and as many
/// lanes at a time as 128 bytes are for.
std::uint32_t passes_of(const LaneAccess& access);
/// The lines of 128 bytes that an access touches, by sectors of 32; ascending.
std::vector<LineAccess> lines_of(const LaneAccess& access);

/// The way of one SM to L2 for what its lanes load and store.
class LaneMemory {
 public:
  LaneMemory(const Chip& chip, L2Port l2, SharedMemory& shared, MemorySystem& memory)
      : latency_{to_ticks(chip.smem_latency)},
        global_latency_{to_ticks(chip.global_latency)},
        rate_{chip.l2_sm_rate},
        l2_{l2},
        shared_{shared},
        memory_{memory} {}

  /// From `from` on. When what is loaded is there.
  Ticks load_shared(Ticks from, const LaneAccess& access) {
    return shared_.read(from, kPassBytes * passes_of(access)) + latency_;
  }
  /// When the next store can follow.
  Ticks store_shared(Ticks from, const LaneAccess& access) {
    return shared_.write(from, kPassBytes * passes_of(access));
  }
  /// Both ask what all SMs share: in the order of time.
  Ticks load_global(Ticks from, const LaneAccess& access);
  Ticks store_global(Ticks from, const LaneAccess& access);

 private:
  static constexpr double kPassBytes = 128;

  Ticks latency_;
  Ticks global_latency_;
  double rate_;
  L2Port l2_;
  SharedMemory& shared_;
  MemorySystem& memory_;
  Port inbound_;
  Port outbound_;
};

}  // namespace warptwin::sim
