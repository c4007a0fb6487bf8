/// What a function of the CUDA side is declared with.
///
/// Kernel text is `constexpr` and compiled for host and device, so everything it calls must exist on
/// both sides: functions here are `__host__ __device__` and have their bodies in `NV_IF_TARGET`. A host
/// that calls one of them does nothing.

#pragma once

#include <cstdint>

#include <nv/target>

#include "common/machine/types.hpp"

/// Inlined always: a machine that is handed on by reference must not end up in local memory.
#define WARPTWIN_HOST_DEVICE __host__ __device__ __forceinline__

/// Called where a text asks sm_90a for what it cannot do. It is declared and never defined: a call
/// that is not dead code ends in "Unresolved extern function" when the kernel is assembled.
extern "C" __device__ void warptwin_cta_group_2_is_not_supported_before_sm_100a();
