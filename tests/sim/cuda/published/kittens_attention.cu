/// ThunderKittens' attention for Hopper, with a head of 128; CAUSAL is true or false. Its arguments
/// are rows and, with BACKWARD, heads. LCF: the forward kernel of a template, by CTAS.

#include <chrono>

#define main main_of_kittens
#ifdef LCF
#include <kernels/attention/mha_h100_lcf/mha_h100_lcf.cu>
#else
#include <kernels/attention/mha_h100/mha_h100.cu>
#endif
#undef main

#include "tests/sim/cuda/published/attention.cuh"
#include "tests/sim/cuda/published/attention_backward.cuh"

namespace {

using namespace published;

constexpr std::size_t kDim = 128;

struct Given {
  void* place;
  std::vector<std::int64_t> shape;
};

template <class Kernel>
void allow(Kernel* kernel, std::size_t bytes) {
  cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}

template <class Tensor, class Element>
Tensor tensor(void* place, std::size_t heads, std::size_t rows) {
  return Tensor{static_cast<Element*>(place), 1UL, heads, rows, kDim};
}

#ifdef LCF

void forward(void* q, void* k, void* v, void* o, void* /*lse*/, std::size_t rows) {
  using Template = attn_fwd_template<kDim>;
  using Rows = Template::layout::qo_global;
  using Keys = Template::layout::kv_global;
  const std::size_t bytes = kittens::MAX_SHARED_MEMORY - 2000;
  Template::layout::globals globals{Rows(static_cast<bf16*>(o), 1UL, 1UL, rows, nullptr),
                                    Rows(static_cast<bf16*>(q), 1UL, 1UL, rows, nullptr),
                                    Keys(static_cast<bf16*>(k), 1UL, 1UL, rows, nullptr),
                                    Keys(static_cast<bf16*>(v), 1UL, 1UL, rows, nullptr)};
  allow(kittens::prototype::lcf::kernel<Template>, bytes);
  kittens::prototype::lcf::kernel<Template>
      <<<CTAS, kittens::prototype::detail::NUM_THREADS_v<Template>, bytes>>>(globals);
}

#else

void forward(void* q, void* k, void* v, void* o, void* lse, std::size_t rows) {
  using Globals = fwd_globals<kDim>;
  const std::size_t bytes = kittens::MAX_SHARED_MEMORY - 1024;
  const Globals globals{tensor<Globals::q_gl, bf16>(q, 1, rows),
                        tensor<Globals::k_gl, bf16>(k, 1, rows),
                        tensor<Globals::v_gl, bf16>(v, 1, rows),
                        Globals::l_gl{static_cast<float*>(lse), 1UL, 1UL, 1UL, rows},
                        tensor<Globals::o_gl, bf16>(o, 1, rows),
                        static_cast<int>(rows),
                        1};
  allow(fwd_attend_ker<kDim, CAUSAL>, bytes);
  fwd_attend_ker<kDim, CAUSAL>
      <<<dim3(static_cast<unsigned>(rows) / 192, 1, 1), 32 * NUM_WORKERS, bytes>>>(globals);
}

/// Adds to `narrow`, which is of bf16, by way of floats that begin at 0.
struct Sum {
  explicit Sum(const Given& narrow)
      : heads(narrow.shape[1]),
        rows(narrow.shape[2]),
        count(heads * rows * kDim),
        to(narrow.place),
        place(room_for(count, sizeof(float))) {
    cudaMemset(place, 0, count * sizeof(float));
  }
  void finish() const {
    std::vector<float> numbers(count);
    std::vector<bf16> halves(count);
    cudaMemcpy(numbers.data(), place, count * sizeof(float), cudaMemcpyDeviceToHost);
    for (std::size_t i = 0; i < count; ++i) {
      halves[i] = __float2bfloat16(numbers[i]);
    }
    cudaMemcpy(to, halves.data(), count * sizeof(bf16), cudaMemcpyHostToDevice);
  }

  std::size_t heads;
  std::size_t rows;
  std::size_t count;
  void* to;
  void* place;
};

void backward(
    Given q, Given k, Given v, Given o, Given grad, Given lse, Given dq, Given dk, Given dv) {
  const std::size_t heads = q.shape[1];
  const std::size_t rows = q.shape[2];
  const std::size_t bytes = kittens::MAX_SHARED_MEMORY - 1024;
  using Before = bwd_prep_globals<kDim>;
  using Globals = bwd_globals<kDim>;
  void* const delta = room_for(heads * rows, sizeof(float));
  const Before before{tensor<Before::og_gl, bf16>(grad.place, heads, rows),
                      tensor<Before::o_gl, bf16>(o.place, heads, rows),
                      Before::d_gl{static_cast<float*>(delta), 1UL, heads, 1UL, rows}};
  allow(bwd_attend_prep_ker<kDim>, bytes);
  bwd_attend_prep_ker<kDim>
      <<<dim3(static_cast<unsigned>(rows) / 256, heads, 1), 128, bytes>>>(before);
  std::vector<float> scaled(heads * rows);  // as the forward kernel leaves it
  cudaMemcpy(scaled.data(), lse.place, scaled.size() * sizeof(float), cudaMemcpyDeviceToHost);
  for (float& number : scaled) {
    number *= -std::sqrt(static_cast<float>(kDim));
  }
  void* const factors = uploaded(scaled.data(), scaled.size() * sizeof(float));
  const Sum sums[] = {Sum(dq), Sum(dk), Sum(dv)};
  const Globals globals{tensor<Globals::q_gl, bf16>(q.place, heads, rows),
                        tensor<Globals::k_gl, bf16>(k.place, heads, rows),
                        tensor<Globals::v_gl, bf16>(v.place, heads, rows),
                        tensor<Globals::og_gl, bf16>(grad.place, heads, rows),
                        tensor<Globals::qg_gl, float>(sums[0].place, heads, rows),
                        tensor<Globals::kg_gl, float>(sums[1].place, heads, rows),
                        tensor<Globals::vg_gl, float>(sums[2].place, heads, rows),
                        Globals::l_gl{static_cast<float*>(factors), 1UL, heads, 1UL, rows},
                        Globals::d_gl{static_cast<float*>(delta), 1UL, heads, 1UL, rows},
                        static_cast<int>(rows),
                        1};
  allow(bwd_attend_ker<kDim, CAUSAL>, 194000);
  bwd_attend_ker<kDim, CAUSAL>
      <<<dim3(static_cast<unsigned>(rows) / 128, heads, 1), 32 * BWD_NUM_WORKERS, 194000>>>(
          globals);
  finish();
  for (const Sum& sum : sums) {
    sum.finish();
  }
}

#endif

}  // namespace

int main(int, char** words) {
#ifdef BACKWARD
  return attention_backward(backward, words, CAUSAL);
#else
  const std::size_t rows = std::strtoul(words[1], nullptr, 10);
  const std::vector<float> q = drawn(rows * kDim, 1);
  const std::vector<float> k = drawn(rows * kDim, 2);
  const std::vector<float> v = drawn(rows * kDim, 3);
  void* const o = room_for(q.size());
  forward(uploaded(q), uploaded(k), uploaded(v), o, room_for(rows, sizeof(float)), rows);
  finish();
  return wrong_of("o", o, attended(q, k, v, kDim, kDim, CAUSAL)) == 0 ? 0 : 1;
#endif
}
