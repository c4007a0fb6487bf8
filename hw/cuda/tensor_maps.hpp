/// Tensor maps that a kernel can change: they stand in global memory.

#pragma once

#include <cstdint>
#include <span>

#include <cuda.h>

#include "common/machine/types.hpp"

#include "hw/ptx/target.hpp"

namespace warptwin::hw {

/// Maps in global memory, one behind the other.
class CudaTensorMaps {
 public:
  CudaTensorMaps() = default;
  /// All of `maps`, which begin at the address.
  CudaTensorMaps(std::span<const CUtensorMap>, GlobalAddress address)
      : first_{reinterpret_cast<const CUtensorMap*>(address.value)} {}
  WARPTWIN_HOST_DEVICE const CUtensorMap& operator[](std::uint32_t index) const {
    return first_[index];
  }

 private:
  const CUtensorMap* first_ = nullptr;
};

}  // namespace warptwin::hw
