// What observing costs the observed warp, in cycles: an arrival that is recorded, and a wait for a
// phase that is complete, beside the same without. Needs a GPU; run by hand.

#include <algorithm>
#include <cstdio>
#include <vector>

#include "hw/cuda/observed_machine.hpp"

namespace warptwin::hw {
namespace {

constexpr int kTimes = 1024;
constexpr int kRepeats = 20;

template <Watch kWatch, bool kArrives>
__global__ void measure(const __grid_constant__ Observation observation, std::uint64_t* cycles) {
  __shared__ alignas(8) std::uint64_t word;
  const SharedAddress base = ptx::shared_address(&word);
  const Mbarrier bar{base};
  ObservedMachine<kWatch> machine{nullptr, observation, &observation, base, 1};
  machine.elect_one([&] { ptx::mbarrier_init(bar, kMbarrierCountMax); });
  machine.sync_warp();
  const std::uint64_t start = ptx::clock();
  for (int i = 0; i < kTimes; ++i) {
    if constexpr (kArrives) {
      machine.mbarrier_arrive(bar, 1, kReleaseCta);
    } else {
      machine.mbarrier_wait_parity(bar, WaitPhase::parity_only(1));
    }
  }
  if (ptx::lane_index() == 0) {
    *cycles = ptx::clock() - start;
  }
  machine.end();
}

struct Memory {
  Observation observation;
  std::uint64_t* cycles = nullptr;
};

// The least of several runs, for each operation.
template <Watch kWatch, bool kArrives>
double cost(const Memory& memory) {
  std::uint64_t least = ~std::uint64_t{0};
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    measure<kWatch, kArrives><<<1, 32>>>(memory.observation, memory.cycles);
    if (cudaDeviceSynchronize() != cudaSuccess) {
      return -1;
    }
    least = std::min(least, *memory.cycles);
  }
  return static_cast<double>(least) / kTimes;
}

int run() {
  Memory memory;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: no GPU");
    return 77;
  }
  Observation& observation = memory.observation;
  void* reports = nullptr;
  cudaHostAlloc(&reports, sizeof(WarpReport) + 64, cudaHostAllocMapped);
  observation.reports = static_cast<WarpReport*>(reports);
  observation.stop = reinterpret_cast<std::uint32_t*>(observation.reports + 1);
  observation.deadline = 1'000'000'000;
  observation.capacity = 4096;
  cudaMalloc(&observation.events, observation.capacity * sizeof(RecordedEvent));
  cudaMalloc(&observation.counts, sizeof(std::uint32_t));
  cudaHostAlloc(&memory.cycles, sizeof(std::uint64_t), cudaHostAllocMapped);
  const double arrival = cost<Watch::kNothing, true>(memory);
  const double recorded = cost<Watch::kRecords, true>(memory);
  const double wait = cost<Watch::kNothing, false>(memory);
  const double bounded = cost<Watch::kDeadlines, false>(memory);
  const double both = cost<Watch::kAll, false>(memory);
  std::printf("arrival %.1f cycles, recorded %.1f: an event costs %.1f\n",
              arrival,
              recorded,
              recorded - arrival);
  std::printf("wait for a complete phase %.1f cycles, with a deadline %.1f, and recorded %.1f\n",
              wait,
              bounded,
              both);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}

}  // namespace
}  // namespace warptwin::hw

int main() {
  return warptwin::hw::run();
}
