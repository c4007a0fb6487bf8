/// The clock that the SMs really had while something ran: under load it is not the one on the box.

#pragma once

#include <cstdint>

#include "hw/bench/microbenchmark.cuh"
#include "hw/launch/device_memory.hpp"
#include "hw/launch/launch.hpp"
#include "hw/ptx/launch.hpp"

#ifdef __CUDACC__

namespace warptwin::hw::bench {

namespace {

// Both clocks of each SM that a CTA of the grid is on.
__global__ void read_clocks(std::uint64_t* clocks) {
  const std::uint64_t time = nanoseconds();
  std::uint32_t sm;
  asm("mov.u32 %0, %%smid;" : "=r"(sm));
  clocks[2 * sm] = ptx::clock();
  clocks[2 * sm + 1] = time;
  __nanosleep(3000);  // so that no SM takes two CTAs
}

}  // namespace

/// Of this GPU.
inline std::uint32_t sm_count() {
  int count = 0;
  require_cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0),
               "cudaDeviceGetAttribute",
               "see the error");
  return static_cast<std::uint32_t>(count);
}

/// The mean clock of `sms` SMs from `begin()` to `gigahertz()`: of each, its cycles over the
/// nanoseconds they took.
class ClockMeter {
 public:
  explicit ClockMeter(std::uint32_t sms) : sms_{sms}, clocks_{4 * sms} {}

  void begin() { read(0); }
  /// Waits for everything that was launched before.
  double gigahertz() {
    read(1);
    synchronize(nullptr);
    double sum = 0;
    std::uint32_t seen = 0;
    for (std::uint32_t sm = 0; sm < sms_; ++sm) {
      const std::uint64_t* before = clocks_.get() + 2 * sm;
      const std::uint64_t* after = before + 2 * sms_;
      if (before[1] != 0 && after[1] > before[1]) {
        sum +=
            static_cast<double>(after[0] - before[0]) / static_cast<double>(after[1] - before[1]);
        ++seen;
      }
    }
    return seen == 0 ? 0 : sum / seen;
  }

 private:
  void read(std::uint32_t which) {
    constexpr std::uint32_t kShared = 200 * 1024;  // one CTA an SM
    std::uint64_t* to = clocks_.get() + 2 * sms_ * which;
    void* arguments[] = {&to};
    launch(reinterpret_cast<const void*>(&read_clocks), {sms_, 1, 1, kShared}, arguments, nullptr);
  }

  std::uint32_t sms_;
  SharedWithDevice<std::uint64_t> clocks_;
};

}  // namespace warptwin::hw::bench

#endif  // __CUDACC__
