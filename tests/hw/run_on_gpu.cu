// Runs scenarios on this machine's GPU and compares with their references. Where there is no GPU of
// compute capability 9.0 or 10.0 it says so and is skipped (exit code 77).

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "common/kernel/config_checks.hpp"

#include "hw/cuda/kernel.cuh"
#include "hw/launch/launch.hpp"
#include "hw/launch/tensor_map.hpp"
#include "scenarios/gemm.hpp"
#include "scenarios/gemm_2sm.hpp"
#include "scenarios/gemm_epilogue_load.hpp"
#include "scenarios/multicast_ring.hpp"
#include "scenarios/producer_consumer.hpp"

namespace warptwin::hw {
namespace {

constexpr int kSkipped = 77;
constexpr const char* kMemoryAdvice = "free device memory, or use smaller matrices";

// Device memory that ends with its scope.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) {
    require_cuda(cudaMalloc(&pointer_, bytes), "cudaMalloc", kMemoryAdvice);
    require_cuda(cudaMemset(pointer_, 0xFF, bytes), "cudaMemset", kMemoryAdvice);
  }
  Buffer(Buffer&& other) noexcept : pointer_{std::exchange(other.pointer_, nullptr)} {}
  ~Buffer() { cudaFree(pointer_); }

  void* get() const { return pointer_; }
  GlobalAddress address() const { return {reinterpret_cast<std::uint64_t>(pointer_)}; }

 private:
  void* pointer_ = nullptr;
};

std::vector<std::uint8_t> bytes_of_tensor(const HostTensor& tensor) {
  const std::uint32_t size = bytes_of(tensor.spec.element);
  std::vector<std::uint8_t> bytes(tensor.spec.bytes());
  for (std::uint32_t row = 0; row < tensor.spec.rows; ++row) {
    for (std::uint32_t column = 0; column < tensor.spec.columns; ++column) {
      const std::uint32_t bits = encode(tensor.spec.element, tensor.at(row, column));
      std::copy_n(reinterpret_cast<const std::uint8_t*>(&bits),
                  size,
                  &bytes[std::size_t{row} * tensor.spec.pitch_bytes + column * size]);
    }
  }
  return bytes;
}

float element(const std::vector<std::uint8_t>& bytes,
              const TensorSpec& spec,
              std::uint32_t row,
              std::uint32_t column) {
  const std::uint32_t size = bytes_of(spec.element);
  std::uint32_t bits = 0;
  std::copy_n(&bytes[std::size_t{row} * spec.pitch_bytes + column * size],
              size,
              reinterpret_cast<std::uint8_t*>(&bits));
  return decode(spec.element, bits);
}

// Elements of the output that are further from the reference than one rounding and fp32 sums
// explain.
std::size_t count_wrong(const HostTensor& expected, const std::vector<std::uint8_t>& actual) {
  std::size_t wrong = 0;
  for (std::uint32_t row = 0; row < expected.spec.rows; ++row) {
    for (std::uint32_t column = 0; column < expected.spec.columns; ++column) {
      const float want = expected.at(row, column);
      const float got = element(actual, expected.spec, row, column);
      if (!(std::abs(got - want) <= 0.01F * std::abs(want) + 0.01F)) {
        if (wrong++ < 5) {
          std::printf(
              "  %s[%u, %u] is %g, should be %g\n", expected.spec.name, row, column, got, want);
        }
      }
    }
  }
  return wrong;
}

struct Setting {
  const char* name;
  std::int64_t value;
};

