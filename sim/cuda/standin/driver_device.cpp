// The driver's stand-in: devices, contexts, errors, and functions by their name.

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <string_view>

#include "sim/cuda/standin/client.hpp"

namespace warptwin::cuda {

namespace {

constexpr int kVersion = 13000;
constexpr const char* kBus = "0000:01:00.0";

// CU_DEVICE_ATTRIBUTE_..., as number, name of the chip's constant, or a value of every chip.
struct DeviceAttribute {
  int number;
  const char* chip;
  long long value;
};

constexpr DeviceAttribute kAttributes[] = {
    {1, nullptr, 1024},          // threads of a block
    {2, nullptr, 1024},          // x of a block
    {3, nullptr, 1024},          // y
    {4, nullptr, 64},            // z
    {5, nullptr, 2147483647},    // x of a grid
    {6, nullptr, 65535},         // y
    {7, nullptr, 65535},         // z
    {8, nullptr, 49152},         // shared memory of a block
    {9, nullptr, 65536},         // constant memory
    {10, nullptr, 32},           // lanes of a warp
    {11, nullptr, 2147483647},   // pitch
    {12, "sm_registers", 0},     // registers of a block
    {13, "clock_khz", 0},        // clock
    {14, nullptr, 512},          // alignment of textures
    {15, nullptr, 1},            // copies beside kernels
    {16, "sms", 0},              // SMs
    {19, nullptr, 1},            // maps host memory
    {23, nullptr, 32},           // alignment of texture rows
    {30, nullptr, 512},          // alignment of surfaces
    {31, nullptr, 1},            // kernels beside each other
    {33, nullptr, 1},            // bus
    {36, nullptr, 2619000},      // memory clock, of an H200
    {37, nullptr, 5120},         // memory bus, of an H200
    {38, "l2_bytes", 0},         // L2
    {39, "sm_threads", 0},       // threads of an SM
    {40, nullptr, 1},            // copy engines
    {41, nullptr, 1},            // one address space
    {75, "major", 0},            // compute capability
    {76, "minor", 0},            //
    {78, nullptr, 1},            // priorities of streams
    {79, nullptr, 1},            // L1 holds global memory
    {80, nullptr, 1},            // and local
    {81, "sm_shared_bytes", 0},  // shared memory of an SM
    {82, "sm_registers", 0},     // registers of an SM
    {83, nullptr, 1},            // managed memory
    {90, nullptr, 1},            // preemption
    {91, nullptr, 1},            // host pointers of registered memory
    {97, "shared_optin", 0},     // shared memory of a block, where asked for
    {99, nullptr, 1},            // registers host memory
    {106, "sm_ctas", 0},         // blocks of an SM
    {111, nullptr, 1024},        // shared memory that the system takes of a block
    {120, nullptr, 1},           // clusters
    {115, nullptr, 1},           // memory pools
    {127, nullptr, 1},           // tensor maps
    {129, nullptr, 1},           // one space of function pointers
};

thread_local CUcontext current = nullptr;

}  // namespace

extern "C" {

WARPTWIN_CALL CUresult cuInit(unsigned flags) {
  return flags == 0 ? kSuccess : kInvalidValue;
}

WARPTWIN_CALL CUresult cuDriverGetVersion(int* version) {
  *version = kVersion;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = 0;
  return ordinal == 0 ? kSuccess : kInvalidDevice;
}

WARPTWIN_CALL CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  if (device != 0 || length <= 0) {
    return kInvalidDevice;
  }
  std::snprintf(name, static_cast<std::size_t>(length), "%s", Client::get().chip_name().c_str());
  return kSuccess;
}

WARPTWIN_CALL CUresult cuDeviceGetUuid_v2(char* uuid, CUdevice device) {
  std::memcpy(uuid, "warptwin-device0", 16);
  return device == 0 ? kSuccess : kInvalidDevice;
}

WARPTWIN_CALL CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  if (device != 0 || length <= 0) {
    return device != 0 ? kInvalidDevice : kInvalidValue;
  }
  std::snprintf(text, static_cast<std::size_t>(length), "%s", kBus);
  return kSuccess;
}

WARPTWIN_CALL CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  *device = 0;
  return std::strcmp(text, kBus) == 0 ? kSuccess : kInvalidDevice;
}

WARPTWIN_CALL CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  *bytes = static_cast<std::size_t>(Client::get().chip("memory_bytes"));
  return device == 0 ? kSuccess : kInvalidDevice;
}

// What is not in the table a simulated GPU does not have.
WARPTWIN_CALL CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
  if (device != 0) {
    return kInvalidDevice;
  }
  *value = 0;
  for (const DeviceAttribute& row : kAttributes) {
    if (row.number == attribute) {
      *value = static_cast<int>(row.chip != nullptr ? Client::get().chip(row.chip) : row.value);
    }
  }
  return kSuccess;
}

