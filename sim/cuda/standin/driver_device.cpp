// The driver's stand-in: devices and errors.

#include <cstdio>
#include <cstring>

#include "sim/cuda/standin/client.hpp"

namespace warptwin::cuda {

namespace {

constexpr int kLastOfDevice = 147;  // of CUDA 13.0
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
    {40, nullptr, 3},            // copy engines
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
    {95, nullptr, 1},            // cooperative launches
    {97, "shared_optin", 0},     // shared memory of a block, where asked for
    {99, nullptr, 1},            // registers host memory
    {106, "sm_ctas", 0},         // blocks of an SM
    {111, nullptr, 1024},        // shared memory that the system takes of a block
    {120, nullptr, 1},           // clusters
    {115, nullptr, 1},           // memory pools
    {127, nullptr, 1},           // tensor maps
    {129, nullptr, 1},           // one space of function pointers
};

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
  if (attribute <= 0 || attribute > kLastOfDevice) {
    return kInvalidValue;
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

WARPTWIN_CALL CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  *can = 0;
  return device == 0 && peer == 0 ? kSuccess : kInvalidDevice;
}

WARPTWIN_CALL CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = text_of(error).code == error ? text_of(error).text : nullptr;
  return *text != nullptr ? kSuccess : kInvalidValue;
}

WARPTWIN_CALL CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = text_of(error).code == error ? text_of(error).driver_name : nullptr;
  return *name != nullptr ? kSuccess : kInvalidValue;
}

}  // extern "C"

}  // namespace warptwin::cuda
