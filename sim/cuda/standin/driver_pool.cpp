// The driver's stand-in: memory pools. Memory is of the device whichever pool it is from, and what
// a pool keeps for later is never seen.

#include <algorithm>
#include <memory>

#include "sim/cuda/standin/client.hpp"

namespace warptwin::cuda {

namespace {

// CU_MEMPOOL_ATTR_...: three switches, the threshold of release, and four counts of bytes.
constexpr int kLastSwitch = 3;
constexpr int kThreshold = 4;
constexpr int kLastAttribute = 8;

Pool* the_default() {
  static Pool* pool = new Pool;  // NOLINT: outlives the program's destructors
  return pool;
}

Pool*& current_pool() {
  static Pool* pool = the_default();
  return pool;
}

bool is_pool(const Pool* pool) {
  const auto& pools = Client::get().pools;
  return pool == the_default() || std::any_of(pools.begin(), pools.end(), [&](const auto& each) {
           return each.get() == pool;
         });
}

}  // namespace

extern "C" {

WARPTWIN_CALL CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  const Turn turn;
  *pool = the_default();
  return device == 0 ? kSuccess : kInvalidDevice;
}

WARPTWIN_CALL CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  const Turn turn;
  *pool = current_pool();
  return device == 0 ? kSuccess : kInvalidDevice;
}

WARPTWIN_CALL CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  const Turn turn;
  if (device != 0 || !is_pool(pool)) {
    return device != 0 ? kInvalidDevice : kInvalidValue;
  }
  current_pool() = pool;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuMemPoolCreate(CUmemoryPool* pool, const PoolProperties* properties) {
  const Turn turn;
  constexpr int kDevice = 1;
  if (properties->handles != 0 || properties->location.type != kDevice) {
    missing("cuMemPoolCreate",
            __builtin_return_address(0),
            "a pool of the host's memory, or one that other processes share, is not simulated");
  }
  *pool = Client::get().pools.emplace_back(std::make_unique<Pool>()).get();
  return properties->location.id == 0 ? kSuccess : kInvalidDevice;
}

WARPTWIN_CALL CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  const Turn turn;
  if (!is_pool(pool) || pool == the_default()) {
    return kInvalidValue;
  }
  current_pool() = current_pool() == pool ? the_default() : current_pool();
  std::erase_if(Client::get().pools, [&](const auto& each) { return each.get() == pool; });
  return kSuccess;
}

WARPTWIN_CALL CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t) {
  const Turn turn;
  return is_pool(pool) ? kSuccess : kInvalidValue;
}

WARPTWIN_CALL CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void* value) {
  const Turn turn;
  if (!is_pool(pool) || attribute < 1 || attribute > kLastAttribute) {
    return kInvalidValue;
  }
  if (attribute <= kLastSwitch) {
    *static_cast<int*>(value) = 1;
    return kSuccess;
  }
  std::uint64_t bytes = 0;  // of all pools together
  for (const auto& [unused, size] : Client::get().allocations) {
    bytes += size;
  }
  *static_cast<std::uint64_t*>(value) = attribute == kThreshold ? pool->threshold : bytes;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void* value) {
  const Turn turn;
  if (!is_pool(pool) || attribute < 1 || attribute > kLastAttribute) {
    return kInvalidValue;
  }
  if (attribute == kThreshold) {
    pool->threshold = *static_cast<const std::uint64_t*>(value);
  }
  return kSuccess;
}

WARPTWIN_CALL CUresult cuMemPoolSetAccess(CUmemoryPool pool, const void*, std::size_t) {
  const Turn turn;
  return is_pool(pool) ? kSuccess : kInvalidValue;
}

WARPTWIN_CALL CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address,
                                               std::size_t bytes,
                                               CUmemoryPool pool,
                                               CUstream stream) {
  const Turn turn;
  return is_pool(pool) ? cuMemAllocAsync(address, bytes, stream) : kInvalidValue;
}

}  // extern "C"

}  // namespace warptwin::cuda
