/// Marlin: D = A B of f16 by 4-bit weights. CTAs take stripes of tiles, add to D in turn by locks.
/// Its arguments are M, N, K, the CTAs, and the rows of K with one scale, or -1.

#include <marlin/marlin_cuda_kernel.cu>

#include "tests/sim/cuda/published/common.cuh"

namespace {

using namespace published;

/// Where of four tiles of 16x16 weights each one of Marlin's order comes from.
std::vector<int> order_of_weights() {
  std::vector<int> order;
  for (int lane = 0; lane < 32; ++lane) {
    for (int tile = 0; tile < 4; ++tile) {
      for (const int block : {0, 1}) {
        for (const int row : {0, 1, 8, 9}) {
          order.push_back(16 * (2 * (lane % 4) + row) + lane / 4 + 8 * block + 256 * tile);
        }
      }
    }
  }
  std::vector<int> interleaved;
  for (std::size_t group = 0; group < order.size(); group += 8) {
    for (const int i : {0, 2, 4, 6, 1, 3, 5, 7}) {
      interleaved.push_back(order[group + i]);
    }
  }
  return interleaved;
}

/// Eight weights a word; `codes` are 0 to 15, of K rows and N columns.
std::vector<std::uint32_t> packed(const std::vector<int>& codes, int k, int n) {
  const std::vector<int> order = order_of_weights();
  std::vector<int> tiled;
  for (int row = 0; row < k; row += 16) {
    for (int column = 0; column < n; column += 16) {
      for (int i = 0; i < 256; ++i) {
        tiled.push_back(codes[(row + i / 16) * n + column + i % 16]);
      }
    }
  }
  std::vector<std::uint32_t> words(tiled.size() / 8);
  for (std::size_t i = 0; i < tiled.size(); ++i) {
    const int code = tiled[i / 1024 * 1024 + order[i % 1024]];
    words[i / 8] |= static_cast<std::uint32_t>(code) << (4 * (i % 8));
  }
  return words;
}

/// Of a row of scales, which one comes at place `i`.
int place_of_scale(int i, bool grouped) {
  if (grouped) {
    return i / 64 * 64 + i % 64 / 8 + i % 8 * 8;
  }
  constexpr int kPlaces[] = {0, 1, 8, 9, 16, 17, 24, 25};
  return i / 32 * 32 + i % 32 / 8 * 2 + kPlaces[i % 8];
}

}  // namespace

int main(int, char** words) {
  const int m = std::atoi(words[1]);
  const int n = std::atoi(words[2]);
  const int k = std::atoi(words[3]);
  const int ctas = std::atoi(words[4]);
  const int group = std::atoi(words[5]);
  const int rows_of_scale = group < 0 ? k : group;
  const std::vector<float> a = drawn(std::size_t{1} * m * k, 1);
  std::vector<int> codes;
  for (int i = 0; i < k * n; ++i) {
    codes.push_back((i * 7 + i / n * 5 + i / 61) % 16);
  }
  const auto scale = [&](int row, int column) {
    return static_cast<float>(1 << (row + column * 3) % 3) / 8;
  };
  std::vector<half> narrow;
  for (const float number : a) {
    narrow.push_back(__float2half(number));
  }
  std::vector<half> scales;
  for (int row = 0; row < k / rows_of_scale; ++row) {
    for (int column = 0; column < n; ++column) {
      scales.push_back(__float2half(scale(row, place_of_scale(column, group > 0))));
    }
  }
  std::vector<float> expected(std::size_t{1} * m * n);
  for (int row = 0; row < m; ++row) {
    for (int i = 0; i < k; ++i) {
      for (int column = 0; column < n; ++column) {
        expected[row * n + column] += a[row * k + i] *
                                      static_cast<float>(codes[i * n + column] - 8) *
                                      scale(i / rows_of_scale, column);
      }
    }
  }
  const std::vector<std::uint32_t> weights = packed(codes, k, n);
  const std::vector<int> zeros(n / 128 * 16);
  void* const d = room_for(expected.size());
  const int said = marlin_cuda(uploaded(narrow.data(), narrow.size() * sizeof(half)),
                               uploaded(weights.data(), weights.size() * 4),
                               d,
                               uploaded(scales.data(), scales.size() * sizeof(half)),
                               m,
                               n,
                               k,
                               uploaded(zeros.data(), zeros.size() * sizeof(int)),
                               group,
                               0,
                               nullptr,
                               -1,
                               -1,
                               ctas);
  finish();
  std::vector<half> found(expected.size());
  cudaMemcpy(found.data(), d, found.size() * sizeof(half), cudaMemcpyDeviceToHost);
  int wrong = said;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const float off = std::fabs(__half2float(found[i]) - expected[i]);
    wrong += off <= 0.01F * std::fabs(expected[i]) + 0.1F ? 0 : 1;
  }
  std::printf("d: %d of %zu wrong\n", wrong, found.size());
  return wrong == 0 ? 0 : 1;
}
