// The driver's stand-in: memory of the device and the host.

#include <cstring>
#include <sys/mman.h>

#include "sim/cuda/standin/client.hpp"

namespace warptwin::cuda {

namespace {

constexpr std::size_t kPage = 4096;

// Where host memory that kernels see is mapped: away from the windows of shared and local memory.
CUresult map_host(void** address, std::size_t bytes, bool managed) {
  static std::uint64_t next = std::uint64_t{0x4000} << 32;
  if (bytes == 0) {
    return kInvalidValue;
  }
  const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
  void* place = ::mmap(reinterpret_cast<void*>(next),  // NOLINT
                       whole,
                       PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                       -1,
                       0);
  if (place == MAP_FAILED) {
    return kOutOfMemory;
  }
  next += whole + kPage;
  Client& client = Client::get();
  const auto at = reinterpret_cast<std::uint64_t>(place);
  client.ask({{"do", "attach"}, {"address", at}, {"bytes", bytes}});
  client.host_ranges[at] = {bytes, managed, true};
  *address = place;
  return client.sticky();
}

CUresult free_host(void* address) {
  Client& client = Client::get();
  const auto found = client.host_ranges.find(reinterpret_cast<std::uint64_t>(address));
  if (found == client.host_ranges.end()) {
    return address == nullptr ? kSuccess : kInvalidValue;
  }
  client.result_of(client.ask({{"do", "free"}, {"address", found->first}}));
  if (found->second.mapped) {
    ::munmap(address, (found->second.bytes + kPage - 1) / kPage * kPage);
  }
  client.host_ranges.erase(found);
  return client.sticky();
}

CUresult allocate(CUdeviceptr* address, std::size_t bytes, nlohmann::json request) {
  Client& client = Client::get();
  if (client.sticky() != kSuccess || bytes == 0) {
    return bytes == 0 ? kInvalidValue : client.sticky();
  }
  request["do"] = "allocate";
  request["bytes"] = bytes;
  const Message answer = client.ask(request);
  *address = answer.header.value("address", CUdeviceptr{0});
  if (*address == 0) {
    return kOutOfMemory;
  }
  client.allocations[*address] = bytes;
  return kSuccess;
}

CUresult release(CUdeviceptr address, nlohmann::json request) {
  Client& client = Client::get();
  client.allocations.erase(address);
  request["do"] = "free";
  request["address"] = address;
  return client.result_of(client.ask(request));
}

}  // namespace

extern "C" {

WARPTWIN_CALL CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  const Turn turn;
  return allocate(address, bytes, nlohmann::json::object());
}

WARPTWIN_CALL CUresult cuMemFree_v2(CUdeviceptr address) {
  const Turn turn;
  if (address == 0 || Client::get().sticky() != kSuccess) {
    return Client::get().sticky();
  }
  if (Client::get().host_ranges.contains(address)) {
    return free_host(reinterpret_cast<void*>(address));  // NOLINT: managed
  }
  return release(address, nlohmann::json::object());
}

WARPTWIN_CALL CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  const Turn turn;
  return is_stream(stream) ? allocate(address, bytes, {{"stream", number_of(stream)}})
                           : kInvalidHandle;
}

WARPTWIN_CALL CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  const Turn turn;
  if (!is_stream(stream)) {
    return kInvalidHandle;
  }
  return address == 0 ? kSuccess : release(address, {{"stream", number_of(stream)}});
}

WARPTWIN_CALL CUresult cuMemAllocPitch_v2(
    CUdeviceptr* address, std::size_t* pitch, std::size_t width, std::size_t height, unsigned) {
  constexpr std::size_t kPitch = 512;
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return cuMemAlloc_v2(address, *pitch * height);
}

WARPTWIN_CALL CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  const Turn turn;
  Client& client = Client::get();
  *total = static_cast<std::size_t>(client.chip("memory_bytes"));
  std::size_t used = 0;
  for (const auto& [unused, bytes] : client.allocations) {
    used += bytes;
  }
  *free = *total - used;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuMemGetAddressRange_v2(CUdeviceptr* base,
                                               std::size_t* bytes,
                                               CUdeviceptr address) {
  const Turn turn;
  const auto& all = Client::get().allocations;
  auto found = all.upper_bound(address);
  if (found == all.begin() || address - (--found)->first >= found->second) {
    return kNotFound;
  }
  if (base != nullptr) {
    *base = found->first;
  }
  if (bytes != nullptr) {
    *bytes = found->second;
  }
  return kSuccess;
}

