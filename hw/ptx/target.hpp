/// What a function of the CUDA side is declared with.
///
/// Kernel text is `constexpr` and compiled for host and device, so everything it calls must exist
/// on both sides: functions here are `__host__ __device__` and have their bodies in `NV_IF_TARGET`.
/// A host that calls one of them does nothing.

#pragma once

#include <cstdint>
#include <nv/target>

#include "common/machine/types.hpp"

/// Inlined always: a machine that is handed on by reference must not end up in local memory.
#define WARPTWIN_HOST_DEVICE __host__ __device__ __forceinline__

/// Before a loop over registers, which have no run-time index. The host's compiler does not know
/// it.
#ifdef __CUDA_ARCH__
#define WARPTWIN_UNROLL _Pragma("unroll")
#else
#define WARPTWIN_UNROLL
#endif
