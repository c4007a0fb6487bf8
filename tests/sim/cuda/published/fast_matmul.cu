/// Matrix products of fast.cu for sm_90a; NUMBER says which of its kernels, C = A B^T by columns.

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <cuda.h>
#include <cuda/barrier>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "tests/sim/cuda/published/common.cuh"

// What its matmul.cu has in front of the kernels.
using bf16 = __nv_bfloat16;
using std::max;
using std::min;
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
#define cudaCheck(error) ((void)(error))

#define FILE_OF(number) <examples/matmul/matmul_##number.cuh>
#define FILE_OF_NUMBER(number) FILE_OF(number)
#include FILE_OF_NUMBER(NUMBER)

#define JOINED(text, number) text##number
#define JOIN(text, number) JOINED(text, number)
using namespace JOIN(M, NUMBER);

namespace {

constexpr auto* kKernel = [] {
#if NUMBER == 2
  return matmulKernel2<64, 64, 64, 64, 64, 16, 128>;
#elif NUMBER == 3
  return matmulKernel3<128, 128, 64, 128, false>;
#elif NUMBER == 4
  return matmulKernel4<128, 128, 64, 256, 5>;
#elif NUMBER == 5
  return matmulKernel5<128, 256, 64, 384, 3>;
#elif NUMBER <= 7
  return JOIN(matmulKernel, NUMBER)<128, 256, 64, 384, 3, CTAS>;
#else
  return JOIN(matmulKernel, NUMBER)<128, 256, 64, 384, 3, CTAS, CLUSTER_ROWS, CLUSTER_COLUMNS>;
#endif
}();
constexpr int kTileM = NUMBER == 2 ? 64 : 128;
constexpr int kTileN = NUMBER == 2 ? 64 : NUMBER <= 4 ? 128 : 256;
constexpr int kStages = NUMBER <= 3 ? 1 : NUMBER == 4 ? 5 : 3;
constexpr int kThreads = NUMBER == 2 || NUMBER == 3 ? 128 : NUMBER == 4 ? 256 : 384;

int shared_bytes() {
#if NUMBER == 2
  return 0;
#elif NUMBER == 3
  return sizeof(SMem<kTileM, kTileN, 64>);
#else
  return sizeof(SMem<kTileM, kTileN, 64, kStages>);
#endif
}

void run(int m, int n, int k, bf16* a, bf16* b, bf16* c) {
  const int bytes = shared_bytes();
  cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
#if NUMBER <= 5
  const int ctas = m / kTileM * (n / kTileN);
  CUtensorMap* const map_a = allocate_and_create_tensor_map<kTileM, 64>(a, m / kTileM, k / 64);
  CUtensorMap* const map_b = allocate_and_create_tensor_map<kTileN, 64>(b, n / kTileN, k / 64);
#elif NUMBER == 6
  const int ctas = CTAS;
  CUtensorMap map_a;
  CUtensorMap map_b;
  create_tensor_map<kTileM, 64>(&map_a, a, m / kTileM, k / 64);
  create_tensor_map<kTileN, 64>(&map_b, b, n / kTileN, k / 64);
#else
  const int ctas = CTAS;
  const CUtensorMap map_a = create_tensor_map<kTileM, 64>(a, m, k);
  const CUtensorMap map_b = create_tensor_map<kTileN, 64>(b, n, k);
#endif
#if NUMBER == 3
  kKernel<<<ctas, kThreads, bytes>>>(m, n, k, c, map_a, map_b, nullptr);
#elif NUMBER <= 9
  kKernel<<<ctas, kThreads, bytes>>>(m, n, k, c, map_a, map_b);
#elif NUMBER <= 11
  const CUtensorMap map_c = create_tensor_map<kTileN, kTileM, false>(c, n, m);
#else
  const CUtensorMap map_c = create_tensor_map<kTileN, kTileM / 2, false, true>(c, n, m);
#endif
#if NUMBER == 10
  kKernel<<<ctas, kThreads, bytes>>>(m, n, k, map_c, map_a, map_b);
#elif NUMBER >= 11
  // Tiles of clusters in turn; the published host code has a Hilbert curve for 128 CTAs.
  constexpr int kClusters = CTAS / (CLUSTER_ROWS * CLUSTER_COLUMNS);
  std::vector<int> space(std::size_t{kClusters} * SPACE_LEN, -1);
  const int columns = n / (kTileN * CLUSTER_COLUMNS);
  for (int tile = 0; tile < m / (kTileM * CLUSTER_ROWS) * columns; ++tile) {
    space[tile % kClusters * SPACE_LEN + tile / kClusters] = tile / columns << 16 | tile % columns;
  }
  auto* const device =
      static_cast<int*>(published::uploaded(space.data(), space.size() * sizeof(int)));
  kKernel<<<ctas, kThreads, bytes>>>(m, n, k, map_c, map_a, map_b, device);
#endif
}

}  // namespace

int main(int, char** words) {
  const int m = std::atoi(words[1]);
  const int n = std::atoi(words[2]);
  const int k = std::atoi(words[3]);
  const std::vector<float> a = published::drawn(std::size_t(m) * k, 1);
  const std::vector<float> b = published::drawn(std::size_t(n) * k, 2);
  std::vector<float> c(std::size_t(m) * n);
  for (int column = 0; column < n; ++column) {
    for (int row = 0; row < m; ++row) {
      float sum = 0;
      for (int i = 0; i < k; ++i) {
        sum += a[std::size_t(row) * k + i] * b[std::size_t(column) * k + i];
      }
      c[std::size_t(column) * m + row] = sum;
    }
  }
  void* const found = published::room_for(c.size());
  run(m,
      n,
      k,
      static_cast<bf16*>(published::uploaded(a)),
      static_cast<bf16*>(published::uploaded(b)),
      static_cast<bf16*>(found));
  published::finish();
  return published::wrong_of("d", found, c) == 0 ? 0 : 1;
}
