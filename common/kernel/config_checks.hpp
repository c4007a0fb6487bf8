/// What the hardware can do, checked before a launch. Host code. Each refusal says what to do
/// instead.

#pragma once

#include <cstdint>
#include <string>

#include "common/kernel/scenario.hpp"
#include "common/machine/shared_layout.hpp"
#include "common/machine/types.hpp"

namespace warptwin {

inline void require(bool holds, const std::string& otherwise) {
  if (!holds) {
    throw ConfigError(otherwise);
  }
}

/// TMA needs rows that are whole 16-byte units.
inline void check_row_pitch(const char* parameter,
                            std::uint32_t elements,
                            std::uint32_t element_bytes) {
  const std::uint32_t unit = 16 / element_bytes;
  require(elements % unit == 0,
          std::string{parameter} + "=" + std::to_string(elements) + " gives rows of " +
              std::to_string(elements * element_bytes) +
              " bytes, and TMA needs a multiple of 16; use " +
              std::to_string(align_up(elements, unit)));
}

/// The shapes of a dense tcgen05.mma in one CTA (PTX ISA, "tcgen05.mma": kinds f16, tf32, f8f6f4).
inline void check_mma_shape(std::uint32_t m, std::uint32_t n) {
  const std::string shape = "an MMA of " + std::to_string(m) + "x" + std::to_string(n);
  require(m == 64 || m == 128, shape + " does not exist; tile_m is 64 or 128");
  const std::uint32_t step = m == 128 ? 16 : 8;
  require(
      n >= step && n <= 256 && n % step == 0,
      shape + " does not exist; tile_n is a multiple of " + std::to_string(step) + " up to 256");
}

/// The tiles that an input pipeline can hold, one MMA can multiply and `AccumTile` can read.
inline void check_tile_shape(std::uint32_t m,
                             std::uint32_t n,
                             std::uint32_t k,
                             std::uint32_t element_bytes) {
  check_mma_shape(m, n);
  require(m == 128,
          "tile_m=64 spreads an accumulator over half the lanes, which AccumTile does not read; "
          "use tile_m=128");
  const std::uint32_t row_bytes = k * element_bytes;
  require(row_bytes == 32 || row_bytes == 64 || row_bytes == 128,
          "tile_k=" + std::to_string(k) + " gives rows of " + std::to_string(row_bytes) +
              " bytes, and a row is one swizzle span; use tile_k=" +
              std::to_string(32 / element_bytes) + ", " + std::to_string(64 / element_bytes) +
              " or " + std::to_string(128 / element_bytes));
}

inline void check_tmem_columns(std::uint32_t stages, std::uint32_t columns) {
  require(stages * columns <= kTmemColumns,
          "accum_stages=" + std::to_string(stages) + " accumulators of " + std::to_string(columns) +
              " columns need more than the 512 columns of tensor memory; use accum_stages<=" +
              std::to_string(kTmemColumns / columns));
}

/// The shared memory of a kernel's storage, in bytes.
template <class Storage, class Extents>
constexpr std::uint32_t shared_bytes(const Extents& extents) {
  SharedLayout layout{SharedAddress{}};
  const Storage storage{layout, extents};
  static_cast<void>(storage);
  return layout.bytes();
}

/// Refuses a `stages` that does not fit, and says how many do.
template <class Storage, class Extents>
void check_stages_fit(Extents extents) {
  const std::uint32_t wanted = shared_bytes<Storage>(extents);
  if (wanted <= kSharedBytesPerCtaMax) {
    return;
  }
  const std::uint32_t stages = extents.stages;
  std::uint32_t fitting = stages;
  while (fitting > 0 && shared_bytes<Storage>(extents) > kSharedBytesPerCtaMax) {
    extents.stages = --fitting;
  }
  throw ConfigError("stages=" + std::to_string(stages) + " need " + std::to_string(wanted) +
                    " bytes of shared memory, and a CTA has " +
                    std::to_string(kSharedBytesPerCtaMax) +
                    (fitting > 0 ? "; use stages<=" + std::to_string(fitting)
                                 : "; no stage fits, use smaller tiles"));
}

}  // namespace warptwin
