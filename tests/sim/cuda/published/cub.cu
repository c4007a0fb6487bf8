/// Algorithms of CUB for a whole device, of the CUDA that compiles this. Its arguments are the
/// algorithm and how many numbers it is given.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cub/cub.cuh>
#include <numeric>
#include <vector>

namespace {

constexpr int kBins = 64;
constexpr int kMost = 1024;

struct Even {
  __host__ __device__ bool operator()(int number) const { return number % 2 == 0; }
};

struct Sum {
  __host__ __device__ int operator()(int a, int b) const { return a + 3 * b; }
};

int* uploaded(const std::vector<int>& numbers) {
  int* place = nullptr;
  cudaMalloc(&place, numbers.size() * sizeof(int));
  cudaMemcpy(place, numbers.data(), numbers.size() * sizeof(int), cudaMemcpyHostToDevice);
  return place;
}

/// Runs an algorithm that first says what room it needs.
template <class Algorithm>
void run(const Algorithm& algorithm) {
  std::size_t bytes = 0;
  algorithm(nullptr, bytes);
  void* room = nullptr;
  cudaMalloc(&room, std::max<std::size_t>(bytes, 1));
  algorithm(room, bytes);
}

/// What an algorithm leaves, and in `expected` what it should.
std::vector<int> result_of(const char* name, std::vector<int> numbers, std::vector<int>& expected) {
  const int count = static_cast<int>(numbers.size());
  int* const in = uploaded(numbers);
  int* out = uploaded(std::vector<int>(numbers.size()));
  const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
  if (is("reduce")) {
    expected = {std::accumulate(numbers.begin(), numbers.end(), 0)};
    run([&](void* room, std::size_t& bytes) {
      cub::DeviceReduce::Sum(room, bytes, in, out, count);
    });
  } else if (is("scan")) {
    expected.resize(numbers.size());
    std::partial_sum(numbers.begin(), numbers.end(), expected.begin());
    run([&](void* room, std::size_t& bytes) {
      cub::DeviceScan::InclusiveSum(room, bytes, in, out, count);
    });
  } else if (is("radix_sort")) {
    run([&](void* room, std::size_t& bytes) {
      cub::DeviceRadixSort::SortKeys(room, bytes, in, out, count);
    });
  } else if (is("merge_sort")) {
    run([&](void* room, std::size_t& bytes) {
      cub::DeviceMergeSort::SortKeys(room, bytes, in, count, ::cuda::std::less<>{});
    });
    out = in;
  } else if (is("select")) {
    std::copy_if(numbers.begin(), numbers.end(), std::back_inserter(expected), Even{});
    int* const selected = uploaded({0});
    run([&](void* room, std::size_t& bytes) {
      cub::DeviceSelect::If(room, bytes, in, out, selected, count, Even{});
    });
  } else if (is("histogram")) {
    expected.resize(kBins);
    for (const int number : numbers) {
      ++expected[number * kBins / kMost];
    }
    run([&](void* room, std::size_t& bytes) {
      cub::DeviceHistogram::HistogramEven(room, bytes, in, out, kBins + 1, 0, kMost, count);
    });
  } else if (is("transform")) {
    for (const int number : numbers) {
      expected.push_back(4 * number);
    }
    cub::DeviceTransform::Transform(::cuda::std::make_tuple(in, in), out, count, Sum{});
  }
  if (expected.empty()) {
    std::sort(numbers.begin(), numbers.end());
    expected = numbers;
  }
  std::vector<int> found(expected.size());
  cudaMemcpy(found.data(), out, found.size() * sizeof(int), cudaMemcpyDeviceToHost);
  return found;
}

}  // namespace

int main(int, char** words) {
  std::vector<int> numbers(std::strtoul(words[2], nullptr, 10));
  unsigned state = 1;
  for (int& number : numbers) {
    state = state * 1664525 + 1013904223;
    number = static_cast<int>(state >> 12) & (kMost - 1);
  }
  std::vector<int> expected;
  const std::vector<int> found = result_of(words[1], numbers, expected);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    std::puts(cudaGetErrorString(error));
  }
  int wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    wrong += found[i] == expected[i] ? 0 : 1;
  }
  std::printf("d: %d of %zu wrong\n", wrong, found.size());
  return wrong == 0 ? 0 : 1;
}
