// A program that is linked with nothing of CUDA's: it looks for the libraries when it runs.

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

#include <cuda.h>

static const char* const kText = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry count(.param .u64 out)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
}
)";

static void* opened(const char* name) {
  void* library = dlopen(name, RTLD_NOW);
  if (library == nullptr) {
    std::printf("%s\n", dlerror());
    std::exit(3);
  }
  return library;
}

template <typename Function>
static Function* function(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

#define DRIVER(name) function<decltype(name)>(driver, #name)

int main() {
  void* driver = opened("libcuda.so.1");
  void* runtime = opened("libcudart.so.13");
  const bool plain = opened("libcuda.so") == driver && opened("libcudart.so") == runtime;
  const bool versioned = dlvsym(runtime, "cudaFree", "libcudart.so.13") != nullptr;
  int* device = nullptr;
  int host[32] = {};
  const auto allocate = function<int(void**, std::size_t)>(runtime, "cudaMalloc");
  const auto copy = function<int(void*, const void*, std::size_t, int)>(runtime, "cudaMemcpy");
  bool right = DRIVER(cuInit)(0) == CUDA_SUCCESS &&
               allocate(reinterpret_cast<void**>(&device), sizeof host) == 0;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  right = right && DRIVER(cuModuleLoadData)(&module, kText) == CUDA_SUCCESS &&
          DRIVER(cuModuleGetFunction)(&kernel, module, "count") == CUDA_SUCCESS;
  void* parameters[] = {&device};
  right = right && DRIVER(cuLaunchKernel)(
                       kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr) == CUDA_SUCCESS;
  right = right && copy(host, device, sizeof host, 2) == 0 && host[31] == 31;
  std::printf("%s\n", right && plain && versioned ? "right" : "WRONG");
  return right && plain && versioned ? 0 : 4;
}
