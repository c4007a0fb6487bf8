// What calls answer, right ones and wrong ones; golden/calls.txt has the answers of an H100. An
// argument names what a kernel does wrong: then it is printed what each later call answers.

#include <cassert>
#include <cstdint>
#include <string>

#include <cooperative_groups.h>
#include <cuda.h>

#include "tests/sim/cuda/programs/check.hpp"

__constant__ int constant[4];
__device__ int variable;

__global__ void plain(int* out) {
  if (out != nullptr) {
    out[threadIdx.x] = constant[threadIdx.x % 4];
  }
}
__global__ void __launch_bounds__(64) small() {}
__global__ void __cluster_dims__(2) pairs() {}
__global__ void meet(int* out) {
  if (out == nullptr) {
    cooperative_groups::this_grid().sync();
  }
}
__global__ void wrong(int what, int* out) {
  extern __shared__ volatile int shared[];
  if (what == 0) {
    __trap();
  } else if (what == 1) {
    out[1 << 28] = 1;
  } else if (what == 2) {
    *reinterpret_cast<int*>(reinterpret_cast<char*>(out) + 2) = 1;
  } else if (what == 3) {
    shared[what << 20] = 1;
  } else if (what == 4) {
    *reinterpret_cast<volatile int*>(reinterpret_cast<volatile char*>(shared) + 2) = 1;
  } else if (what == 5) {
    assert(out == nullptr);
  } else if (what == 6) {
    *static_cast<volatile int*>(nullptr) = 1;
  }
}

static void say(const char* text, cudaError_t error) {
  const cudaError_t peeked = cudaPeekAtLastError();
  const cudaError_t last = cudaGetLastError();
  std::printf("%s: %s, last %s, %s, then %s\n",
              text,
              cudaGetErrorName(error),
              cudaGetErrorName(peeked),
              cudaGetErrorName(last),
              cudaGetErrorName(cudaGetLastError()));
}
static void say(const char* text, CUresult error) {
  const char* name = "none";
  cuGetErrorName(error, &name);
  std::printf("%s: %s\n", text, name);
}
#define SAY(...) say(#__VA_ARGS__, __VA_ARGS__)

static cudaError_t launch(const void* kernel,
                          dim3 grid,
                          dim3 block,
                          std::size_t shared,
                          unsigned cluster,
                          bool cooperative = false,
                          cudaStream_t stream = nullptr) {
  cudaLaunchAttribute attributes[2]{};
  cudaLaunchConfig_t config{grid, block, shared, stream, attributes, 0};
  if (cluster != 0) {
    attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
    attributes[config.numAttrs++].val.clusterDim = {cluster, 1, 1};
  }
  if (cooperative) {
    attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
    attributes[config.numAttrs++].val.cooperative = 1;
  }
  int* out = nullptr;
  void* arguments[] = {&out};
  return cudaLaunchKernelExC(&config, kernel, arguments);
}

