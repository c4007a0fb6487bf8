/// More of DeepGEMM's kernels for sm_90a; KIND says which.

#include <deep_gemm/impls/sm90_bf16_gemm.cuh>
#include <deep_gemm/impls/sm90_bmk_bnk_mn.cuh>
#include <deep_gemm/impls/sm90_tf32_hc_prenorm_gemm.cuh>

#include "tests/sim/cuda/published/deep_gemm.cuh"

namespace {

using namespace deep_gemm;
using namespace published;

constexpr auto kHalf = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;

/// Three products whose rows of A follow each other: `layout` is of rows or of groups.
template <std::uint32_t kStages, GemmType kType>
int of_groups(const std::vector<int>& layout, std::uint32_t m) {
  constexpr std::uint32_t kGroups = 3, kRows = 384, kN = 256, kK = 512, kTileM = 64, kTileN = 128;
  constexpr bool kMasked = kType == GemmType::MGroupedMasked;
  const std::vector<float> a = Product::halves(kRows * kK, 1);
  const std::vector<float> b = Product::halves(kGroups * kN * kK, 2);
  std::vector<float> zeros(kRows * kN), expected(kRows * kN);
  void* const d = uploaded(zeros);
  launch(sm90_bf16_gemm_impl<cute::UMMA::Major::K,
                             cute::UMMA::Major::K,
                             0,
                             kN,
                             kK,
                             kGroups,
                             kTileM,
                             kTileN,
                             64,
                             128,
                             128,
                             128,
                             kStages,
                             128,
                             128,
                             1,
                             false,
                             2,
                             kType,
                             false,
                             cutlass::bfloat16_t>,
         2,
         1,
         256,
         kTileM * kTileN * 2 + kStages * (kTileM + kTileN) * 128 + 256,
         static_cast<int*>(uploaded(layout.data(), layout.size() * sizeof(int))),
         m,
         kN,
         kK,
         map_of(uploaded(a), kHalf, 2, kK, kRows, 64, kTileM, 128),
         map_of(uploaded(b), kHalf, 2, kK, kGroups * kN, 64, kTileN, 128),
         map_of(d, kHalf, 2, kN, kRows, kTileN, kTileM, 128));
  finish();
  std::vector<__nv_bfloat16> found(expected.size());
  cudaMemcpy(found.data(), d, found.size() * 2, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (std::uint32_t row = 0; row < kRows; ++row) {
    const std::uint32_t group = kMasked ? row / m : layout[row];
    for (std::uint32_t n = 0; n < kN; ++n) {
      float sum = 0;
      for (std::uint32_t k = 0; k < kK; ++k) {
        sum += a[row * kK + k] * b[(group * kN + n) * kK + k];
      }
      const float off = std::fabs(__bfloat162float(found[row * kN + n]) - sum);
      const bool counts = !kMasked || static_cast<int>(row % m) < layout[group];
      wrong += counts && off > 0.02F * std::fabs(sum) + 0.02F ? 1 : 0;
    }
  }
  std::printf("d: %d wrong\n", wrong);
  return wrong;
}

template <std::uint32_t kStages>
int masked() {
  return of_groups<kStages, GemmType::MGroupedMasked>({70, 0, 128}, 128);
}

template <std::uint32_t kStages>
int contiguous() {
  std::vector<int> layout;
  for (int row = 0; row < 384; ++row) {
    layout.push_back(row < 128 ? 2 : row < 320 ? 0 : 1);
  }
  return of_groups<kStages, GemmType::MGroupedContiguous>(layout, 384);
}

/// A product, and the sums of the squares of A's rows.
template <std::uint32_t kStages>
int prenorm() {
  constexpr std::uint32_t kM = 128, kN = 32, kK = 512;
  const Product product{kM, kN, kK};
  void* const d = room_for(kM * kN, sizeof(float));
  void* const squares = room_for(kM, sizeof(float));
  launch(sm90_tf32_hc_prenorm_gemm_impl<kN, kK, 64, 32, 64, 1, 128, kStages, 128, 128>,
         kM / 64,
         1,
         256,
         kStages * (64 * 64 * 2 + 32 * 64 * 4) + 64 * 128 + 1024,
         kM,
         map_of(uploaded(product.a), kHalf, 2, kK, kM, 64, 64, 128),
         map_of(uploaded(product.b.data(), product.b.size() * sizeof(float)),
                CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
                4,
                kK,
                kN,
                32,
                32,
                128),
         map_of(d, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, kN, kM, 32, 64, 128),
         static_cast<float*>(squares));
  finish();
  std::vector<float> sums(kM);
  for (std::size_t i = 0; i < product.a.size(); ++i) {
    sums[i / kK] += product.a[i] * product.a[i];
  }
  return wrong_floats_of(d, product.d()) + wrong_floats_of(squares, sums);
}

/// The sum of two products, by two CTAs that add to D.
template <std::uint32_t kStages>
int summed() {
  constexpr std::uint32_t kM = 128, kN = 128, kK = 256;
  const Product product{kM, kN, kK};
  std::vector<float> zeros(kM * kN);
  void* const d = uploaded(zeros.data(), zeros.size() * sizeof(float));
  launch(sm90_bmn_bnk_mn_gemm_impl<kM, kN, kK, 128, 128, 64, 2, kStages, 128, 256>,
         2,
         1,
         384,
         kStages * 256 * 128 + 1024,
         1,
         map_of(uploaded(product.a), kHalf, 2, kK, kM, 64, 128, 128),
         map_of(uploaded(product.b), kHalf, 2, kK, kN, 64, 128, 128),
         static_cast<float*>(d));
  finish();
  return wrong_floats_of(d, product.d());
}

}  // namespace

int main() {
  return KIND<3>() == 0 ? 0 : 1;  // the others are not compiled
}
