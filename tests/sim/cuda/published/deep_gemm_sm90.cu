/// DeepGEMM's kernels for sm_90a; KIND, TILE_M, MULTICAST and ON_A say which.

#include <deep_gemm/impls/sm90_bf16_gemm.cuh>
#include <deep_gemm/impls/sm90_fp8_gemm_1d1d.cuh>
#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>

#include "tests/sim/cuda/published/deep_gemm.cuh"

namespace {

using namespace deep_gemm;
using namespace published;

constexpr std::uint32_t kM = 256;
constexpr std::uint32_t kN = 512;
constexpr std::uint32_t kK = 1024;
constexpr std::uint32_t kTileM = TILE_M;
constexpr std::uint32_t kTileN = 128;
constexpr std::uint32_t kMulticast = MULTICAST;
constexpr bool kOnA = ON_A;
constexpr std::uint32_t kCtas = 2;
constexpr std::uint32_t kMath = kTileM <= 64 ? 128 : 256;
constexpr std::uint32_t kBarriers = 256;

template <std::uint32_t kStages>
int bf16() {
  const Product product{kM, kN, kK};
  void* const d = room_for(std::size_t{kM} * kN);
  constexpr auto kType = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  launch(sm90_bf16_gemm_impl<cute::UMMA::Major::K,
                             cute::UMMA::Major::K,
                             0,
                             kN,
                             kK,
                             1,
                             kTileM,
                             kTileN,
                             64,
                             128,
                             128,
                             128,
                             kStages,
                             128,
                             kMath,
                             kMulticast,
                             kOnA,
                             kCtas,
                             GemmType::Normal,
                             false,
                             cutlass::bfloat16_t>,
         kCtas,
         kMulticast,
         128 + kMath,
         kTileM * kTileN * 2 + kStages * (kTileM + kTileN) * 128 + kBarriers,
         static_cast<int*>(nullptr),
         kM,
         kN,
         kK,
         map_of(uploaded(product.a), kType, 2, kK, kM, 64, kTileM, 128),
         map_of(uploaded(product.b), kType, 2, kK, kN, 64, kTileN, 128),
         map_of(d, kType, 2, kN, kM, kTileN, kTileM, 128));
  finish();
  return wrong_of("d", d, product.d());
}

template <std::uint32_t kStages>
int scaled_by_rows() {
  Product product{kM, kN, kK, true};
  std::vector<float> zeros(std::size_t{kM} * kN);
  void* const d = uploaded(zeros.data(), zeros.size() * sizeof(float));
  constexpr auto kBytes = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  constexpr auto kFloats = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  constexpr std::uint32_t kBlocks = kK / 128;
  launch(sm90_fp8_gemm_1d1d_impl<0,
                                 kN,
                                 kK,
                                 1,
                                 kTileM,
                                 kTileN,
                                 128,
                                 128,
                                 128,
                                 kStages,
                                 128,
                                 kMath,
                                 kMulticast,
                                 kOnA,
                                 kCtas,
                                 GemmType::Normal,
                                 float>,
         kCtas,
         kMulticast,
         128 + kMath,
         kTileM * kTileN * 4 + kStages * (kTileM + kTileN) * 132 + kBarriers,
         static_cast<__nv_fp8_e4m3*>(nullptr),
         static_cast<__nv_fp8_e4m3*>(nullptr),
         static_cast<int*>(nullptr),
         static_cast<cute::TmaDescriptor*>(nullptr),
         kM,
         kN,
         kK,
         map_of(Product::eight_bits(product.a), kBytes, 1, kK, kM, 128, kTileM, 128),
         map_of(Product::eight_bits(product.b), kBytes, 1, kK, kN, 128, kTileN, 128),
         map_of(Product::scales(kM, kBlocks, 0), kFloats, 4, kM, kBlocks, kTileM, 1, 0),
         map_of(Product::scales(kN, kBlocks, 1), kFloats, 4, kN, kBlocks, kTileN, 1, 0),
         map_of(d, kFloats, 4, kN, kM, kTileN, 64, 0));
  finish();
  return wrong_floats_of(d, product.d());
}

template <std::uint32_t kStages>
int scaled_by_blocks() {
  Product product{kM, kN, kK, true, 128};
  std::vector<float> b_scales;
  for (std::uint32_t row = 0; row < kN / 128; ++row) {
    for (std::uint32_t block = 0; block < kK / 128; ++block) {
      b_scales.push_back(Product::scale(row, block, 1));
    }
  }
  void* const d = room_for(std::size_t{kM} * kN);
  constexpr auto kBytes = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  constexpr std::uint32_t kBlocks = kK / 128;
  launch(sm90_fp8_gemm_1d2d_impl<cute::UMMA::Major::K,
                                 0,
                                 kN,
                                 kK,
                                 1,
                                 kTileM,
                                 kTileN,
                                 128,
                                 128,
                                 128,
                                 128,
                                 kStages,
                                 128,
                                 kMath,
                                 kMulticast,
                                 kOnA,
                                 kCtas,
                                 GemmType::Normal,
                                 cutlass::bfloat16_t,
                                 epilogue::transform::EpilogueIdentity>,
         kCtas,
         kMulticast,
         128 + kMath,
         kTileM * kTileN * 2 +
             kStages * ((kTileM + kTileN) * 128 + (kTileM * 4 + 127) / 128 * 128) + kBlocks * 8 +
             kBarriers,
         static_cast<float*>(uploaded(b_scales.data(), b_scales.size() * sizeof(float))),
         static_cast<int*>(nullptr),
         kM,
         kN,
         kK,
         map_of(Product::eight_bits(product.a), kBytes, 1, kK, kM, 128, kTileM, 128),
         map_of(Product::eight_bits(product.b), kBytes, 1, kK, kN, 128, kTileN, 128),
         map_of(d, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, kN, kM, kTileN, kTileM, 128),
         map_of(Product::scales(kM, kBlocks, 0),
                CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                4,
                kM,
                kBlocks,
                kTileM,
                1,
                0));
  finish();
  return wrong_of("d", d, product.d());
}

}  // namespace

int main() {
  return KIND<3>() == 0 ? 0 : 1;  // the others are not compiled
}
