/// Why a kernel ends itself, or a warp never does: what an operation and an event of a trap say.

#pragma once

#include <cstdint>

namespace warptwin::sim {

enum class TrapCause : std::uint32_t {
  kSaid,         // by `trap`, or an assertion that fails
  kWordOutside,  // an access that no memory holds
  kCopyOutside,  // likewise, of a bulk copy
  kForEver,      // a loop that nothing ends, which who executes the kernel has found
};

}  // namespace warptwin::sim
