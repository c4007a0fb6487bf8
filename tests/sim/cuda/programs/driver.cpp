// The driver's functions alone: a module of PTX text, its kernels and variables.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda.h>

#define CHECK(call)                            \
  do {                                         \
    const CUresult checked = (call);           \
    if (checked != CUDA_SUCCESS) {             \
      const char* name = nullptr;              \
      cuGetErrorName(checked, &name);          \
      std::printf("%d: %s\n", __LINE__, name); \
      std::exit(3);                            \
    }                                          \
  } while (false)

static const char* const kText = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 offset = 7;
.visible .entry count(.param .u64 out, .param .u32 step)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [step];
  ld.global.u32 %r2, [offset];
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r3, %r1, %r2;
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r4;
  ret;
}
)";

static const char* const kAligned = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry words(.param .u64 out, .param .align 64 .b8 block[128])
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  mov.b64 %rd3, block;
  add.s64 %rd3, %rd3, %rd2;
  ld.param.u32 %r2, [%rd3];
  add.s64 %rd4, %rd1, %rd2;
  st.global.u32 [%rd4], %r2;
  ret;
}
)";

// Parameters in one piece stand as in the constant bank, whose parameters begin at no multiple of
// 64: the driver says where.
static bool reads_an_aligned_parameter() {
  constexpr unsigned kWords = 32;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CHECK(cuModuleLoadData(&module, kAligned));
  CHECK(cuModuleGetFunction(&function, module, "words"));
  CUdeviceptr out = 0;
  CHECK(cuMemAlloc(&out, kWords * sizeof(unsigned)));
  unsigned block[kWords];
  for (unsigned i = 0; i < kWords; ++i) {
    block[i] = 7 * i + 1;
  }
  std::size_t of_out = 0, of_block = 0, bytes = 0;
  CHECK(cuFuncGetParamInfo(function, 0, &of_out, &bytes));
  CHECK(cuFuncGetParamInfo(function, 1, &of_block, &bytes));
  std::vector<char> packed(of_block + bytes);
  std::memcpy(packed.data() + of_out, &out, sizeof out);
  std::memcpy(packed.data() + of_block, block, sizeof block);
  std::size_t size = packed.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER,
                   packed.data(),
                   CU_LAUNCH_PARAM_BUFFER_SIZE,
                   &size,
                   CU_LAUNCH_PARAM_END};
  CHECK(cuLaunchKernel(function, 1, 1, 1, kWords, 1, 1, 0, nullptr, nullptr, extra));
  unsigned host[kWords];
  CHECK(cuMemcpyDtoH(host, out, sizeof host));
  CHECK(cuMemFree(out));
  CHECK(cuModuleUnload(module));
  const bool right = std::memcmp(host, block, sizeof host) == 0;
  std::printf("an aligned parameter stands at %zu in one piece\n", of_block);
  return right;
}

int main() {
  constexpr unsigned kCount = 64;
  CHECK(cuInit(0));
  CUdevice device = 0;
  CUcontext context = nullptr;
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CHECK(cuModuleLoadData(&module, kText));
  CHECK(cuModuleGetFunction(&function, module, "count"));
  const bool none = cuModuleGetFunction(&function, module, "other") == CUDA_ERROR_NOT_FOUND;
  CHECK(cuModuleGetFunction(&function, module, "count"));
  CUdeviceptr offset = 0, out = 0;
  std::size_t bytes = 0;
  CHECK(cuModuleGetGlobal(&offset, &bytes, module, "offset"));
  const unsigned nine = 9;
  CHECK(cuMemcpyHtoD(offset, &nine, sizeof nine));
  CHECK(cuMemAlloc(&out, kCount * sizeof(unsigned)));
  unsigned step = 3;
  void* parameters[] = {&out, &step};
  CHECK(cuLaunchKernel(function, 1, 1, 1, kCount, 1, 1, 0, nullptr, parameters, nullptr));
  CHECK(cuCtxSynchronize());
  std::vector<unsigned> host(kCount);
  CHECK(cuMemcpyDtoH(host.data(), out, kCount * sizeof(unsigned)));
  bool right = none && bytes == sizeof(unsigned);
  for (unsigned i = 0; i < kCount; ++i) {
    right = right && host[i] == 9 + 3 * i;
  }
  // Parameters as one buffer.
  struct {
    CUdeviceptr out;
    unsigned step;
  } packed{out, 5};
  std::size_t size = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER,
                   &packed,
                   CU_LAUNCH_PARAM_BUFFER_SIZE,
                   &size,
                   CU_LAUNCH_PARAM_END};
  CHECK(cuLaunchKernel(function, 1, 1, 1, kCount, 1, 1, 0, nullptr, nullptr, extra));
  CHECK(cuMemcpyDtoH(host.data(), out, kCount * sizeof(unsigned)));
  right = right && host[10] == 59;
  CHECK(cuMemFree(out));
  CHECK(cuModuleUnload(module));
  right = reads_an_aligned_parameter() && right;
  std::printf("%s\n", right ? "right" : "WRONG");
  return right ? 0 : 4;
}
