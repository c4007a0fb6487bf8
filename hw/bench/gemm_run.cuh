/// Host side of the GEMM benchmarks: matrices of random numbers, launches, times, a check.

#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <vector>

#include "common/kernel/config_checks.hpp"

#include "hw/bench/wgmma_gemm.hpp"
#include "hw/cuda/kernel.cuh"
#include "hw/launch/device_memory.hpp"
#include "hw/launch/launch.hpp"
#include "hw/launch/tensor_map.hpp"
#include "scenarios/gemm_wgmma.hpp"

namespace warptwin::hw::bench {

/// Whether kernels of such a tile are compiled: all of them, or one in a program that asks only
/// whether it compiles, for the others are the same text.
constexpr bool is_compiled([[maybe_unused]] std::uint32_t tile_m,
                           [[maybe_unused]] std::uint32_t tile_n) {
#ifdef WARPTWIN_ONE_TILE
  return tile_m == 128 && tile_n == 128;
#else
  return true;
#endif
}

#ifdef __CUDACC__

namespace {

// Uniform in about -1 to 1, as bf16 or e4m3.
__global__ void fill_random(void* to,
                            ElementType element,
                            std::uint64_t count,
                            std::uint32_t seed) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    auto hash = static_cast<std::uint32_t>(i) * 2654435761U + seed * 0x9E3779B9U;
    hash = (hash ^ hash >> 16) * 0x85EBCA6BU;
    hash = (hash ^ hash >> 13) * 0xC2B2AE35U;
    const float value = static_cast<float>(hash >> 8) / 8388608.0F - 1.0F;
    if (element == ElementType::kBf16) {
      static_cast<std::uint16_t*>(to)[i] = static_cast<std::uint16_t>(__float_as_uint(value) >> 16);
    } else {
      static_cast<std::uint8_t*>(to)[i] =
          static_cast<std::uint8_t>(warptwin::encode(element, value));
    }
  }
}

}  // namespace

/// Tiles side by side that a scenario walks together, so that CTAs that run at the same time share
/// operands in L2.
inline constexpr std::uint32_t kStrip = 16;

/// A, B and D of one product, D = A * B^T. A and B are bf16 or e4m3, D is bf16.
class Matrices {
 public:
  Matrices(std::uint32_t m,
           std::uint32_t n,
           std::uint32_t k,
           ElementType element = ElementType::kBf16)
      : m_{m},
        n_{n},
        k_{k},
        element_{element},
        a_{std::size_t{bytes_of(element)} * m * k, 0},
        b_{std::size_t{bytes_of(element)} * n * k, 0},
        d_{std::size_t{2} * m * n, 0xFF} {
    fill_random<<<1024, 256>>>(a(), element, std::uint64_t{m} * k, 1);
    fill_random<<<1024, 256>>>(b(), element, std::uint64_t{n} * k, 2);
    synchronize(nullptr);
  }

  template <class M, class Shape>
  WgmmaProblem<M, Shape> problem(const Shape& shape, bool stores = true) const {
    WgmmaProblem<M, Shape> problem;
    problem.a = map(a_, element_, m_, k_, Shape::kM, Shape::kK);
    problem.b = map(b_, element_, n_, k_, Shape::kN / Shape::kCluster, Shape::kK);
    problem.d = stores ? d_.get<std::uint16_t>() : nullptr;
    problem.columns = n_;
    problem.steps = ceil_div(k_, Shape::kK);
    problem.tiles = {m_ / Shape::kM, n_ / Shape::kN};
    problem.extents = shape;
    return problem;
  }
  /// The same of a scenario's kernel, which stores by TMA. `cluster`: CTAs that share B.
  template <class Kernel, class Extents>
  typename Kernel::Problem scenario_problem(const Extents& e,
                                            std::uint32_t cluster,
                                            std::uint32_t strip) const {
    const TileOrder order{RasterOrder::kAlongM, strip};
    typename Kernel::Problem problem{};
    problem.a = map(a_, element_, m_, k_, e.tile_m, e.tile_k);
    problem.b = map(b_, element_, n_, k_, e.tile_n / cluster, e.tile_k);
    problem.d = map_of_d(Kernel::box_rows(e), Kernel::box_columns(e));
    if constexpr (requires { problem.rest; }) {
      problem.rest = map_of_d(Kernel::box_rows(e), kRestColumns<bf16>);
    }
    problem.extents = e;
    problem.tile_walk = {
        TileGrid::covering(m_, n_, e.tile_m, e.tile_n), ClusterShape{cluster, 1}, order};
    problem.k_steps = KSteps::covering(k_, e.tile_k, bytes_of(element_));
    return problem;
  }
  /// Makes every element of D a NaN.
  void poison() {
    require_cuda(cudaMemset(d_.get(), 0xFF, bytes_of_d()), "cudaMemset", "see the error");
  }
  /// Norm of the error over norm of the result, of 512 elements in double precision; NaN if an
  /// element was not written.
  double error() const {
    std::vector<std::uint16_t> d(std::size_t{m_} * n_);
    copy(d.data(), d_.get(), 2 * d.size());
    if (std::find(d.begin(), d.end(), 0xFFFF) != d.end()) {
      return std::nan("");
    }
    const std::size_t bytes = std::size_t{bytes_of(element_)} * k_;
    std::vector<std::uint8_t> row(bytes);
    std::vector<std::uint8_t> column(bytes);
    double wrong = 0;
    double right = 0;
    for (std::uint64_t i = 0; i < 512; ++i) {
      const std::uint64_t y = i * 7919 % m_;
      const std::uint64_t x = i * 104729 % n_;
      copy(row.data(), a_.get<std::uint8_t>() + y * bytes, bytes);
      copy(column.data(), b_.get<std::uint8_t>() + x * bytes, bytes);
      double sum = 0;
      for (std::uint32_t j = 0; j < k_; ++j) {
        sum += operand(row, j) * operand(column, j);
      }
      const double difference = sum - decode(ElementType::kBf16, d[y * n_ + x]);
      wrong += difference * difference;
      right += sum * sum;
    }
    return std::sqrt(wrong / right);
  }

