/// DeepGEMM's kernels for sm_100a; KIND and PAIR, of CTAs, say which.

#include <deep_gemm/impls/sm100_bf16_gemm.cuh>
#include <deep_gemm/impls/sm100_fp8_fp4_gemm_1d1d.cuh>

#include "tests/sim/cuda/published/deep_gemm.cuh"

namespace {

using namespace deep_gemm;
using namespace published;

constexpr std::uint32_t kM = 256;
constexpr std::uint32_t kN = 512;
constexpr std::uint32_t kK = 1024;
constexpr std::uint32_t kTile = 128;
constexpr std::uint32_t kPair = PAIR;
constexpr std::uint32_t kCtas = 2;
constexpr std::uint32_t kBoxOfB = kTile / kPair;
constexpr std::uint32_t kSharedBytes = 200 * 1024;  // so that one CTA fits on an SM

template <std::uint32_t kStages>
int bf16() {
  const Product product{kM, kN, kK};
  void* const d = room_for(std::size_t{kM} * kN);
  constexpr auto kType = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  launch(sm100_bf16_gemm_impl<cute::UMMA::Major::K,
                              cute::UMMA::Major::K,
                              0,
                              kN,
                              kK,
                              kTile,
                              kTile,
                              64,
                              1,
                              128,
                              128,
                              128,
                              kStages,
                              128,
                              128,
                              kPair,
                              false,
                              kCtas,
                              128,
                              false,
                              true,
                              GemmType::Normal,
                              false,
                              cutlass::bfloat16_t,
                              100>,
         kCtas,
         kPair,
         256,
         kSharedBytes,
         static_cast<int*>(nullptr),
         kM,
         kN,
         kK,
         map_of(uploaded(product.a), kType, 2, kK, kM, 64, kTile, 128),
         map_of(uploaded(product.b), kType, 2, kK, kN, 64, kBoxOfB, 128),
         map_of(d, kType, 2, kN, kM, 64, kTile, 128));
  finish();
  return wrong_of("d", d, product.d());
}

/// Scale factors as ue8m0, four blocks of K to a word.
void* packed_scales(std::uint32_t rows, std::uint32_t which) {
  std::vector<std::uint32_t> words;
  for (std::uint32_t block = 0; block < kK / 128; block += 4) {
    for (std::uint32_t row = 0; row < rows; ++row) {
      std::uint32_t word = 0;
      for (std::uint32_t i = 0; i < 4; ++i) {
        word |= (127 + Product::exponent(row, block + i, which)) << 8 * i;
      }
      words.push_back(word);
    }
  }
  return uploaded(words.data(), words.size() * sizeof(words[0]));
}

template <std::uint32_t kStages>
int fp8() {
  const Product product{kM, kN, kK, true};
  void* const d = room_for(std::size_t{kM} * kN);
  constexpr auto kBytes = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  constexpr auto kWords = CU_TENSOR_MAP_DATA_TYPE_INT32;
  launch(sm100_fp8_fp4_gemm_1d1d_impl<cute::UMMA::Major::K,
                                      cute::UMMA::Major::K,
                                      128,
                                      128,
                                      128,
                                      0,
                                      kN,
                                      kK,
                                      kTile,
                                      kTile,
                                      128,
                                      1,
                                      128,
                                      128,
                                      128,
                                      kStages,
                                      128,
                                      128,
                                      kPair,
                                      false,
                                      kCtas,
                                      false,
                                      true,
                                      GemmType::Normal,
                                      false,
                                      cutlass::float_e4m3_t,
                                      cutlass::float_e4m3_t,
                                      cutlass::bfloat16_t,
                                      epilogue::transform::EpilogueIdentity>,
         kCtas,
         kPair,
         256,
         kSharedBytes,
         static_cast<int*>(nullptr),
         kM,
         kN,
         kK,
         map_of(Product::eight_bits(product.a), kBytes, 1, kK, kM, 128, kTile, 128),
         map_of(Product::eight_bits(product.b), kBytes, 1, kK, kN, 128, kBoxOfB, 128),
         map_of(packed_scales(kM, 0), kWords, 4, kM, kK / 512, kTile, 1, 0),
         map_of(packed_scales(kN, 1), kWords, 4, kN, kK / 512, kTile, 1, 0),
         map_of(d, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, kN, kM, 64, kTile, 128));
  finish();
  return wrong_of("d", d, product.d());
}

}  // namespace

int main() {
  return KIND<3>() == 0 ? 0 : 1;  // the others are not compiled
}
