// The driver's stand-in: contexts. There is one device, and what it holds is of all of them; each
// thread has a stack of those that were current.

#include <algorithm>
#include <memory>
#include <vector>

#include "sim/cuda/standin/client.hpp"

namespace warptwin::cuda {

namespace {

thread_local std::vector<CUcontext> stack;

CUcontext current() {
  return stack.empty() ? nullptr : stack.back();
}

CUresult set_current(CUcontext context) {
  if (!stack.empty()) {
    stack.pop_back();
  }
  if (context != nullptr) {
    stack.push_back(context);
  }
  return kSuccess;
}

}  // namespace

extern "C" {

WARPTWIN_CALL void warptwin_use_primary() {
  if (stack.empty()) {
    const Turn turn;
    Context& primary = Client::get().primary;
    primary.uses = std::max(primary.uses, 1);
    stack.push_back(&primary);
  }
}

WARPTWIN_CALL CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  const Turn turn;
  ++Client::get().primary.uses;
  *context = &Client::get().primary;
  return device == 0 ? kSuccess : kInvalidDevice;
}

WARPTWIN_CALL CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  const Turn turn;
  Context& primary = Client::get().primary;
  primary.uses = std::max(primary.uses - 1, 0);
  return device == 0 ? kSuccess : kInvalidDevice;
}

// What the device holds stays: a program that goes on behind a reset is rare, and then it has more
// than it may use, never less. One that has failed can use no device any more.
WARPTWIN_CALL CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  const Turn turn;
  Client::get().reset();
  return device == 0 ? kSuccess : kInvalidDevice;
}

WARPTWIN_CALL CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned) {
  return device == 0 ? kSuccess : kInvalidDevice;
}

WARPTWIN_CALL CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  const Turn turn;
  *flags = 0;
  *active = Client::get().primary.uses > 0 ? 1 : 0;
  return device == 0 ? kSuccess : kInvalidDevice;
}

WARPTWIN_CALL CUresult cuCtxCreate_v2(CUcontext* context, unsigned, CUdevice device) {
  if (device != 0) {
    return kInvalidDevice;
  }
  const Turn turn;
  *context = Client::get().contexts.emplace_back(std::make_unique<Context>()).get();
  stack.push_back(*context);
  return kSuccess;
}

WARPTWIN_CALL CUresult
cuCtxCreate_v3(CUcontext* context, void*, int, unsigned flags, CUdevice device) {
  return cuCtxCreate_v2(context, flags, device);
}

WARPTWIN_CALL CUresult cuCtxCreate_v4(CUcontext* context, void*, unsigned flags, CUdevice device) {
  return cuCtxCreate_v2(context, flags, device);
}

WARPTWIN_CALL CUresult cuCtxDestroy_v2(CUcontext context) {
  const Turn turn;
  if (context == nullptr) {
    return kInvalidValue;
  }
  if (std::erase_if(Client::get().contexts,
                    [&](const auto& each) { return each.get() == context; }) == 0) {
    return kInvalidContext;
  }
  return current() == context ? set_current(nullptr) : kSuccess;
}

WARPTWIN_CALL CUresult cuCtxPushCurrent_v2(CUcontext context) {
  if (context == nullptr) {
    return kInvalidContext;
  }
  stack.push_back(context);
  return kSuccess;
}

WARPTWIN_CALL CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  if (stack.empty()) {
    return kInvalidContext;
  }
  if (context != nullptr) {
    *context = current();
  }
  return set_current(nullptr);
}

WARPTWIN_CALL CUresult cuCtxSetCurrent(CUcontext context) {
  return set_current(context);
}

WARPTWIN_CALL CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = current();
  return kSuccess;
}

WARPTWIN_CALL CUresult cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return stack.empty() ? kInvalidContext : kSuccess;
}

WARPTWIN_CALL CUresult cuCtxGetId(CUcontext context, unsigned long long* number) {
  const CUcontext asked = context != nullptr ? context : current();
  *number = reinterpret_cast<std::uintptr_t>(asked);
  return asked != nullptr ? kSuccess : kInvalidContext;
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

}  // extern "C"

}  // namespace warptwin::cuda