WARPTWIN_CALL CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  *major = static_cast<int>(Client::get().chip("major"));
  *minor = static_cast<int>(Client::get().chip("minor"));
  return device == 0 ? kSuccess : kInvalidDevice;
}

WARPTWIN_CALL CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  const Turn turn;
  ++Client::get().primary.uses;
  *context = &Client::get().primary;
  return device == 0 ? kSuccess : kInvalidDevice;
}

WARPTWIN_CALL CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return device == 0 ? kSuccess : kInvalidDevice;
}

WARPTWIN_CALL CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned) {
  return device == 0 ? kSuccess : kInvalidDevice;
}

WARPTWIN_CALL CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  *flags = 0;
  *active = Client::get().primary.uses > 0 ? 1 : 0;
  return device == 0 ? kSuccess : kInvalidDevice;
}

// One context stands for all: a program of several has them on one device.
WARPTWIN_CALL CUresult cuCtxCreate_v2(CUcontext* context, unsigned, CUdevice device) {
  current = &Client::get().primary;
  *context = current;
  return device == 0 ? kSuccess : kInvalidDevice;
}

WARPTWIN_CALL CUresult
cuCtxCreate_v3(CUcontext* context, void*, int, unsigned flags, CUdevice device) {
  return cuCtxCreate_v2(context, flags, device);
}

WARPTWIN_CALL CUresult cuCtxCreate_v4(CUcontext* context, void*, unsigned flags, CUdevice device) {
  return cuCtxCreate_v2(context, flags, device);
}

WARPTWIN_CALL CUresult cuCtxDestroy_v2(CUcontext) {
  current = nullptr;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuCtxPushCurrent_v2(CUcontext context) {
  current = context;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  if (context != nullptr) {
    *context = current;
  }
  return kSuccess;
}

WARPTWIN_CALL CUresult cuCtxSetCurrent(CUcontext context) {
  current = context;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = current;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuCtxGetId(CUcontext, unsigned long long* number) {
  *number = 1;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuCtxSetFlags(unsigned) {
  return kSuccess;
}

WARPTWIN_CALL CUresult cuCtxResetPersistingL2Cache() {
  return kSuccess;
}

WARPTWIN_CALL CUresult cuCtxGetFlags(unsigned* flags) {
  *flags = 0;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuCtxSynchronize() {
  const Turn turn;
  return synchronise("host_all");
}

WARPTWIN_CALL CUresult cuCtxSynchronize_v2(CUcontext) {
  return cuCtxSynchronize();
}

WARPTWIN_CALL CUresult cuCtxGetApiVersion(CUcontext, unsigned* version) {
  *version = kVersion;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuCtxGetLimit(std::size_t* value, int limit) {
  // The stack of a thread, the buffer of printf, the heap.
  constexpr std::size_t kLimits[] = {1024, std::size_t{1} << 20, std::size_t{8} << 20};
  if (limit < 0 || limit > 2) {
    return kInvalidValue;
  }
  *value = kLimits[limit];
  return kSuccess;
}

WARPTWIN_CALL CUresult cuCtxSetLimit(int limit, std::size_t) {
  return limit >= 0 && limit <= 2 ? kSuccess : kInvalidValue;
}

WARPTWIN_CALL CUresult cuCtxGetCacheConfig(int* config) {
  *config = 0;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuCtxSetCacheConfig(int) {
  return kSuccess;
}

WARPTWIN_CALL CUresult cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
  *can = 0;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = text_of(error).code == error ? text_of(error).text : nullptr;
  return *text != nullptr ? kSuccess : kInvalidValue;
}

WARPTWIN_CALL CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = text_of(error).code == error ? text_of(error).driver_name : nullptr;
  return *name != nullptr ? kSuccess : kInvalidValue;
}

// The static runtime asks the driver for tables that nobody has described.
WARPTWIN_CALL CUresult cuGetExportTable(const void**, const void*) {
  give_up(
      "the program is linked with the static CUDA runtime, nvcc's default, which cannot be served; "
      "link it with -cudart shared, in CMake with CMAKE_CUDA_RUNTIME_LIBRARY=Shared");
}

// `name` without a version is the latest one that there is.
WARPTWIN_CALL CUresult
cuGetProcAddress_v2(const char* name, void** function, int, std::uint64_t, unsigned* found) {
  Dl_info own{};
  dladdr(reinterpret_cast<const void*>(&cuInit), &own);
  void* library = dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  *function = nullptr;
  for (const char* suffix : {"_v4", "_v3", "_v2", ""}) {
    if (*function == nullptr) {
      *function = dlsym(library, (std::string{name} + suffix).c_str());
    }
  }
  if (library != nullptr) {
    dlclose(library);
  }
  if (found != nullptr) {
    *found = *function != nullptr ? 0 : 1;
  }
  return *function != nullptr ? kSuccess : kNotFound;
}

WARPTWIN_CALL CUresult cuGetProcAddress(const char* name,
                                        void** function,
                                        int version,
                                        std::uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

}  // extern "C"

}  // namespace warptwin::cuda
