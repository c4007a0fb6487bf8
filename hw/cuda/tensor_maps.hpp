/// Tensor maps that a kernel can change: they stand in global memory.

#pragma once

#include <cstdint>
#include <span>

#include <cuda.h>

#include "common/machine/types.hpp"

#include "hw/ptx/fence.hpp"
#include "hw/ptx/target.hpp"
#include "hw/ptx/words.hpp"

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

/// Changes of maps, and what makes them seen: of `CudaMachine`.
class CudaMapChanges {
 public:
  WARPTWIN_HOST_DEVICE void tensormap_replace_global_address(const CUtensorMap& map,
                                                             GlobalAddress address,
                                                             SourceSite = {}) {
    ptx::tensormap_replace_global_address(&map, address);
  }
  WARPTWIN_HOST_DEVICE void tensormap_replace_global_dim(const CUtensorMap& map,
                                                         std::uint32_t dimension,
                                                         std::uint32_t extent,
                                                         SourceSite = {}) {
    ptx::tensormap_replace_global_dim(&map, dimension, extent);
  }
  WARPTWIN_HOST_DEVICE void fence_proxy_tensormap_release(SourceSite = {}) {
    ptx::fence_proxy_tensormap_release();
  }
  WARPTWIN_HOST_DEVICE void fence_proxy_tensormap_acquire(const CUtensorMap& map, SourceSite = {}) {
    ptx::fence_proxy_tensormap_acquire(&map);
  }
};

}  // namespace warptwin::hw
