// Work in several streams that the host orders: by events, by waits, by the default stream. The
// argument, if there is one, says which of them is left out.

#include <string_view>

#include "tests/sim/cuda/programs/check.hpp"

__global__ void add(float* values, int n, float by) {
  for (unsigned i = threadIdx.x; i < static_cast<unsigned>(n); i += blockDim.x) {
    values[i] += by;
  }
}

__global__ void count(unsigned* words) {
  atomicAdd(words, 1U);
}

int main(int count_of_arguments, char** arguments) {
  const std::string_view fault = count_of_arguments > 1 ? arguments[1] : "";
  constexpr int kCount = 64;
  constexpr std::size_t kBytes = kCount * sizeof(float);
  cudaStream_t first{}, second{};
  CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  cudaEvent_t copied{}, added{};
  CHECK(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&added, cudaEventDisableTiming));
  float *host = nullptr, *device = nullptr, *temporary = nullptr;
  unsigned* counter = nullptr;
  CHECK(cudaMallocHost(&host, kBytes));
  CHECK(cudaMalloc(&device, kBytes));
  CHECK(cudaMalloc(&counter, sizeof(unsigned)));
  for (int i = 0; i < kCount; ++i) {
    host[i] = static_cast<float>(i);
  }
  // The second stream waits for the copy of the first.
  CHECK(cudaMemcpyAsync(device, host, kBytes, cudaMemcpyHostToDevice, first));
  CHECK(cudaEventRecord(copied, first));
  if (fault == "QUERY") {  // whose answer nobody heeds
    static_cast<void>(cudaEventQuery(copied));
  } else if (fault != "EVENT") {
    CHECK(cudaStreamWaitEvent(second, copied));
  }
  add<<<1, 32, 0, second>>>(device, kCount, 1);
  // Each adds to the half that is its own.
  CHECK(cudaEventRecord(added, second));
  CHECK(cudaStreamWaitEvent(first, added));
  add<<<1, 32, 0, first>>>(device, kCount / 2, 2);
  add<<<1, 32, 0, second>>>(device + (fault == "KERNELS" ? 1 : kCount / 2), kCount / 2, 2);
  if (fault != "HOST") {
    CHECK(cudaStreamSynchronize(first));
  }
  host[0] = 7;  // the source of the first copy
  CHECK(cudaDeviceSynchronize());
  // A fill of the default stream, and who does not wait for it; likewise a copy from memory that is
  // not pinned, behind which the bytes may still be on their way.
  const unsigned zero = 0;
  CHECK(fault == "PAGEABLE" ? cudaMemcpy(counter, &zero, sizeof zero, cudaMemcpyHostToDevice)
                            : cudaMemset(counter, 0, sizeof(unsigned)));
  if (fault != "DEFAULT" && fault != "PAGEABLE") {
    CHECK(cudaStreamSynchronize(nullptr));
  }
  // Atomics of both streams do not race with each other.
  count<<<2, 32, 0, first>>>(counter);
  count<<<2, 32, 0, second>>>(counter);
  CHECK(cudaDeviceSynchronize());
  // What a stream has allocated, another has when it knows.
  CHECK(cudaMallocAsync(&temporary, kBytes, first));
  CHECK(cudaEventRecord(copied, first));
  if (fault != "ALLOCATION") {
    CHECK(cudaStreamWaitEvent(second, copied));
  }
  CHECK(cudaMemcpyAsync(temporary, device, kBytes, cudaMemcpyDeviceToDevice, second));
  // Two halves of an allocation; and two areas that overlap.
  CHECK(cudaMemcpyAsync(temporary + (fault == "OVERLAP" ? 1 : kCount / 2),
                        temporary,
                        kBytes / 2,
                        cudaMemcpyDeviceToDevice,
                        second));
  CHECK(cudaEventRecord(added, second));
  if (fault != "FREE") {
    CHECK(cudaStreamWaitEvent(first, added));
  }
  CHECK(cudaFreeAsync(temporary, first));
  CHECK(cudaMemcpyAsync(host, device, kBytes, cudaMemcpyDeviceToHost, second));
  if (fault == "TARGET") {
    host[5] = 0;
  }
  CHECK(cudaStreamSynchronize(second));
  unsigned counted = 0;
  CHECK(cudaMemcpy(&counted, counter, sizeof counted, cudaMemcpyDeviceToHost));
  bool right = counted == 128;
  for (int i = 0; i < kCount; ++i) {
    right = right && host[i] == static_cast<float>(i + 3);
  }
  CHECK(cudaDeviceSynchronize());
  if (fault == "BACK") {  // to memory that is not pinned: nobody says that the call waits
    float back[kCount];
    CHECK(cudaMemcpyAsync(back, device, kBytes, cudaMemcpyDeviceToHost, second));
    CHECK(cudaMemsetAsync(device, 0, kBytes, first));
    CHECK(cudaDeviceSynchronize());
  }
  return said(right);
}