  ElementType element() const { return element_; }
  double flops() const { return 2.0 * m_ * n_ * k_; }
  std::uint32_t m() const { return m_; }
  std::uint32_t n() const { return n_; }
  std::uint32_t k() const { return k_; }
  void* a() const { return a_.get(); }
  void* b() const { return b_.get(); }
  void* d() const { return d_.get(); }

 private:
  double operand(const std::vector<std::uint8_t>& row, std::uint32_t at) const {
    return element_ == ElementType::kBf16
               ? decode(element_, row[2 * at] | std::uint32_t{row[2 * at + 1]} << 8)
               : decode(element_, row[at]);
  }
  static void copy(void* to, const void* from, std::size_t bytes) {
    require_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost),
                 "cudaMemcpy",
                 "the kernel before it failed");
  }
  CUtensorMap map_of_d(std::uint32_t box_rows, std::uint32_t box_columns) const {
    return map(d_, ElementType::kBf16, m_, n_, box_rows, box_columns);
  }
  CUtensorMap map(const DeviceBuffer& matrix,
                  ElementType element,
                  std::uint32_t rows,
                  std::uint32_t columns,
                  std::uint32_t box_rows,
                  std::uint32_t box_width) const {
    const std::array key{matrix.address().value, std::uint64_t{box_rows}, std::uint64_t{box_width}};
    const auto known = maps_.find(key);
    if (known != maps_.end()) {
      return known->second;
    }
    const TensorSpec tensor{.name = "matrix",
                            .element = element,
                            .rows = rows,
                            .columns = columns,
                            .pitch_bytes = bytes_of(element) * columns};
    const CUtensorMap made = encode(
        encoding_of({0, box_rows, box_width, swizzle_of(bytes_of(element) * box_width)}, tensor),
        matrix.address());
    return maps_.emplace(key, made).first->second;
  }
  std::size_t bytes_of_d() const { return std::size_t{2} * m_ * n_; }

  std::uint32_t m_, n_, k_;
  ElementType element_;
  DeviceBuffer a_, b_, d_;
  // Made once: to make three for each launch takes the host longer than a short GEMM.
  mutable std::map<std::array<std::uint64_t, 3>, CUtensorMap> maps_;
};

/// Launches the layer's kernel on `ctas` CTAs.
template <class Shape>
void launch_layer(WgmmaProblem<CudaMachine, Shape> problem, std::uint32_t ctas) {
  using Kernel = WgmmaGemmKernel<CudaMachine, Shape>;
  std::uint32_t* scratch = nullptr;
  void* arguments[] = {&problem, &scratch};
  launch(reinterpret_cast<const void*>(&kernel_entry<Kernel>),
         {ctas / Shape::kCluster,
          Shape::kCluster,
          kThreads<Kernel>,
          shared_bytes<typename Kernel::Storage>(problem.extents)},
         arguments,
         nullptr);
}

/// Whether a kernel waits for the grid before itself.
template <class Kernel>
constexpr bool begins_early() {
  if constexpr (requires { Kernel::kBeginsEarly; }) {
    return Kernel::kBeginsEarly;
  } else {
    return false;
  }
}

/// Launches a scenario's kernel on `ctas` CTAs; 0: one for every tile. `strip`: tiles side by side
/// that are walked together.
template <class Kernel, class Extents>
void launch_scenario(const Matrices& x,
                     const Extents& extents,
                     std::uint32_t ctas,
                     std::uint32_t strip = kStrip) {
  std::uint32_t cluster = 1;
  if constexpr (requires { extents.cluster_m; }) {
    cluster = extents.cluster_m;
  }
  auto problem = x.scenario_problem<Kernel>(extents, cluster, strip);
  std::uint32_t* scratch = nullptr;
  void* arguments[] = {&problem, &scratch};
  launch(reinterpret_cast<const void*>(&kernel_entry<Kernel>),
         {.clusters = ctas == 0 ? problem.tile_walk.count() : ctas / cluster,
          .cluster_size = cluster,
          .threads = kThreads<Kernel>,
          .shared_bytes = shared_bytes<typename Kernel::Storage>(extents),
          .begins_early = begins_early<Kernel>()},
         arguments,
         nullptr);
}

/// Microseconds of one call of `f`: the median of `repeats` means over `calls` calls each.
inline double microseconds(const std::function<void()>& f, int calls = 5, int repeats = 7) {
  cudaEvent_t before{};
  cudaEvent_t after{};
  cudaEventCreate(&before);
  cudaEventCreate(&after);
  f();
  std::vector<double> spent;
  for (int i = 0; i < repeats; ++i) {
    cudaEventRecord(before);
    for (int j = 0; j < calls; ++j) {
      f();
    }
    cudaEventRecord(after);
    synchronize(nullptr);
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, before, after);
    spent.push_back(1e3 * milliseconds / calls);
  }
  cudaEventDestroy(before);
  cudaEventDestroy(after);
  std::sort(spent.begin(), spent.end());
  return spent[spent.size() / 2];
}

#endif  // __CUDACC__

}  // namespace warptwin::hw::bench
