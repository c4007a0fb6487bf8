/// The functions of the driver's stand-in that the runtime's is made of.

#pragma once

#include "sim/cuda/standin/abi.hpp"

namespace warptwin::cuda {

struct ErrorText {
  CUresult code;
  const char* runtime_name;
  const char* driver_name;
  const char* text;
};

extern "C" {
CUresult cuLibraryLoadData(CUlibrary*, const void*, int*, void**, unsigned, int*, void**, unsigned);
CUresult cuLibraryLoadFromFile(
    CUlibrary*, const char*, int*, void**, unsigned, int*, void**, unsigned);
CUresult cuLibraryUnload(CUlibrary);
CUresult cuLibraryGetKernelCount(unsigned*, CUlibrary);
CUresult cuLibraryEnumerateKernels(CUkernel*, unsigned, CUlibrary);
CUresult cuLibraryGetKernel(CUkernel*, CUlibrary, const char*);
CUresult cuLibraryGetGlobal(CUdeviceptr*, std::size_t*, CUlibrary, const char*);
CUresult cuDeviceGetName(char*, int, CUdevice);
CUresult cuDeviceGetAttribute(int*, int, CUdevice);
CUresult cuDeviceTotalMem_v2(std::size_t*, CUdevice);
CUresult cuFuncGetAttribute(int*, int, CUfunction);
CUresult cuFuncSetAttribute(CUfunction, int, int);
CUresult cuKernelGetParamInfo(CUkernel, std::size_t, std::size_t*, std::size_t*);
CUresult cuKernelGetName(const char**, CUkernel);
CUresult cuLaunchKernelEx(const DriverLaunchConfig*, CUfunction, void**, void**);
CUresult cuLaunchHostFunc(CUstream, CUhostFn, void*);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int*, CUfunction, int, std::size_t);
CUresult cuOccupancyMaxActiveClusters(int*, CUfunction, const DriverLaunchConfig*);
CUresult cuOccupancyMaxPotentialClusterSize(int*, CUfunction, const DriverLaunchConfig*);
CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t*, CUfunction, int, int);
CUresult cuCtxSynchronize();
CUresult cuDevicePrimaryCtxReset_v2(CUdevice);
CUresult cuDeviceCanAccessPeer(int*, CUdevice, CUdevice);
CUresult cuDeviceGetByPCIBusId(CUdevice*, const char*);
CUresult cuCtxGetLimit(std::size_t*, int);
CUresult cuCtxSetLimit(int, std::size_t);
CUresult cuMemAlloc_v2(CUdeviceptr*, std::size_t);
CUresult cuMemAllocPitch_v2(CUdeviceptr*, std::size_t*, std::size_t, std::size_t, unsigned);
CUresult cuMemAllocAsync(CUdeviceptr*, std::size_t, CUstream);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr*, std::size_t, CUmemoryPool, CUstream);
CUresult cuMemFree_v2(CUdeviceptr);
CUresult cuMemFreeAsync(CUdeviceptr, CUstream);
CUresult cuMemPrefetchAsync_v2(CUdeviceptr, std::size_t, MemLocation, unsigned, CUstream);
CUresult cuStreamAttachMemAsync(CUstream, CUdeviceptr, std::size_t, unsigned);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool*, CUdevice);
CUresult cuDeviceGetMemPool(CUmemoryPool*, CUdevice);
CUresult cuDeviceSetMemPool(CUdevice, CUmemoryPool);
CUresult cuMemPoolCreate(CUmemoryPool*, const PoolProperties*);
CUresult cuMemPoolDestroy(CUmemoryPool);
CUresult cuMemPoolTrimTo(CUmemoryPool, std::size_t);
CUresult cuMemPoolGetAttribute(CUmemoryPool, int, void*);
CUresult cuMemPoolSetAttribute(CUmemoryPool, int, void*);
CUresult cuMemPoolSetAccess(CUmemoryPool, const void*, std::size_t);
CUresult cuMemGetInfo_v2(std::size_t*, std::size_t*);
CUresult cuMemHostAlloc(void**, std::size_t, unsigned);
CUresult cuMemAllocManaged(CUdeviceptr*, std::size_t, unsigned);
CUresult cuMemFreeHost(void*);
CUresult cuMemHostRegister_v2(void*, std::size_t, unsigned);
CUresult cuMemHostUnregister(void*);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr*, void*, unsigned);
CUresult cuMemHostGetFlags(unsigned*, void*);
CUresult cuMemcpy(CUdeviceptr, CUdeviceptr, std::size_t);
CUresult cuMemcpyAsync(CUdeviceptr, CUdeviceptr, std::size_t, CUstream);
CUresult cuMemcpy3D_v2(const Copy3d*);
CUresult cuMemcpy3DAsync_v2(const Copy3d*, CUstream);
CUresult cuMemsetD8_v2(CUdeviceptr, unsigned char, std::size_t);
CUresult cuMemsetD8Async(CUdeviceptr, unsigned char, std::size_t, CUstream);
CUresult cuMemsetD2D8_v2(CUdeviceptr, std::size_t, unsigned char, std::size_t, std::size_t);
CUresult cuMemsetD2D8Async(
    CUdeviceptr, std::size_t, unsigned char, std::size_t, std::size_t, CUstream);
CUresult cuPointerGetAttribute(void*, int, CUdeviceptr);
CUresult cuStreamCreateWithPriority(CUstream*, unsigned, int);
CUresult cuStreamDestroy_v2(CUstream);
CUresult cuStreamSynchronize(CUstream);
CUresult cuStreamQuery(CUstream);
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned);
CUresult cuStreamAddCallback(CUstream, CUstreamCallback, void*, unsigned);
CUresult cuStreamGetId(CUstream, unsigned long long*);
CUresult cuStreamGetAttribute(CUstream, unsigned, void*);
CUresult cuStreamSetAttribute(CUstream, unsigned, const void*);
CUresult cuStreamCopyAttributes(CUstream, CUstream);
CUresult cuStreamGetPriority(CUstream, int*);
CUresult cuStreamGetFlags(CUstream, unsigned*);
CUresult cuEventCreate(CUevent*, unsigned);
CUresult cuEventDestroy_v2(CUevent);
CUresult cuEventRecord(CUevent, CUstream);
CUresult cuEventSynchronize(CUevent);
CUresult cuEventQuery(CUevent);
CUresult cuEventElapsedTime_v2(float*, CUevent, CUevent);
CUresult cuGetProcAddress_v2(const char*, void**, int, std::uint64_t, unsigned*);
}

}  // namespace warptwin::cuda

// What the runtime's stand-in asks of the driver's beside the driver's own functions.
extern "C" {
void warptwin_missing(const char* name, const void* caller, const char* why);
const warptwin::cuda::ErrorText* warptwin_error_text(int error);
int warptwin_sticky_error();
/// Makes the primary context current where the thread has none, as the runtime's calls do.
void warptwin_use_primary();
int warptwin_is_device(const void* address);
}
