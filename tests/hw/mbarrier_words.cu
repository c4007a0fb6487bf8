// Prints the 64-bit words of mbarriers in known states: what `warptwin decode` is made from.
//
//   nvcc -std=c++20 -gencode arch=compute_90a,code=sm_90a mbarrier_words.cu -o mbarrier_words
//
// A line: the word as mbarrier.inval leaves it in shared memory, the state that an arrival of count
// 0 returns, the word as a plain load finds it while the barrier lives, and what was done.

#include <cstdint>
#include <cstdio>

#include <cuda/ptx>

namespace {

constexpr int kLinesMax = 64;
constexpr std::uint64_t kBefore = 0x0123456789abcdef;

struct Line {
  std::uint64_t left;
  std::uint64_t state;
  std::uint64_t plain;
  const char* text;
};

__device__ Line lines[kLinesMax];
__device__ int line_count;

namespace p = cuda::ptx;

__device__ std::uint32_t address_of(const std::uint64_t* bar) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(bar));
}
__device__ std::uint64_t load(const std::uint64_t* bar) {
  std::uint64_t word = 0;
  asm volatile("ld.volatile.shared.b64 %0, [%1];" : "=l"(word) : "r"(address_of(bar)) : "memory");
  return word;
}
__device__ std::uint64_t state_of(const std::uint64_t* bar, std::uint32_t none) {
  std::uint64_t state = 0;
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(address_of(bar)), "r"(none)
               : "memory");
  return state;
}
__device__ void init(std::uint64_t* bar, std::uint32_t count) {
  p::mbarrier_init(bar, count);
}
__device__ void arrive(std::uint64_t* bar, std::uint32_t count) {
  (void)p::mbarrier_arrive(p::sem_release, p::scope_cta, p::space_shared, bar, count);
}
__device__ void expect(std::uint64_t* bar, std::uint32_t bytes) {
  p::mbarrier_expect_tx(p::sem_relaxed, p::scope_cta, p::space_shared, bar, bytes);
}
__device__ void complete(std::uint64_t* bar, std::uint32_t bytes) {
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(address_of(bar)),
               "r"(bytes)
               : "memory");
}
__device__ void drop(std::uint64_t* bar) {
  asm volatile("mbarrier.arrive_drop.release.cta.shared::cta.b64 _, [%0];" ::"r"(address_of(bar))
               : "memory");
}
__device__ void inval(std::uint64_t* bar) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(address_of(bar)) : "memory");
}

// One barrier, from its init to its end.
template <class F>
__device__ void line(std::uint64_t* bar, std::uint32_t count, const char* text, F act) {
  *static_cast<volatile std::uint64_t*>(bar) = kBefore;
  init(bar, count);
  act();
  Line& to = lines[line_count++];
  to.text = text;
  to.plain = load(bar);
  to.state = state_of(bar, 0);
  inval(bar);
  to.left = load(bar);
}

__device__ void counts(std::uint64_t* bar) {
  line(bar, 1, "init 1", [] {});
  line(bar, 2, "init 2", [] {});
  line(bar, 3, "init 3", [] {});
  line(bar, 32, "init 32", [] {});
  line(bar, 0x55555, "init 0x55555", [] {});
  line(bar, 0xfffff, "init 0xfffff", [] {});
  line(bar, 5, "init 5", [] {});
  line(bar, 5, "init 5, 1 arrival", [=] { arrive(bar, 1); });
  line(bar, 5, "init 5, 4 arrivals", [=] { arrive(bar, 4); });
  line(bar, 5, "init 5, 5 arrivals", [=] { arrive(bar, 5); });
  line(bar, 5, "init 5, 5 + 5 arrivals", [=] {
    arrive(bar, 5);
    arrive(bar, 5);
  });
  line(bar, 5, "init 5, 5 + 5 + 5 + 2 arrivals", [=] {
    arrive(bar, 5);
    arrive(bar, 5);
    arrive(bar, 5);
    arrive(bar, 2);
  });
  line(bar, 5, "init 5, 2 arrivals, inval, 1 arrival", [=] {
    arrive(bar, 2);
    inval(bar);
    arrive(bar, 1);
  });
  line(bar, 3, "init 3, arrive_drop", [=] { drop(bar); });
  line(bar, 3, "init 3, arrive_drop, 2 arrivals", [=] {
    drop(bar);
    arrive(bar, 2);
  });
}