static void launches() {
  const auto* kernel = reinterpret_cast<const void*>(plain);
  const auto* few = reinterpret_cast<const void*>(small);
  const auto* two = reinterpret_cast<const void*>(pairs);
  SAY(launch(kernel, 1, 32, 0, 0));
  SAY(launch(kernel, 0, 32, 0, 0));
  SAY(launch(kernel, 1, 0, 0, 0));
  SAY(launch(kernel, 1, 1025, 0, 0));
  SAY(launch(kernel, dim3(1, 65536), 32, 0, 0));
  SAY(launch(kernel, 1, dim3(1, 1, 65), 0, 0));
  SAY(launch(few, 1, 128, 0, 0));
  SAY(launch(kernel, 1, 32, 49152, 0));
  SAY(launch(kernel, 1, 32, 49153, 0));
  SAY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  SAY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449));
  SAY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
  SAY(launch(kernel, 1, 32, 232448, 0));
  SAY(launch(kernel, 1, 32, 232449, 0));
  SAY(launch(kernel, 4, 32, 0, 2));
  SAY(launch(kernel, 3, 32, 0, 2));
  SAY(launch(kernel, 9, 32, 0, 9));
  SAY(launch(kernel, 16, 32, 0, 16));
  SAY(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  SAY(launch(kernel, 16, 32, 0, 16));
  SAY(launch(kernel, 32, 32, 0, 32));
  SAY(launch(two, 2, 32, 0, 0));
  SAY(launch(two, 3, 32, 0, 0));
  SAY(launch(two, 4, 32, 0, 2));
  SAY(launch(two, 4, 32, 0, 4));
  SAY(launch(kernel, 4, 32, 0, 0, true));
  SAY(launch(kernel, 4, 32, 200000, 4, true));
  SAY(launch(kernel, 4, 32, 0, 2, true));

  SAY(launch(reinterpret_cast<const void*>(&launches), 1, 32, 0, 0));
  small<<<1, 128>>>();
  SAY(cudaSuccess);
  plain<<<0, 32>>>(nullptr);
  SAY(cudaSuccess);
  plain<<<1, 1025>>>(nullptr);
  SAY(cudaSuccess);
  plain<<<1, 32, 232449>>>(nullptr);
  SAY(cudaSuccess);
  plain<<<dim3(1, 65536), 32>>>(nullptr);
  SAY(cudaSuccess);
  plain<<<1, dim3(1, 1, 65)>>>(nullptr);
  SAY(cudaSuccess);
  pairs<<<3, 32>>>();
  SAY(cudaSuccess);
  const void* none = reinterpret_cast<const void*>(&launches);
  int* out = nullptr;
  void* arguments[] = {&out};
  cudaFuncAttributes about{};
  int blocks = -1;
  cudaFunction_t function{};
  SAY(cudaLaunchKernel(none, 1, 32, arguments, 0, nullptr));
  SAY(cudaLaunchKernel(kernel, 0, 32, arguments, 0, nullptr));
  SAY(cudaFuncGetAttributes(&about, none));
  SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, none, 32, 0));
  SAY(cudaGetFuncBySymbol(&function, none));
  SAY(cudaLaunchCooperativeKernel(kernel, 1, 32, arguments, 0, nullptr));
  SAY(cudaLaunchCooperativeKernel(kernel, 133, 32, arguments, 200000, nullptr));
  SAY(cudaLaunchCooperativeKernel(kernel, 132, 32, arguments, 200000, nullptr));
  SAY(cudaFuncGetAttributes(&about, kernel));
  std::printf("%d %d\n", about.maxThreadsPerBlock, about.maxDynamicSharedSizeBytes);
  SAY(cudaFuncGetAttributes(&about, few));
  std::printf("%d %d\n", about.maxThreadsPerBlock, about.maxDynamicSharedSizeBytes);
  for (int threads : {32, 128, 1024, 1025}) {
    const cudaError_t error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0);
    std::printf("%d threads: %s, %d blocks\n", threads, cudaGetErrorName(error), blocks);
    cudaGetLastError();
  }
  SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 128, 100000));
  std::printf("%d blocks\n", blocks);
  SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, few, 128, 0));
  std::printf("%d blocks\n", blocks);
  SAY(cudaDeviceSynchronize());
}

