/// Copies that each lane makes for itself: of `CudaMachine`.

#pragma once

#include <cstdint>

#include "common/machine/extent.hpp"
#include "common/machine/types.hpp"

#include "hw/ptx/lane_copy.hpp"
#include "hw/ptx/warp.hpp"

namespace warptwin::hw {

class CudaLaneCopies {
 public:
  template <std::uint32_t kBytes, class F>
  WARPTWIN_HOST_DEVICE void cp_async(Extent<kBytes> bytes, F&& f, SourceSite = {}) {
    const CopyOfLane copy = f(ptx::lane_index());
    if constexpr (Extent<kBytes>::kIsStatic) {
      ptx::cp_async<kBytes>(copy);
    } else if (bytes == 16) {  // the instruction has the number in itself
      ptx::cp_async<16>(copy);
    } else if (bytes == 8) {
      ptx::cp_async<8>(copy);
    } else {
      ptx::cp_async<4>(copy);
    }
  }
  WARPTWIN_HOST_DEVICE void cp_async_commit_group(SourceSite = {}) { ptx::cp_async_commit_group(); }
  template <std::uint32_t kPending>
  WARPTWIN_HOST_DEVICE void cp_async_wait_group(SourceSite = {}) {
    ptx::cp_async_wait_group<kPending>();
  }
  WARPTWIN_HOST_DEVICE void cp_async_mbarrier_arrive_noinc(Mbarrier bar, SourceSite = {}) {
    ptx::cp_async_mbarrier_arrive_noinc(bar);
  }
  WARPTWIN_HOST_DEVICE void cp_async_mbarrier_arrive(Mbarrier bar, SourceSite = {}) {
    ptx::cp_async_mbarrier_arrive(bar);
  }
};

}  // namespace warptwin::hw
