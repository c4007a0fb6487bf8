// What the layer costs: the copy pipeline and the GEMM main loop, the layer's text against CUDA by
// hand with the same structure; and the layer's with deadlines. One line a variant, for
// scripts/layer_cost.py, which also counts the instructions of their loops.
//
//   warptwin-layer-cost
//
// Exit codes: 0, 4 no device.

#include "hw/bench/clock_meter.cuh"
#include "hw/bench/gemm_run.cuh"
#include "hw/bench/raw_kernels.cuh"
#include "scenarios/producer_consumer.hpp"

namespace warptwin::hw::bench {
namespace {

constexpr std::uint32_t kStages = 4;
using Shape = WgmmaShape<128, 256, 64, kStages>;
using Bounded = ObservedMachine<Watch::kDeadlines>;
// Beside the number of tiles the constant takes room: see docs/extending.md.
struct CopyExtents {
  Extent<kDynamic> tiles;
  Extent<kStages> stages;
};
template <class M>
using Copy = scenarios::ProducerConsumerKernel<M, CopyExtents>;

// What a kernel with deadlines is handed; none of them passes.
class Deadlines {
 public:
  explicit Deadlines(std::uint32_t warps) : reports_{warps}, stop_{1} {
    observation_.deadline = 1'000'000'000;
    observation_.reports = reports_.get();
    observation_.stop = stop_.get();
  }
  Observation get() const { return observation_; }

 private:
  SharedWithDevice<WarpReport> reports_;
  SharedWithDevice<std::uint32_t> stop_;
  Observation observation_;
};

using Call = std::function<void()>;

struct Variant {
  const char* name;
  Call call;
  std::vector<double> spent;
};

// Variants in turn, many times, so that a drift of the clock meets all of them alike.
void compare(const char* what, std::vector<Variant> variants) {
  constexpr int kRounds = 15;
  for (int round = 0; round < kRounds; ++round) {
    for (Variant& variant : variants) {
      variant.spent.push_back(microseconds(variant.call, 2, 1));
    }
  }
  for (Variant& variant : variants) {
    std::sort(variant.spent.begin(), variant.spent.end());
    std::printf("%s %s %.3f us, %.3f to %.3f\n",
                what,
                variant.name,
                variant.spent[kRounds / 2],
                variant.spent[kRounds / 4],
                variant.spent[kRounds * 3 / 4]);
  }
}

void compare_copies() {
  constexpr std::uint32_t kTiles = 65536;
  constexpr std::uint32_t kRows = kTiles * scenarios::kCopyTileRows;
  constexpr std::uint32_t kBytes = kRows * scenarios::kCopyTileColumns * 2;
  const DeviceBuffer source{kBytes, 1};
  const DeviceBuffer target{kBytes, 0};
  const auto map = [&](const DeviceBuffer& matrix) {
    const TensorSpec tensor{.name = "matrix",
                            .element = ElementType::kBf16,
                            .rows = kRows,
                            .columns = scenarios::kCopyTileColumns,
                            .pitch_bytes = 2 * scenarios::kCopyTileColumns};
    return encode(
        encoding_of({0, scenarios::kCopyTileRows, scenarios::kCopyTileColumns, Swizzle::kNone},
                    tensor),
        matrix.address());
  };
  const CUtensorMap from = map(source);
  const CUtensorMap to = map(target);
  const CopyExtents extents{kTiles, {}};
  const std::uint32_t shared =
      shared_bytes<scenarios::ProducerConsumerStorage<CopyExtents>>(extents);
  const LaunchShape shape{1, 1, 64, shared};
  const Deadlines deadlines{2};
  compare("copy",
          {{"raw",
            [&] {
              CUtensorMap a = from, b = to;
              std::uint32_t tiles = kTiles;
              void* arguments[] = {&a, &b, &tiles};
              launch(reinterpret_cast<const void*>(
                         &raw_copy<scenarios::kCopyTileRows, scenarios::kCopyTileColumns, kStages>),
                     shape,
                     arguments,
                     nullptr);
            },
            {}},
           {"layer",
            [&] {
              Copy<CudaMachine>::Problem problem{extents, from, to};
              std::uint32_t* scratch = nullptr;
              void* arguments[] = {&problem, &scratch};
              launch(reinterpret_cast<const void*>(&kernel_entry<Copy<CudaMachine>>),
                     shape,
                     arguments,
                     nullptr);
            },
            {}},
           {"deadlines",
            [&] {
              Copy<Bounded>::Problem problem{extents, from, to};
              std::uint32_t* scratch = nullptr;
              Observation observation = deadlines.get();
              void* arguments[] = {&problem, &scratch, &observation};
              launch(reinterpret_cast<const void*>(&observed_entry<Copy<Bounded>, Bounded>),
                     shape,
                     arguments,
                     nullptr);
            },
            {}}});
}

// One wave of one tile a CTA, with nothing stored: the main loop and little else.
void compare_gemms() {
  const std::uint32_t sms = sm_count();
  const Matrices matrices{16 * Shape::kM, sms / 16 * Shape::kN, 131072};
  const std::uint32_t ctas = sms / 16 * 16;
  const Shape extents{kStages};
  using Kernel = WgmmaGemmKernel<Bounded, Shape>;
  const std::uint32_t shared = shared_bytes<typename Kernel::Storage>(extents);
  const LaunchShape shape{ctas, 1, kThreads<Kernel>, shared};
  const Deadlines deadlines{ctas * kThreads<Kernel> / kWarpLanes};
  compare(
      "gemm",
      {{"raw",
        [&] {
          auto problem = matrices.problem<CudaMachine>(extents, false);
          void* arguments[] = {&problem};
          launch(
              reinterpret_cast<const void*>(&raw_gemm<Shape, kStages>), shape, arguments, nullptr);
        },
        {}},
       {"layer", [&] { launch_layer(matrices.problem<CudaMachine>(extents, false), ctas); }, {}},
       {"deadlines",
        [&] {
          auto problem = matrices.problem<Bounded>(extents, false);
          std::uint32_t* scratch = nullptr;
          Observation observation = deadlines.get();
          void* arguments[] = {&problem, &scratch, &observation};
          launch(reinterpret_cast<const void*>(&observed_entry<Kernel, Bounded>),
                 shape,
                 arguments,
                 nullptr);
        },
        {}}});
}

}  // namespace
}  // namespace warptwin::hw::bench

int main() {
  if (!warptwin::hw::gpu_is_here()) {
    return 4;
  }
  warptwin::hw::bench::compare_copies();
  warptwin::hw::bench::compare_gemms();
  return 0;
}
