/// Why a kernel ends itself: what an operation and an event of a trap say.

#pragma once

#include <cstdint>

namespace warptwin::sim {

enum class TrapCause : std::uint32_t {
  kSaid,         // by `trap`, or an assertion that fails
  kWordOutside,  // an access that no memory holds
  kCopyOutside,  // likewise, of a bulk copy
};

}  // namespace warptwin::sim