__device__ void bytes(std::uint64_t* bar) {
  line(bar, 2, "init 2, expect_tx 1", [=] { expect(bar, 1); });
  line(bar, 2, "init 2, expect_tx 0x1234", [=] { expect(bar, 0x1234); });
  line(bar, 2, "init 2, expect_tx 0xfffff", [=] { expect(bar, 0xfffff); });
  line(bar, 2, "init 2, expect_tx 0x1234, complete_tx 0x1000", [=] {
    expect(bar, 0x1234);
    complete(bar, 0x1000);
  });
  line(bar, 2, "init 2, expect_tx 0x1234, complete_tx 0x1234", [=] {
    expect(bar, 0x1234);
    complete(bar, 0x1234);
  });
  line(bar, 2, "init 2, complete_tx 1", [=] { complete(bar, 1); });
  line(bar, 2, "init 2, complete_tx 0xfffff", [=] { complete(bar, 0xfffff); });
  line(bar, 2, "init 2, expect_tx 4096, 2 arrivals", [=] {
    expect(bar, 4096);
    arrive(bar, 2);
  });
  line(bar, 2, "init 2, expect_tx 4096, 2 arrivals, complete_tx 4096", [=] {
    expect(bar, 4096);
    arrive(bar, 2);
    complete(bar, 4096);
  });
  line(bar, 1, "init 1, complete_tx 48, 1 arrival", [=] {
    complete(bar, 48);
    arrive(bar, 1);
  });
}

// While warp 1 waits, and once it has gone on.
__device__ void waited(std::uint64_t* bar) {
  if (threadIdx.x == 0) {
    init(bar, 2);
    arrive(bar, 1);
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    while (!p::mbarrier_try_wait_parity(bar, 0, 100000000)) {
    }
  }
  if (threadIdx.x == 0) {
    for (const long long start = clock64(); clock64() - start < 200000;) {
    }
    lines[line_count++] = {0, state_of(bar, 0), load(bar), "init 2, 1 arrival, another warp waits"};
    expect(bar, 4096);
    lines[line_count++] = {
        0, state_of(bar, 0), load(bar), "the same, expect_tx 4096, another warp waits"};
    complete(bar, 4096);
    arrive(bar, 1);
    lines[line_count++] = {0, state_of(bar, 0), load(bar), "the same, complete_tx 4096, 1 arrival"};
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const std::uint64_t state = state_of(bar, 0);
    inval(bar);
    lines[line_count++] = {load(bar), state, 0, "the same, once the waiter is gone"};
  }
}

__global__ void measure() {
  __shared__ alignas(8) std::uint64_t bar;
  if (threadIdx.x == 0) {
    counts(&bar);
    bytes(&bar);
  }
  __syncthreads();
  waited(&bar);
  __syncthreads();
  for (int i = 0; threadIdx.x == 0 && i < line_count; ++i) {
    std::printf("%016llx %016llx %016llx %s\n",
                static_cast<unsigned long long>(lines[i].left),
                static_cast<unsigned long long>(lines[i].state),
                static_cast<unsigned long long>(lines[i].plain),
                lines[i].text);
  }
}

}  // namespace

int main() {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) {
    std::puts("skipped: no GPU");
    return 77;
  }
  measure<<<1, 64>>>();
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s, sm_%d%d: %s\n",
              properties.name,
              properties.major,
              properties.minor,
              cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
