// Atomics of vectors and of two halves, over edges of their types: what they find and what they
// leave has the sums that an H200 gave (driver 580.159.04, 2026-11-29), as
// `nvcc -arch=sm_90a -I ../../../.. vector_atomics.cu` prints them there.

#include <cstdint>
#include <cstdio>
#include <vector>

#include "tests/sim/cuda/programs/check.hpp"

using Word = std::uint32_t;

// Each thread has four words and operands of its own.
template <int kKind>
__global__ void work(Word* words, const Word* operands, Word* out) {
  const unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  Word* p = words + 4 * i;
  const Word* b = operands + 4 * i;
  Word r0 = 0;
  Word r1 = 0;
  if (kKind == 0) {
    asm volatile(
        "{.reg .f32 a, b, c, d; mov.b32 a, %3; mov.b32 b, %4;\n\t"
        "atom.global.add.v2.f32 {c, d}, [%2], {a, b}; mov.b32 %0, c; mov.b32 %1, d;}"
        : "=r"(r0), "=r"(r1)
        : "l"(p), "r"(b[0]), "r"(b[1])
        : "memory");
  } else if (kKind == 1) {
    asm volatile(
        "{.reg .f32 a, b, c, d; mov.b32 a, %1; mov.b32 b, %2; mov.b32 c, %3; mov.b32 d, %4;\n\t"
        "red.global.add.v4.f32 [%0], {a, b, c, d};}" ::"l"(p),
        "r"(b[0]),
        "r"(b[1]),
        "r"(b[2]),
        "r"(b[3])
        : "memory");
  } else if (kKind == 2) {
    asm volatile("atom.global.add.noftz.f16x2 %0, [%1], %2;"
                 : "=r"(r0)
                 : "l"(p), "r"(b[0])
                 : "memory");
  } else if (kKind == 3) {
    asm volatile("atom.global.add.noftz.bf16x2 %0, [%1], %2;"
                 : "=r"(r0)
                 : "l"(p), "r"(b[0])
                 : "memory");
  } else if (kKind == 4) {
    asm volatile("atom.global.max.noftz.v2.f16x2 {%0, %1}, [%2], {%3, %4};"
                 : "=r"(r0), "=r"(r1)
                 : "l"(p), "r"(b[0]), "r"(b[1])
                 : "memory");
  } else if (kKind == 5) {
    asm volatile("atom.global.min.noftz.v2.bf16x2 {%0, %1}, [%2], {%3, %4};"
                 : "=r"(r0), "=r"(r1)
                 : "l"(p), "r"(b[0]), "r"(b[1])
                 : "memory");
  } else {
    asm volatile(
        "{.reg .b16 a, b, c, d; mov.b32 {a, b}, %1; mov.b32 {c, d}, %2;\n\t"
        "red.global.add.noftz.v4.bf16 [%0], {a, b, c, d};}" ::"l"(p),
        "r"(b[0]),
        "r"(b[1])
        : "memory");
  }
  out[6 * i] = r0;
  out[6 * i + 1] = r1;
  for (int k = 0; k < 4; ++k) {
    out[6 * i + 2 + k] = p[k];
  }
}

constexpr Word kFloats[] = {0,          0x80000000, 1,          0x80000001, 0x007FFFFF,
                            0x00800000, 0x00800001, 0x80800000, 0x3F800000, 0xBF800000,
                            0x3F800001, 0x33800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000,
                            0xFF800000, 0x7FC00000, 0x7F800001, 0x4B800000, 0x34000001};
constexpr Word kHalves[] = {0,      0x8000, 1,      0x8001, 0x3FF,  0x400,  0x3C00, 0xBC00,
                            0x3C01, 0x1000, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x7C01,
                            0x3F80, 0x3F81, 0x7F7F, 0x7F80, 0xFF80, 0x7FC0, 0x7F81, 0x80,
                            0x7F,   0x3B80, 0x4000, 0x4001, 0x1400, 0x9400};

template <int kKind>
Word sum_of() {
  std::vector<Word> words;
  std::vector<Word> operands;
  if (kKind < 2) {
    for (const Word x : kFloats) {
      for (const Word b : kFloats) {
        words.push_back(x);
        operands.push_back(b);
      }
    }
  } else {
    for (const Word x : kHalves) {
      for (const Word b : kHalves) {
        words.push_back(x | b << 16);
        operands.push_back(b | kHalves[(x + b) % 30] << 16);
      }
    }
  }
  words.resize((words.size() + 127) / 128 * 128);
  operands.resize(words.size());
  const std::size_t threads = words.size() / 4;
  std::vector<Word> found(6 * threads);
  Word* on_device[3] = {};
  CHECK(cudaMalloc(&on_device[0], 4 * words.size()));
  CHECK(cudaMalloc(&on_device[1], 4 * words.size()));
  CHECK(cudaMalloc(&on_device[2], 4 * found.size()));
  CHECK(cudaMemcpy(on_device[0], words.data(), 4 * words.size(), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(on_device[1], operands.data(), 4 * words.size(), cudaMemcpyHostToDevice));
  work<kKind>
      <<<static_cast<unsigned>(threads / 32), 32>>>(on_device[0], on_device[1], on_device[2]);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(found.data(), on_device[2], 4 * found.size(), cudaMemcpyDeviceToHost));
  Word sum = 2166136261U;  // FNV-1a, by words
  for (const Word word : found) {
    sum = (sum ^ word) * 16777619U;
  }
  return sum;
}

int main() {
  const Word sums[] = {
      sum_of<0>(), sum_of<1>(), sum_of<2>(), sum_of<3>(), sum_of<4>(), sum_of<5>(), sum_of<6>()};
  constexpr Word kOfGpu[] = {
      0x142F7DD9, 0xDF51FE74, 0x3CDBAA03, 0xD94DC7B8, 0x39F4D3B5, 0x3FF019AB, 0x35CCCFBE};
  bool right = true;
  for (int kind = 0; kind < 7; ++kind) {
    std::printf("kind %d: %08x\n", kind, sums[kind]);
    right = right && sums[kind] == kOfGpu[kind];
  }
  return said(right);
}
