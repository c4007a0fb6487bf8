// Latencies and rates of single instructions on one SM, which a chip's file names as measured.
//
// A latency is that of a chain of 1,024 in one warp, its loop with it; a rate that of eight chains
// in each of 4 to 32 warps.

#include <cstdint>
#include <cstdio>

#include <cuda_runtime.h>

#include "hw/launch/error.hpp"

namespace {

constexpr int kTurns = 16;
constexpr int kUnrolled = 64;
constexpr int kChains = 8;

// An instruction of each kind: on a float `x` and a word `u`, both read and written.
#define INSTRUCTION(NAME, TEXT)                                                            \
  struct NAME {                                                                            \
    static constexpr const char* kName = #NAME;                                            \
    static __device__ void execute(float& x, std::uint32_t& u, std::uint32_t k) {          \
      asm volatile("{ .reg .b32 t; .reg .pred p; " TEXT " }" : "+f"(x), "+r"(u) : "r"(k)); \
    }                                                                                      \
  }
INSTRUCTION(fma_f32, "fma.rn.f32 %0, %0, %0, %0;");
INSTRUCTION(max_f32, "mov.b32 t, %2; max.f32 %0, %0, t;");
INSTRUCTION(ex2_f32, "ex2.approx.ftz.f32 %0, %0;");
INSTRUCTION(pack_bf16, "cvt.rn.bf16x2.f32 t, %0, %0; mov.b32 %0, t;");
INSTRUCTION(lop3_b32, "lop3.b32 %1, %1, %2, %2, 0x96;");
INSTRUCTION(mad_s32, "mad.lo.s32 %1, %1, %2, %2;");
INSTRUCTION(float_of_s32, "cvt.rn.f32.s32 t, %1; mov.b32 %1, t;");
INSTRUCTION(setp_selp, "setp.lt.s32 p, %1, %2; selp.b32 %1, %2, 7, p;");
#undef INSTRUCTION

// `three` is 3.
template <class Instruction, int kOf>
__global__ void execute(long long* cycles, float* memory, std::uint32_t three) {
  float x[kChains];
  std::uint32_t u[kChains];
  for (int i = 0; i < kChains; ++i) {
    x[i] = memory[i];
    u[i] = static_cast<std::uint32_t>(memory[i]);
  }
  for (int warm = 0; warm < 2; ++warm) {
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (int turn = 0; turn < kTurns; ++turn) {
#pragma unroll
      for (int i = 0; i < kUnrolled; ++i) {
        Instruction::execute(x[i % kOf], u[i % kOf], three);
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      *cycles = clock64() - begin;
    }
  }
  float sum = 0;
  for (int i = 0; i < kChains; ++i) {
    sum += x[i] + static_cast<float>(u[i]);
  }
  memory[threadIdx.x] = sum;
}

// mma.sync.m16n8k16 of bf16 by its accumulators.
template <int kOf>
__global__ void multiply(long long* cycles, float* memory, std::uint32_t) {
  float c[kOf][4];
#pragma unroll
  for (int i = 0; i < kOf * 4; ++i) {
    c[i / 4][i % 4] = memory[i];
  }
  const auto a = static_cast<std::uint32_t>(memory[0]);
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int turn = 0; turn < kTurns; ++turn) {
#pragma unroll
    for (int i = 0; i < kUnrolled; ++i) {
      float* const d = c[i % kOf];
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
          "{%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    *cycles = clock64() - begin;
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kOf * 4; ++i) {
    sum += c[i / 4][i % 4];
  }
  memory[threadIdx.x] = sum;
}

// A loop that counts and does nothing else: an addition, a comparison that waits for it, a branch.
__global__ void branch(long long* cycles, float* memory, std::uint32_t three) {
  std::uint32_t count = 0;
  __syncthreads();
  const long long begin = clock64();
  asm volatile(
      "{ .reg .pred p; mov.u32 %0, 0;\n"
      ".pragma \"nounroll\";\n"
      "TURN%=: add.u32 %0, %0, %1; setp.lt.u32 p, %0, %2; @p bra TURN%=; }"
      : "=&r"(count)
      : "r"(three), "r"(3 * kTurns * kUnrolled));
  __syncthreads();
  if (threadIdx.x == 0) {
    *cycles = clock64() - begin;
  }
  memory[threadIdx.x] = static_cast<float>(count);
}

using Kernel = void (*)(long long*, float*, std::uint32_t);

// Cycles of one instruction of each warp.
double measured(Kernel kernel, int threads, long long* cycles, float* memory) {
  kernel<<<1, threads>>>(cycles, memory, 3);
  long long taken = 0;
  const cudaError_t error = cudaMemcpy(&taken, cycles, sizeof taken, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(error));
  }
  return static_cast<double>(taken) / (kTurns * kUnrolled);
}

void report(const char* name, Kernel chain, Kernel chains, long long* cycles, float* memory) {
  std::printf("%-14s latency %6.2f; lanes a cycle", name, measured(chain, 32, cycles, memory));
  for (const int threads : {128, 256, 512, 1024}) {
    const double taken = measured(chains, threads, cycles, memory);
    std::printf(" %.1f (%d warps)", threads / taken, threads / 32);
  }
  std::printf("\n");
}

template <class... Instructions>
void report_all(long long* cycles, float* memory) {
  (report(Instructions::kName,
          &execute<Instructions, 1>,
          &execute<Instructions, kChains>,
          cycles,
          memory),
   ...);
}

}  // namespace

int main() {
  if (!warptwin::hw::gpu_is_here()) {
    return 4;
  }
  constexpr std::size_t kBytes = 1 << 16;
  long long* cycles = nullptr;
  float* memory = nullptr;
  if (cudaMalloc(&cycles, sizeof *cycles) != cudaSuccess ||
      cudaMalloc(&memory, kBytes) != cudaSuccess || cudaMemset(memory, 0, kBytes) != cudaSuccess) {
    std::fprintf(stderr,
                 "the GPU gives no memory (%s): see with nvidia-smi who has it\n",
                 cudaGetErrorString(cudaGetLastError()));
    return 4;
  }
  report_all<fma_f32, max_f32, ex2_f32, pack_bf16, lop3_b32, mad_s32, float_of_s32, setp_selp>(
      cycles, memory);
  report("mma_m16n8k16", &multiply<1>, &multiply<4>, cycles, memory);
  report("branch", &branch, &branch, cycles, memory);
  return 0;
}
