/// How many CTAs of a kernel an SM runs at a time, by the rules of the hardware.
///
/// Source: cuda_occupancy.h of CUDA 13.0, compute capability 9.0 and 10.0. Tensor memory is no part
/// of it: a CTA that finds none free starts, and waits in its tcgen05.alloc.

#pragma once

#include <cstdint>
#include <string>

#include "sim/timed/chip.hpp"

namespace warptwin::sim {

/// What one CTA takes of an SM.
struct CtaNeeds {
  std::uint32_t shared_bytes = 0;          // that its launch asks for
  std::uint32_t threads = 0;               // whole warps
  std::uint32_t registers_per_thread = 0;  // 0: not known, and not counted
  std::uint32_t named_barriers = 0;        // from 0 to the highest one in use
};

/// What an SM has, and how many there are. As a B200's where nothing else is said: see the chip.
struct SmLimits {
  std::uint32_t shared_bytes = 233472;
  std::uint32_t shared_per_cta = 1024;  // beside what a CTA asks for
  std::uint32_t threads = 2048;
  std::uint32_t registers = 65536;
  std::uint32_t named_barriers = 64;
  std::uint32_t ctas = 32;
  std::uint32_t sms = 148;

  static SmLimits of(const Chip& chip);
};

struct Occupancy {
  std::uint32_t ctas_per_sm = 0;  // 0: not one fits
  std::string limited_by;         // what allows no further CTA
};

Occupancy occupancy(const CtaNeeds& needs, const SmLimits& limits);

}  // namespace warptwin::sim
