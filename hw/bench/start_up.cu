// What a grid costs in front of its first product: the launch, the start of its CTAs, the set-up of
// barriers, the first use of a tensor map, and the gap behind it.
//
//   warptwin-measure-start OUT.json
//
// Every CTA notes when it begins (the device's clock, and its SM's), when its barriers are set up,
// when its first, second and third load through a tensor map have come, and when it ends. Eight
// launches follow each other at once, as those of a benchmark do. Exit codes: 0, 2 usage, 4 no
// device.

#include <fstream>
#include <string>

#include "common/kernel/scenario.hpp"

#include "hw/bench/microbenchmark.cuh"
#include "hw/launch/tensor_map.hpp"

namespace warptwin::hw::bench {
namespace {

constexpr std::uint32_t kThreads = 384;  // as the GEMM has
constexpr std::uint32_t kRows = 128;
constexpr std::uint32_t kColumns = 64;
constexpr std::uint32_t kBoxBytes = kRows * kColumns * 2;
constexpr std::uint32_t kShared = 200 * 1024;  // one CTA an SM
constexpr std::uint32_t kBarriers = 8;
constexpr std::uint32_t kLoads = 3;
constexpr int kInARow = 8;

/// What a CTA notes.
struct Stamps {
  std::uint64_t begins;  // ns of the device's clock
  std::uint64_t ends;
  std::uint32_t set_up;         // cycles from its first instruction until its barriers can be used
  std::uint32_t loads[kLoads];  // cycles from the issue of each load until a warp has seen it
  std::uint32_t sm;
  std::uint32_t unused;
};

__global__ void __launch_bounds__(kThreads, 1)
    begin_and_load(const __grid_constant__ CUtensorMap map, std::uint32_t fresh, Stamps* stamps) {
  const std::uint64_t begins = nanoseconds();
  const std::uint64_t begin = now();
  const SharedAddress base = shared_base();
  const auto barrier = [&](std::uint32_t i) { return Mbarrier{base + (kShared - 2048 + 8 * i)}; };
  if (ptx::warp_index() == 0 && ptx::elect_sync()) {
    for (std::uint32_t i = 0; i < kBarriers; ++i) {
      ptx::mbarrier_init(barrier(i), 1);
    }
    ptx::fence_mbarrier_init();
  }
  if (ptx::cluster_cta_count() > 1) {
    ptx::barrier_cluster_arrive(kReleaseCluster);
    ptx::barrier_cluster_wait();
  } else {
    ptx::cta_sync();
  }
  if (ptx::warp_index() != 0) {
    return;
  }
  Stamps own{};
  own.begins = begins;
  own.set_up = static_cast<std::uint32_t>(now() - begin);
  for (std::uint32_t i = 0; i < kLoads; ++i) {
    const std::uint64_t issued = now();
    if (ptx::elect_sync()) {
      ptx::mbarrier_arrive_expect_tx(barrier(i), kBoxBytes);
      const auto row = static_cast<std::int32_t>(blockIdx.x % 16 * kRows);
      const auto column = static_cast<std::int32_t>((i + fresh) * kColumns);
      ptx::cp_async_bulk_tensor_load(
          base + i * kBoxBytes, &map, Coordinates<2>{{column, row}}, barrier(i), {});
    }
    while (!ptx::mbarrier_try_wait_parity(barrier(i), 0, kAcquireCta)) {
    }
    ptx::sync_warp();
    own.loads[i] = static_cast<std::uint32_t>(now() - issued);
  }
  asm("mov.u32 %0, %%smid;" : "=r"(own.sm));
  own.ends = nanoseconds();
  if (ptx::lane_index() == 0) {
    stamps[blockIdx.x] = own;
  }
}

std::string run(std::uint32_t clusters, std::uint32_t size) {
  constexpr std::uint32_t kMatrixColumns = 4096;
  const std::uint32_t ctas = clusters * size;
  const TensorSpec matrix{.name = "matrix",
                          .element = ElementType::kBf16,
                          .rows = 16 * kRows,
                          .columns = kMatrixColumns,
                          .pitch_bytes = 2 * kMatrixColumns};
  DeviceBuffer data{std::size_t{2} * matrix.rows * matrix.columns, 0};
  CUtensorMap map =
      encode(encoding_of({0, kRows, kColumns, Swizzle::k128B}, matrix), data.address());
  DeviceBuffer buffer{ctas * kInARow * sizeof(Stamps), 0};
  cudaEvent_t before{};
  cudaEvent_t after{};
  cudaEventCreate(&before);
  cudaEventCreate(&after);
  float milliseconds = 0;
  for (int round = 0; round < 2; ++round) {  // the second one counts
    cudaEventRecord(before);
    for (int i = 0; i < kInARow; ++i) {
      Stamps* to = buffer.get<Stamps>() + std::size_t{ctas} * i;
      std::uint32_t fresh = 0;
      void* arguments[] = {&map, &fresh, &to};
      launch(reinterpret_cast<const void*>(&begin_and_load),
             {clusters, size, kThreads, kShared},
             arguments,
             nullptr);
    }
    cudaEventRecord(after);
    synchronize(nullptr);
    cudaEventElapsedTime(&milliseconds, before, after);
  }
  std::vector<Stamps> stamps(std::size_t{ctas} * kInARow);
  require_cuda(
      cudaMemcpy(
          stamps.data(), buffer.get(), stamps.size() * sizeof(Stamps), cudaMemcpyDeviceToHost),
      "cudaMemcpy",
      "the kernel before it failed");
  std::string text =
      "{\"clusters\": " + std::to_string(clusters) + ", \"cluster_size\": " + std::to_string(size) +
      ", \"us_a_launch\": " + std::to_string(1e3 * milliseconds / kInARow) + ", \"launches\": [";
  const std::uint64_t zero = stamps[0].begins;
  for (int i = 0; i < kInARow; ++i) {
    text += i == 0 ? "\n [" : ",\n [";
    for (std::uint32_t cta = 0; cta < ctas; ++cta) {
      const Stamps& one = stamps[std::size_t{ctas} * i + cta];
      text += (cta == 0 ? "[" : ", [") + std::to_string(one.sm) + ", " +
              std::to_string(static_cast<std::int64_t>(one.begins - zero)) + ", " +
              std::to_string(static_cast<std::int64_t>(one.ends - zero)) + ", " +
              std::to_string(one.set_up);
      for (const std::uint32_t load : one.loads) {
        text += ", " + std::to_string(load);
      }
      text += "]";
    }
    text += "]";
  }
  return text + "]}";
}

}  // namespace
}  // namespace warptwin::hw::bench

int main(int count, char** arguments) {
  if (count != 2) {
    std::puts("usage: warptwin-measure-start OUT.json");
    return 2;
  }
  if (!warptwin::hw::gpu_is_here()) {
    return 4;
  }
  try {
    std::ofstream out{arguments[1]};
    out << "{\"columns\": [\"sm\", \"begins, ns\", \"ends, ns\", \"set-up, cycles\", \"first "
           "load\", "
           "\"second\", \"third\"],\n\"runs\": [\n";
    const char* between = "";
    for (const auto& [clusters, size] :
         {std::pair{132U, 1U}, {396U, 1U}, {66U, 2U}, {132U, 2U}, {32U, 4U}}) {
      out << between << warptwin::hw::bench::run(clusters, size);
      between = ",\n";
    }
    out << "\n]}\n";
    return 0;
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 4;
  }
}
