// What special registers of the machine hold on this GPU: which of them a kernel could take for
// facts of its launch.

#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "hw/launch/device_memory.hpp"

namespace warptwin::hw::bench {
namespace {

constexpr int kWarps = 4;
constexpr int kCtas = 400;

struct Seen {
  std::uint32_t warpid = 0;
  std::uint32_t nwarpid = 0;
  std::uint32_t total_bytes = 0;
  std::uint32_t aggregate_bytes = 0;
  std::uint64_t gridid = 0;
};

// 132 bytes of shared memory beside the dynamic ones. CTAs stay until SMs hold several.
__global__ void look(Seen* seen) {
  __shared__ volatile int words[33];
  words[threadIdx.x % 33] = 1;
  Seen it;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(it.warpid));
  asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(it.nwarpid));
  asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(it.total_bytes));
  asm volatile("mov.u32 %0, %%aggr_smem_size;" : "=r"(it.aggregate_bytes));
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(it.gridid));
  if (threadIdx.x % 32 == 0) {
    seen[blockIdx.x * kWarps + threadIdx.x / 32] = it;
  }
  for (int i = 0; i < 200; ++i) {
    __nanosleep(1000);
  }
}

void run() {
  const DeviceBuffer seen{kCtas * kWarps * sizeof(Seen), 0};
  for (const int dynamic_bytes : {100, 1100, 2100}) {
    look<<<kCtas, 32 * kWarps, dynamic_bytes>>>(seen.get<Seen>());
    std::vector<Seen> all(kCtas * kWarps);
    require_cuda(
        cudaMemcpy(all.data(), seen.get(), all.size() * sizeof(Seen), cudaMemcpyDeviceToHost),
        "cudaMemcpy",
        "see the error");
    int others = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      others += all[i].warpid != i % kWarps ? 1 : 0;
    }
    const Seen* last = &all[all.size() - kWarps];
    std::printf("132 + %d bytes: %%warpid is not the warp's number in its CTA for %d of %d warps",
                dynamic_bytes,
                others,
                kCtas * kWarps);
    std::printf(
        " (the last CTA: %u %u %u %u), %%nwarpid %u, %%gridid %llu, %%total_smem_size %u,"
        " %%aggr_smem_size %u\n",
        last[0].warpid,
        last[1].warpid,
        last[2].warpid,
        last[3].warpid,
        last->nwarpid,
        static_cast<unsigned long long>(last->gridid),
        last->total_bytes,
        last->aggregate_bytes);
  }
}

}  // namespace
}  // namespace warptwin::hw::bench

int main() {
  if (!warptwin::hw::gpu_is_here()) {
    return 4;
  }
  try {
    warptwin::hw::bench::run();
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 4;
  }
  return 0;
}
