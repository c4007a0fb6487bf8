// Shared memory's ports, the latency of L2, conversions, launches and the life of CTAs.

#include "hw/bench/microbenchmark.cuh"
#include "hw/ptx/convert.hpp"

namespace warptwin::hw::bench {
namespace {

constexpr std::uint32_t kAllThreads = 1024;

// Every thread reads 16 bytes, a warp 512 in a row, four times a step.
struct SharedRead : BodyBase {
  std::uint32_t sum = 0;
  __device__ void step(std::uint32_t) {
    WARPTWIN_UNROLL for (std::uint32_t i = 0; i < 4; ++i) {
      std::uint32_t words[4];
      // Volatile: the assembler takes equal loads of the wrapper for one.
      asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                   : "r"((shared_base() + 16 * (i * kAllThreads + threadIdx.x)).value));
      sum += words[0] ^ words[1] ^ words[2] ^ words[3];
    }
  }
  __device__ void finish() {
    ptx::cta_sync();
    need(sum);
  }
};

struct SharedWrite : BodyBase {
  __device__ void step(std::uint32_t i) {
    const std::uint32_t words[4] = {i, i, i, i};
    WARPTWIN_UNROLL for (std::uint32_t j = 0; j < 4; ++j) {
      ptx::st_shared_v4(shared_base() + 16 * (j * kAllThreads + threadIdx.x), words);
    }
  }
  __device__ void finish() { ptx::cta_sync(); }
};

struct SharedChain : BodyBase {
  std::uint32_t offset = 0;
  __device__ void start() { ptx::st_shared_u32(shared_base() + 4 * threadIdx.x, 0); }
  __device__ void step(std::uint32_t) { offset = ptx::ld_shared_u32(shared_base() + offset); }
  __device__ void finish() { need(offset); }
};

// Two fp32 to a packed pair: 8 chains a thread.
struct Convert : BodyBase {
  std::uint32_t chains[8];
  __device__ void start() {
    WARPTWIN_UNROLL for (std::uint32_t j = 0; j < 8; ++j) {
      chains[j] = threadIdx.x * (j + 1);
    }
  }
  __device__ void step(std::uint32_t) {
    WARPTWIN_UNROLL for (std::uint32_t& chain : chains) {
      const float value = __uint_as_float(chain);
      asm volatile("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(chain) : "f"(value), "f"(value));
    }
  }
  __device__ void finish() {
    ptx::cta_sync();
    std::uint32_t sum = 0;
    WARPTWIN_UNROLL for (const std::uint32_t chain : chains) {
      sum ^= chain;
    }
    need(sum);
  }
};

// Cycles of one load of each of `count` lines that L2 has and this SM has not asked for; or,
// `again`, of the second load.
__global__ void l2_latency(const std::uint32_t* lines,
                           std::uint32_t count,
                           bool again,
                           float* cycles) {
  for (std::uint32_t line = 0; line < count; ++line) {
    std::uint32_t value = 0;
    std::uint64_t begin = 0;
    for (int i = 0; i < (again ? 2 : 1); ++i) {
      begin = now();
      asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                   : "=r"(value)
                   : "l"(lines + 32 * line)
                   : "memory");
      ptx::st_shared_u32(shared_base(), value);  // waits for the value
    }
    cycles[line] = static_cast<float>(now() - begin);
  }
}

void measure_l2_latency(Report& report) {
  constexpr std::uint32_t kLines = 4096;
  const DeviceBuffer lines{std::size_t{128} * kLines, 0};
  SharedWithDevice<float> cycles{kLines};
  for (const bool again : {false, true}) {
    l2_latency<<<1, 1, 1024>>>(lines.get<std::uint32_t>(), kLines, again, cycles.get());
    synchronize(nullptr);
    std::vector<double> sorted;
    for (std::uint32_t i = 0; i < kLines; ++i) {
      sorted.push_back(cycles[i]);
    }
    std::sort(sorted.begin(), sorted.end());
    for (const int percent : {5, 25, 50, 75, 95}) {
      report.figure(std::string{"ld.global from L2, "} + (again ? "second" : "first") +
                        " load, percentile " + std::to_string(percent) + " of lines",
                    sorted[kLines * percent / 100],
                    "cycle");
    }
    // How much farther the far half is the first loads would tell, if it were known which lines
    // those are: percentiles differ from run to run.
    if (again) {
      report.constant("global_latency", sorted[kLines / 2], "cycle");
    }
  }
}

struct CtaLife {
  std::uint64_t begin, end;
  std::uint32_t sm;
};

// Fills its SM, so that the next CTA of the SM starts when it ends.
__global__ void __launch_bounds__(384, 1) live(CtaLife* lives) {
  const std::uint64_t begin = now();
  __nanosleep(20000);
  __syncthreads();
  if (threadIdx.x == 0) {
    std::uint32_t sm;
    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    lives[blockIdx.x] = {begin, static_cast<std::uint64_t>(now()), sm};
  }
}

// From the last look at the clock of one CTA to the first of the next on its SM.
double cta_gap_cycles(int sms) {
  constexpr std::uint32_t kShared = 200 * 1024;
  const std::uint32_t ctas = 3 * static_cast<std::uint32_t>(sms);
  SharedWithDevice<CtaLife> lives{ctas};
  CtaLife* to = lives.get();
  void* arguments[] = {&to};
  launch(reinterpret_cast<const void*>(&live), {ctas, 1, 384, kShared}, arguments, nullptr);
  synchronize(nullptr);
  std::vector<double> gaps;
  for (std::uint32_t i = 0; i < ctas; ++i) {
    double least = 1e18;
    for (std::uint32_t j = 0; j < ctas; ++j) {
      if (to[i].sm == to[j].sm && to[j].begin >= to[i].end) {
        least = std::min(least, static_cast<double>(to[j].begin - to[i].end));
      }
    }
    if (least < 1e18) {
      gaps.push_back(least);
    }
  }
  return median(gaps);
}

__global__ void nothing() {}

// Both clocks around 50 ms in which one SM has little to do.
__global__ void spin(std::uint64_t* clocks) {
  const std::uint64_t first = nanoseconds();
  const std::uint64_t begin = now();
  std::uint64_t last = 0;
  do {
    last = nanoseconds();
  } while (last - first < 50'000'000);
  clocks[0] = now() - begin;
  clocks[1] = last - first;
}

double gigahertz() {
  SharedWithDevice<std::uint64_t> clocks{2};
  for (int i = 0; i < 4; ++i) {  // the last one counts
    spin<<<1, 1>>>(clocks.get());
    synchronize(nullptr);
  }
  return static_cast<double>(clocks[0]) / static_cast<double>(clocks[1]);
}

// Microseconds between two events around one launch of an empty kernel.
double launch_microseconds() {
  cudaEvent_t before{};
  cudaEvent_t after{};
  cudaEventCreate(&before);
  cudaEventCreate(&after);
  std::vector<double> spent;
  for (int i = 0; i < 201; ++i) {
    cudaEventRecord(before);
    nothing<<<1, 32>>>();
    cudaEventRecord(after);
    require_cuda(cudaEventSynchronize(after), "cudaEventSynchronize", "see the error");
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, before, after);
    spent.push_back(1e3 * milliseconds);
  }
  cudaEventDestroy(before);
  cudaEventDestroy(after);
  return median(spent);
}

}  // namespace