template <class Scenario>
bool run(std::initializer_list<Setting> settings) {
  using Kernel = typename Scenario::template Kernel<CudaMachine, typename Scenario::StaticExtents>;
  ParameterSet parameters{Scenario::parameters()};
  for (const Setting& setting : settings) {
    parameters.set(setting.name, setting.value);
  }
  const Workload workload = Scenario::workload(parameters);
  std::mt19937 random{1};
  std::vector<HostTensor> tensors;
  std::vector<Buffer> buffers;
  std::vector<GlobalAddress> addresses;
  for (const TensorSpec& spec : workload.tensors) {
    HostTensor tensor{spec, std::vector<float>(std::size_t{spec.rows} * spec.columns)};
    Buffer& buffer = buffers.emplace_back(spec.bytes());
    if (spec.use == TensorUse::kInput) {
      for (float& value : tensor.values) {
        value = static_cast<float>(static_cast<int>(random() % 9) - 4) / 4.0F;
      }
      const auto bytes = bytes_of_tensor(tensor);
      require_cuda(cudaMemcpy(buffer.get(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice),
                   "cudaMemcpy",
                   kMemoryAdvice);
    }
    tensors.push_back(std::move(tensor));
    addresses.push_back(buffer.address());
  }
  std::vector<CUtensorMap> maps;
  for (const TensorMapSpec& map : workload.maps) {
    maps.push_back(encode(encoding_of(map, workload.tensors[map.tensor]), addresses[map.tensor]));
  }
  const typename Scenario::StaticExtents extents{};
  auto problem = Kernel::problem(parameters, extents, maps, addresses);
  const Buffer scratch{std::size_t{workload.clusters} * workload.cluster_size *
                       TmemEmulation::kCells * sizeof(std::uint32_t)};
  auto* cells = static_cast<std::uint32_t*>(scratch.get());
  void* arguments[] = {&problem, &cells};
  const auto start = std::chrono::steady_clock::now();
  launch(reinterpret_cast<const void*>(&kernel_entry<Kernel>),
         {workload.clusters,
          workload.cluster_size,
          kThreads<Kernel>,
          shared_bytes<typename Kernel::Storage>(extents)},
         arguments,
         nullptr);
  synchronize(nullptr);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  Scenario::reference(parameters, tensors);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].spec.use == TensorUse::kOutput) {
      std::vector<std::uint8_t> bytes(tensors[i].spec.bytes());
      require_cuda(cudaMemcpy(bytes.data(), buffers[i].get(), bytes.size(), cudaMemcpyDeviceToHost),
                   "cudaMemcpy",
                   kMemoryAdvice);
      wrong += count_wrong(tensors[i], bytes);
    }
  }
  std::printf("%s %s: %s, %zu wrong, %.1f ms\n",
              Scenario::kInfo.name,
              parameters.to_string().c_str(),
              wrong == 0 ? "right" : "WRONG",
              wrong,
              taken.count());
  return wrong == 0;
}

int run_all() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: no GPU");
    return kSkipped;
  }
  cudaDeviceProp properties{};
  require_cuda(
      cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties", "check the driver");
  const bool blackwell = properties.major == 10 && properties.minor == 0;
  if (!blackwell && !(properties.major == 9 && properties.minor == 0)) {
    std::printf("skipped: %s is neither sm_90 nor sm_100\n", properties.name);
    return kSkipped;
  }
  std::printf("%s, sm_%d%d, tcgen05 %s\n",
              properties.name,
              properties.major,
              properties.minor,
              blackwell ? "native" : "emulated");
  bool right = run<scenarios::ProducerConsumer>({});
  right = run<scenarios::MulticastRing>({}) && right;
  right = run<scenarios::Gemm>({}) && right;
  right = run<scenarios::Gemm>({{"ctas", 3}}) && right;                        // persistent
  right = run<scenarios::Gemm>({{"m", 200}, {"n", 136}, {"k", 72}}) && right;  // cut tiles
  right =
      run<scenarios::Gemm>({{"m", 1}, {"n", 8}, {"k", 8}, {"ctas", 2}}) && right;  // an idle CTA
  right = run<scenarios::GemmEpilogueLoad>({}) && right;
  right = run<scenarios::GemmEpilogueLoad>({{"ctas", 3}, {"beta", -3}}) && right;
  right = run<scenarios::GemmEpilogueLoad>({{"m", 200}, {"n", 136}, {"k", 72}}) && right;
  if (blackwell) {  // the emulation has no pairs
    right = run<scenarios::Gemm2sm>({}) && right;
    right = run<scenarios::Gemm2sm>({{"clusters", 3}}) && right;
    right = run<scenarios::Gemm2sm>({{"m", 300}, {"n", 136}, {"k", 72}}) && right;
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace warptwin::hw

int main() {
  try {
    return warptwin::hw::run_all();
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