WARPTWIN_CALL CUresult cuMemAllocHost_v2(void** address, std::size_t bytes) {
  const Turn turn;
  return map_host(address, bytes, false);
}

WARPTWIN_CALL CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  const Turn turn;
  return map_host(address, bytes, false);
}

WARPTWIN_CALL CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned) {
  const Turn turn;
  void* place = nullptr;
  const CUresult error = map_host(&place, bytes, true);
  *address = reinterpret_cast<CUdeviceptr>(place);
  return error;
}

WARPTWIN_CALL CUresult cuMemFreeHost(void* address) {
  const Turn turn;
  return free_host(address);
}

// Kernels see registered memory at its own address, which is no window of another space.
WARPTWIN_CALL CUresult cuMemHostRegister_v2(void* address, std::size_t bytes, unsigned) {
  const Turn turn;
  const auto at = reinterpret_cast<std::uint64_t>(address);
  constexpr std::uint64_t kWindows = std::uint64_t{0x7c00} << 32;
  constexpr std::uint64_t kWindowsEnd = std::uint64_t{0x7f01} << 32;
  if (address == nullptr || bytes == 0 || at % 4 != 0 ||
      (at < kWindowsEnd && at + bytes > kWindows)) {
    return kInvalidValue;
  }
  Client& client = Client::get();
  if (client.host_ranges.contains(at)) {
    return 712;  // CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
  }
  client.ask({{"do", "attach"}, {"address", at}, {"bytes", bytes}});
  client.host_ranges[at] = {bytes, false, false};
  return client.sticky();
}

WARPTWIN_CALL CUresult cuMemHostUnregister(void* address) {
  const Turn turn;
  const auto& ranges = Client::get().host_ranges;
  return ranges.contains(reinterpret_cast<std::uint64_t>(address)) ? free_host(address)
                                                                   : kNotRegistered;
}

WARPTWIN_CALL CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device, void* host, unsigned) {
  const Turn turn;
  *device = reinterpret_cast<CUdeviceptr>(host);
  return Client::get().host_ranges.contains(*device) ? kSuccess : kInvalidValue;
}

WARPTWIN_CALL CUresult cuMemHostGetFlags(unsigned* flags, void*) {
  *flags = 2;  // mapped
  return kSuccess;
}

// What moves managed memory changes no value.
WARPTWIN_CALL CUresult
cuMemPrefetchAsync_v2(CUdeviceptr, std::size_t, MemLocation, unsigned, CUstream stream) {
  const Turn turn;
  return is_stream(stream) ? Client::get().sticky() : kInvalidHandle;
}

WARPTWIN_CALL CUresult cuMemAdvise_v2(CUdeviceptr, std::size_t, int, MemLocation) {
  return Client::get().sticky();
}

WARPTWIN_CALL CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr, std::size_t, unsigned) {
  const Turn turn;
  return is_stream(stream) ? Client::get().sticky() : kInvalidHandle;
}

// CU_POINTER_ATTRIBUTE_...: what is asked of one, others are not there.
WARPTWIN_CALL CUresult cuPointerGetAttribute(void* data, int attribute, CUdeviceptr address) {
  const Turn turn;
  const Client& client = Client::get();
  const bool device = is_device(address);
  bool host = false;
  bool managed = false;
  for (const auto& [first, range] : client.host_ranges) {
    if (address >= first && address - first < range.bytes) {
      host = true;
      managed = range.managed;
    }
  }
  if (!device && !host) {
    return kInvalidValue;
  }
  switch (attribute) {
    case 1:  // the context
      *static_cast<const void**>(data) = &client.primary;
      return kSuccess;
    case 2:  // the kind of memory: 1 host, 2 device
      *static_cast<unsigned*>(data) = device || managed ? 2 : 1;
      return kSuccess;
    case 3:  // the pointers
    case 4:
      *static_cast<CUdeviceptr*>(data) = address;
      return attribute == 4 && device ? kInvalidValue : kSuccess;
    case 8:  // managed
      *static_cast<unsigned*>(data) = managed ? 1 : 0;
      return kSuccess;
    case 9:  // the device
      *static_cast<int*>(data) = 0;
      return kSuccess;
    default:
      missing("cuPointerGetAttribute with this attribute", __builtin_return_address(0));
  }
}

}  // extern "C"

}  // namespace warptwin::cuda