// The driver's form, with attributes: clusters, an early begin, all CTAs at a time. 200 CTAs meet.
static void driver_launches() {
  cudaFunction_t function{};
  SAY(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(plain)));
  CUlaunchAttribute attributes[3]{};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[0].value.clusterDim = {2, 1, 1};
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attributes[1].value.programmaticStreamSerializationAllowed = 1;
  attributes[2].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attributes[2].value.cooperative = 1;
  CUlaunchConfig config{4, 1, 1, 32, 1, 1, 0, nullptr, attributes, 3};
  int* out = nullptr;
  void* arguments[] = {&out};
  SAY(cuLaunchKernelEx(&config, function, arguments, nullptr));
  config.gridDimX = 3;
  SAY(cuLaunchKernelEx(&config, function, arguments, nullptr));
  config.gridDimX = 4;
  config.sharedMemBytes = 232449;
  SAY(cuLaunchKernelEx(&config, function, arguments, nullptr));
  SAY(cuLaunchKernel(nullptr, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  SAY(cuLaunchKernel(function, 1, 1, 1, 0, 1, 1, 0, nullptr, arguments, nullptr));
  SAY(cuLaunchCooperativeKernel(function, 100000, 1, 1, 1024, 1, 1, 0, nullptr, arguments));
  int clusters = -1;
  config.sharedMemBytes = 0;
  SAY(cuOccupancyMaxPotentialClusterSize(&clusters, function, &config));
  std::printf("size %d\n", clusters);
  SAY(cuFuncGetAttribute(&clusters, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
  SAY(cuFuncGetAttribute(&clusters, static_cast<CUfunction_attribute>(99), function));
  SAY(launch(reinterpret_cast<const void*>(meet), 200, 1, 0, 2, true));
  SAY(cuCtxSynchronize());
}

static void memory() {
  int *device = nullptr, *other = nullptr, host[64] = {};
  std::size_t pitch = 0, size = 0;
  SAY(cudaMalloc(&device, 0));
  std::printf("%d\n", device == nullptr);
  SAY(cudaMalloc(&device, std::size_t{1} << 60));
  other = host;
  SAY(cudaMalloc(&other, std::size_t{1} << 60));
  std::printf("kept %d\n", other == host);
  SAY(cudaMalloc(&device, 256));
  SAY(cudaMemcpy(device, host, 256, cudaMemcpyHostToDevice));
  SAY(cudaMemcpy(device, host, 256, cudaMemcpyDeviceToHost));
  SAY(cudaMemcpy(device, host, 256, static_cast<cudaMemcpyKind>(9)));
  SAY(cudaMemcpy(host, device, 256, cudaMemcpyDefault));
  SAY(cudaMemcpy(nullptr, device, 0, cudaMemcpyDefault));
  SAY(cudaMemcpy(nullptr, device, 4, cudaMemcpyDeviceToHost));
  SAY(cudaMemcpy2D(device, 16, host, 8, 8, 4, cudaMemcpyHostToDevice));
  SAY(cudaMemcpy2D(device, 4, host, 8, 8, 4, cudaMemcpyHostToDevice));
  SAY(cudaMemcpy2D(device, 16, host, 8, 0, 4, cudaMemcpyHostToDevice));
  SAY(cudaMemcpy2D(nullptr, 16, nullptr, 8, 8, 0, cudaMemcpyHostToDevice));
  SAY(cudaMemcpy2DAsync(host, 8, device, 16, 8, 4, cudaMemcpyDeviceToHost, nullptr));
  SAY(cudaMallocPitch(&other, &pitch, 100, 3));
  std::printf("pitch %zu\n", pitch);
  SAY(cudaMemset2D(other, pitch, 1, 100, 3));
  SAY(cudaMemset2D(other, 50, 1, 100, 3));
  SAY(cudaFree(other));
  SAY(cudaFree(other));
  SAY(cudaFree(nullptr));
  SAY(cudaFree(device + 1));
  SAY(cudaFree(host));
  SAY(cudaFreeHost(host));
  SAY(cudaFreeHost(nullptr));
  SAY(cudaMallocHost(&other, 0));
  SAY(cudaMallocHost(&other, 64));
  SAY(cudaFreeHost(other));
  SAY(cudaMallocManaged(&other, 64));
  SAY(cudaFree(other));
  SAY(cudaHostRegister(host, sizeof host, cudaHostRegisterDefault));
  SAY(cudaHostRegister(host, sizeof host, cudaHostRegisterDefault));
  SAY(cudaHostUnregister(host));
  SAY(cudaHostUnregister(host));
  SAY(cudaMemcpyToSymbol(constant, host, 16));
  SAY(cudaMemcpyToSymbol(constant, host, 17));
  SAY(cudaMemcpyToSymbol(constant, host, 4, 12));
  SAY(cudaMemcpyToSymbol(constant, host, 4, 13));
  SAY(cudaMemcpyToSymbol(host, host, 4));
  SAY(cudaMemcpyFromSymbol(host, variable, 4));
  SAY(cudaGetSymbolSize(&size, constant));
  SAY(cudaGetSymbolSize(&size, host));
  cudaPointerAttributes about{};
  SAY(cudaPointerGetAttributes(&about, device));
  std::printf("type %d device %d\n", about.type, about.device);
  SAY(cudaPointerGetAttributes(&about, host));
  std::printf("type %d\n", about.type);
  SAY(cudaMallocAsync(&other, 0, nullptr));
  SAY(cudaMallocAsync(&other, 64, nullptr));
  SAY(cudaFreeAsync(other, nullptr));
  SAY(cudaFreeAsync(nullptr, nullptr));
  SAY(cudaFree(device));
  SAY(cuMemAlloc(reinterpret_cast<CUdeviceptr*>(&device), 0));
  SAY(cuMemFree(0));
  SAY(cuMemFree(12345));
}

static void streams() {
  cudaStream_t stream{};
  cudaEvent_t first{}, last{}, plain_event{};
  float time = 0;
  SAY(cudaStreamCreate(&stream));
  SAY(cudaEventCreate(&first));
  SAY(cudaEventCreate(&last));
  SAY(cudaEventCreateWithFlags(&plain_event, cudaEventDisableTiming));
  SAY(cudaEventQuery(first));
  SAY(cudaEventSynchronize(first));
  SAY(cudaEventElapsedTime(&time, first, last));
  SAY(cudaEventRecord(first, stream));
  SAY(cudaEventElapsedTime(&time, first, last));
  SAY(cudaEventRecord(last, stream));
  SAY(cudaEventSynchronize(last));
  SAY(cudaEventElapsedTime(&time, first, last));
  SAY(cudaEventRecord(plain_event, stream));
  SAY(cudaEventSynchronize(plain_event));
  SAY(cudaEventElapsedTime(&time, first, plain_event));
  SAY(cudaStreamQuery(stream));
  SAY(cudaStreamWaitEvent(stream, first, 0));
  SAY(cudaStreamDestroy(stream));
  SAY(cudaEventDestroy(first));
  SAY(cudaStreamDestroy(nullptr));
}

static void devices() {
  int value = -1;
  cudaDeviceProp properties{};
  SAY(cudaSetDevice(0));
  SAY(cudaSetDevice(77));
  SAY(cudaGetDevice(&value));
  SAY(cudaGetDeviceProperties(&properties, 77));
  SAY(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 77));
  SAY(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0));
  SAY(cudaDeviceGetAttribute(&value, cudaDevAttrCooperativeLaunch, 0));
  std::printf("cooperative %d\n", value);
  SAY(cudaFuncSetAttribute(
      reinterpret_cast<const void*>(&devices), cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
  SAY(cudaFuncSetAttribute(plain, static_cast<cudaFuncAttribute>(99), 1));
  std::printf("%s, %s\n",
              cudaGetErrorString(cudaErrorInvalidValue),
              cudaGetErrorName(static_cast<cudaError_t>(12345)));
  // The runtime has made the primary context current.
  CUcontext context{}, primary{}, popped{}, mine{};
  CUdevice device = -1;
  SAY(cuCtxGetCurrent(&context));
  std::printf("current %d\n", context != nullptr);
  SAY(cuDevicePrimaryCtxRetain(&primary, 0));
  std::printf("primary %d\n", context == primary);
  SAY(cuCtxCreate(&mine, nullptr, 0, 0));
  SAY(cuCtxGetCurrent(&context));
  std::printf("mine %d %d\n", context == mine, mine != primary);
  SAY(cuCtxPushCurrent(primary));
  SAY(cuCtxGetCurrent(&context));
  std::printf("pushed %d\n", context == primary);
  SAY(cuCtxPopCurrent(&popped));
  SAY(cuCtxGetCurrent(&context));
  std::printf("popped %d %d\n", popped == primary, context == mine);
  SAY(cuCtxGetDevice(&device));
  SAY(cuCtxDestroy(mine));
  SAY(cuCtxGetCurrent(&context));
  std::printf("destroyed %d\n", context == primary);
  SAY(cuCtxSetCurrent(nullptr));
  SAY(cuCtxGetCurrent(&context));
  std::printf("none %d\n", context == nullptr);
  SAY(cuCtxGetDevice(&device));
  SAY(cuCtxPopCurrent(&popped));
  SAY(cuCtxSetCurrent(primary));
  SAY(cuDevicePrimaryCtxRelease(0));
  SAY(cuDeviceGet(&device, 77));
  SAY(cudaDeviceCanAccessPeer(&value, 0, 0));
  std::printf("peer %d\n", value);
  SAY(cudaDeviceCanAccessPeer(&value, 0, 77));
  CUmodule module{};
  SAY(cuModuleLoad(&module, "/nonexistent/module.ptx"));
  SAY(cuModuleLoadData(&module, nullptr));
  SAY(cuCtxDestroy(nullptr));
  for (int number : {0, 147, 148, 150}) {
    std::printf("attribute %d: %d\n",
                number,
                cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(number), 0));
  }
  SAY(cuInit(1));
}

static void entries() {
  const struct {
    const char* name;
    unsigned version;
  } all[] = {{"cuInit", 12000},
             {"cuMemAlloc", 2000},
             {"cuMemAlloc", 3020},
             {"cuMemAlloc_v2", 12000},
             {"cuCtxCreate", 3020},
             {"cuCtxCreate", 11040},
             {"cuCtxCreate", 12050},
             {"cuTensorMapEncodeTiled", 12000},
             {"cuTensorMapEncodeTiled", 11000},
             {"cuLaunchKernelEx", 11060},
             {"cuLaunchKernelEx", 11050},
             {"cuMemPrefetchAsync", 8000},
             {"cuMemPrefetchAsync", 12020},
             {"cuNothing", 12000},
             {"cuInit", 99000}};
  for (const auto& each : all) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    const cudaError_t error = cudaGetDriverEntryPointByVersion(
        each.name, &function, each.version, cudaEnableDefault, &found);
    std::printf("%s %u: %s, %d, %d\n",
                each.name,
                each.version,
                cudaGetErrorName(error),
                function != nullptr,
                found);
    cudaGetLastError();
    CUdriverProcAddressQueryResult status{};
    function = nullptr;
    const CUresult result =
        cuGetProcAddress(each.name, &function, static_cast<int>(each.version), 0, &status);
    const char* name = nullptr;
    cuGetErrorName(result, &name);
    std::printf("  %s, %d, %d\n", name, function != nullptr, status);
  }
  void* function = nullptr;
  SAY(cudaGetDriverEntryPointByVersion("cuNothing", &function, 12000, cudaEnableDefault, nullptr));
  SAY(cuGetProcAddress("cuNothing", &function, 12000, 0, nullptr));
  SAY(cuGetProcAddress("cuLaunchKernelEx", &function, 11000, 0, nullptr));
  for (unsigned version : {0U, 1U, 12999U, 13000U, 13001U, 13010U, 14000U}) {
    cudaDriverEntryPointQueryResult found{};
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuInit", &function, version, cudaEnableDefault, &found);
    std::printf("version %u: %s, %d\n", version, cudaGetErrorName(error), found);
    cudaGetLastError();
  }
  CUcontext context{};
  SAY(cudaGetDriverEntryPointByVersion("cuCtxCreate", &function, 3020, cudaEnableDefault, nullptr));
  SAY(reinterpret_cast<CUresult (*)(CUcontext*, unsigned, CUdevice)>(function)(&context, 0, 0));
  SAY(cuCtxDestroy(context));
}

static void broken(int what) {
  int *device = nullptr, *host = nullptr, value = 0;
  cudaStream_t stream{};
  cudaEvent_t event{};
  CHECK(cudaMalloc(&device, 256));
  CHECK(cudaMallocHost(&host, 256));
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaEventCreate(&event));
  wrong<<<1, 1, 64>>>(what, device);
  SAY(cudaDeviceSynchronize());
  SAY(cudaDeviceSynchronize());
  SAY(cudaStreamSynchronize(stream));
  SAY(cudaStreamQuery(stream));
  SAY(cudaEventRecord(event, stream));
  SAY(cudaEventQuery(event));
  SAY(cudaMalloc(&device, 256));
  SAY(cudaMallocHost(&host, 256));
  SAY(cudaMemcpy(&value, device, 4, cudaMemcpyDeviceToHost));
  SAY(cudaMemset(device, 0, 4));
  SAY(cudaMemcpyToSymbol(variable, &value, 4));
  SAY(cudaFree(device));
  plain<<<1, 1>>>(nullptr);
  SAY(cudaGetLastError());
  SAY(cudaStreamCreate(&stream));
  SAY(cudaEventCreate(&event));
  SAY(cudaSetDevice(0));
  SAY(cudaGetDevice(&value));
  SAY(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
  SAY(cuCtxSynchronize());
  SAY(cuMemFree(reinterpret_cast<CUdeviceptr>(device)));
  SAY(cudaDeviceReset());
  SAY(cudaMalloc(&device, 256));
}

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  constexpr const char* kWrong[] = {
      "trap", "outside", "misaligned", "shared", "shared_misaligned", "assert", "null"};
  for (int i = 0; i < 7; ++i) {
    if (what == kWrong[i]) {
      broken(i);
      return 0;
    }
  }
  SAY(cudaGetLastError());
  CHECK(cudaFree(nullptr));
  launches();
  driver_launches();
  memory();
  streams();
  devices();
  entries();
}
