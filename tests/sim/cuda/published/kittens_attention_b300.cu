/// ThunderKittens' attention for pairs of Blackwell's CTAs, with heads of 192 and 128; CAUSAL says
/// which kernel, and the arguments are rows and heads.

#if CAUSAL
#include <kernels/attention/bf16_b300_mha_causal/bf16_b300_mha_causal.cu>
#else
#include <kernels/attention/bf16_b300_mha_noncausal/bf16_b300_mha_noncausal.cu>
#endif

#include "tests/sim/cuda/published/attention.cuh"

namespace {

using namespace published;

constexpr int kHead = 192;
constexpr int kOut = 128;

/// `heads` heads, a row of each one behind the other, as the kernel has them.
std::vector<float> by_rows(const std::vector<std::vector<float>>& heads, int columns) {
  std::vector<float> result;
  for (std::size_t row = 0; row < heads[0].size() / columns; ++row) {
    for (const std::vector<float>& head : heads) {
      const auto begin = head.begin() + static_cast<std::ptrdiff_t>(row * columns);
      result.insert(result.end(), begin, begin + columns);
    }
  }
  return result;
}

}  // namespace

int main(int, char** words) {
  const int rows = std::atoi(words[1]);
  const int heads = std::atoi(words[2]);
  std::vector<std::vector<float>> q, k, v, o;
  for (int head = 0; head < heads; ++head) {
    q.push_back(drawn(rows * kHead, 3 * head + 1));
    k.push_back(drawn(rows * kHead, 3 * head + 2));
    v.push_back(drawn(rows * kOut, 3 * head + 3));
    o.push_back(attended(q.back(), k.back(), v.back(), kHead, kOut, CAUSAL));
  }
  const at::Tensor out{room_for(rows * heads * kOut), {1, rows, heads, kOut}};
#if CAUSAL
  dispatch<PERSISTENT>
#else
  dispatch
#endif
      (at::Tensor{uploaded(by_rows(q, kHead)), {1, rows, heads, kHead}},
       at::Tensor{uploaded(by_rows(k, kHead)), {1, rows, heads, kHead}},
       at::Tensor{uploaded(by_rows(v, kOut)), {1, rows, heads, kOut}},
       out,
       at::Tensor{room_for(rows * heads, sizeof(float)), {1, heads, 1, rows}});
  finish();
  return wrong_of("o", out.place, by_rows(o, kOut)) == 0 ? 0 : 1;
}