void measure_device(Report& report) {
  cudaDeviceProp properties{};
  require_cuda(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties", "see the error");
  const double clock = gigahertz();
  report.constant("sms", properties.multiProcessorCount, "SM");
  report.constant("clock", clock, "GHz");
  report.constant("l2_bytes", properties.l2CacheSize, "B");
  report.constant("launch_us", launch_microseconds(), "us");
  const double gap = cta_gap_cycles(properties.multiProcessorCount);
  report.figure("end of a CTA of 384 threads and 200 KiB until the next on its SM", gap, "cycle");
  report.constant("cta_gap_us", gap / (1e3 * clock), "us");
}

void measure_memory(Report& report) {
  constexpr std::uint32_t kStepBytes = 4 * 16 * kAllThreads;
  const Launch all{.threads = kAllThreads, .shared_bytes = kStepBytes};
  report.constant("smem_read", kStepBytes / cycles_of(SharedRead{}, all), "B/cycle");
  report.constant("smem_write", kStepBytes / cycles_of(SharedWrite{}, all), "B/cycle");
  report.constant("smem_latency", cycles_of(SharedChain{}, {}), "cycle");
  report.constant("convert_rate", 8 * kAllThreads / cycles_of(Convert{}, all), "1/cycle");
  measure_l2_latency(report);
}

}  // namespace warptwin::hw::bench
