/// What the hardware can do, checked before a launch. Host code. Each refusal says what to do
/// instead.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "common/kernel/scenario.hpp"
#include "common/machine/shared_layout.hpp"
#include "common/machine/shared_tile.hpp"
#include "common/machine/types.hpp"
#include "common/machine/umma_descriptor.hpp"
#include "common/sync/cluster_shape.hpp"

namespace warptwin {

/// Throws ConfigError with `otherwise` unless `holds`.
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

/// The shapes of a dense tcgen05.mma in one CTA or a pair (PTX ISA, "tcgen05.mma": kinds f16, tf32,
/// f8f6f4, i8; of the last 24 columns exist besides).
inline void check_mma_shape(std::uint32_t m,
                            std::uint32_t n,
                            CtaGroup group = CtaGroup::kOne,
                            MmaKind kind = MmaKind::kF16) {
  const std::string shape = "an MMA of " + std::to_string(m) + "x" + std::to_string(n);
  const std::uint32_t half = 64 * ctas_in(group);
  require(m == half || m == 2 * half,
          shape + " does not exist; tile_m is " + std::to_string(half) + " or " +
              std::to_string(2 * half) +
              "; use tile_m=" + std::to_string(2 * m < 3 * half ? half : 2 * half));
  const bool whole = kind == MmaKind::kI8 && n != 8;
  const std::uint32_t step = whole ? 16 * ctas_in(group) : m == 64 ? 8 : 16;
  require(n >= step && n <= 256 && n % step == 0,
          shape + " does not exist; tile_n is a multiple of " + std::to_string(step) +
              " up to 256; use tile_n=" +
              std::to_string(std::clamp((n + step / 2) / step * step, step, 256U)));
}

/// A row of a tile in an input pipeline is one swizzle span.
inline void check_tile_k(std::uint32_t k, std::uint32_t element_bytes) {
  const std::uint32_t row_bytes = k * element_bytes;
  require(row_bytes == 32 || row_bytes == 64 || row_bytes == 128,
          "tile_k=" + std::to_string(k) + " gives rows of " + std::to_string(row_bytes) +
              " bytes, and a row is one swizzle span; use tile_k=" +
              std::to_string(32 / element_bytes) + ", " + std::to_string(64 / element_bytes) +
              " or " + std::to_string(128 / element_bytes));
}

/// TMA stores boxes whose rows are whole 16-byte units.
inline void check_box_columns(std::uint32_t tile_n, std::uint32_t columns, std::uint32_t bytes) {
  require(columns * bytes % 16 == 0,
          "tile_n=" + std::to_string(tile_n) + " is stored in boxes of " +
              std::to_string(columns * bytes) +
              " bytes, and TMA stores multiples of 16; use a tile_n of more columns");
}

/// The tiles that warpgroups can multiply by wgmma, 64 rows each (PTX ISA, "wgmma.mma_async").
inline void check_wgmma_tile(std::uint32_t m,
                             std::uint32_t n,
                             std::uint32_t k,
                             std::uint32_t element_bytes,
                             MmaKind kind = MmaKind::kF16,
                             bool tall = false) {
  require(m == 64 || m == 128 || (tall && m == 256),
          "tile_m=" + std::to_string(m) +
              (tall ? ": one or two warpgroups multiply 64 rows each, or two of them 128; use "
                      "tile_m=64, 128 or 256"
                    : ": a warpgroup multiplies 64 rows, and there are one or two; use tile_m=64 "
                      "or 128"));
  const std::uint32_t step = kind == MmaKind::kI8 && n > 32 ? 16 : 8;
  require(n % step == 0 && n >= 8 && n <= 256,
          "a wgmma of " + std::to_string(n) + " columns does not exist; tile_n is a multiple of " +
              std::to_string(step) + " up to 256; use tile_n=" +
              std::to_string(std::clamp((n + step / 2) / step * step, 8U, 256U)));
  check_tile_k(k, element_bytes);
}

/// The stages of a ring whose consumer frees them one step behind.
inline void check_wgmma_stages(std::uint32_t stages, std::uint32_t in_flight) {
  require(stages > in_flight,
          "in_flight=1 holds a stage while the next is waited for; use stages=2 or more");
}

/// For an epilogue that reads a row of D in every lane.
inline void check_rows_fill_lanes(std::uint32_t m, CtaGroup group = CtaGroup::kOne) {
  const std::uint32_t rows = kTmemLanes * ctas_in(group);
  require(m == rows,
          "tile_m=" + std::to_string(m) +
              " gives an accumulator less than a row for each lane, which this epilogue does not "
              "read; use tile_m=" +
              std::to_string(rows));
}

/// The tiles that an input pipeline can hold, one MMA can multiply and `AccumTile` can read a row
/// of in every lane.
inline void check_tile_shape(std::uint32_t m,
                             std::uint32_t n,
                             std::uint32_t k,
                             std::uint32_t element_bytes,
                             CtaGroup group = CtaGroup::kOne) {
  check_mma_shape(m, n, group);
  check_rows_fill_lanes(m, group);
  check_tile_k(k, element_bytes);
}

/// The clusters that can be launched, and whose CTAs can each copy a slice of a shared tile: whole
/// rows, from a multiple of 128 bytes on, which is where TMA can write. A slice may begin in the
/// middle of a swizzle pattern: TMA swizzles by the address. `rows_a` and `rows_b` are one CTA's.
inline void check_cluster(const ClusterShape& cluster,
                          std::uint32_t rows_a,
                          std::uint32_t rows_b,
                          std::uint32_t row_bytes) {
  constexpr std::uint32_t kCopyAlignment = alignment_of(Swizzle::kNone);
  const std::string slices_text =
      row_bytes >= kCopyAlignment ? "whole rows"
                                  : "multiples of " + std::to_string(kCopyAlignment / row_bytes) +
                                        " rows of " + std::to_string(row_bytes) + " bytes";
  const std::string shape =
      "a cluster of " + std::to_string(cluster.m) + "x" + std::to_string(cluster.n);
  require(cluster.m % cluster.group_ctas() == 0,
          shape + " is not made of pairs along M; use cluster_m=" + std::to_string(cluster.m + 1));
  require(cluster.ctas() <= 16,
          shape + " has more than 16 CTAs; use " +
              (cluster.m > 16 ? "cluster_m<=16" : "cluster_n<=" + std::to_string(16 / cluster.m)));
  // `unit` CTAs along `parameter` are one sharer.
  const auto check_slices = [&](const char* operand,
                                std::uint32_t rows,
                                std::uint32_t sharers,
                                const char* parameter,
                                std::uint32_t unit) {
    const auto fits = [&](std::uint32_t slices) {
      return rows % slices == 0 && rows / slices * row_bytes % kCopyAlignment == 0;
    };
    std::uint32_t fitting = sharers;
    while (fitting > 1 && !fits(fitting)) {
      --fitting;
    }
    require(fits(sharers),
            shape + " cuts the " + std::to_string(rows) + " rows of " + operand + " in " +
                std::to_string(sharers) + " slices, which must be " + slices_text + "; use " +
                parameter + "=" + std::to_string(fitting * unit) + ", or a larger tile");
  };
  check_slices("A", rows_a, cluster.slice(Operand::kA, 0).count, "cluster_n", 1);
  check_slices("B", rows_b, cluster.slice(Operand::kB, 0).count, "cluster_m", cluster.group_ctas());
}

/// The accumulators that tensor memory has room for.
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

/// A kernel's storage, whose extents can be others.
struct StorageChoice {
  const void* extents = nullptr;  // the kernel's
  std::uint32_t stages = 0;       // theirs
  std::uint32_t tile_n = 0;       // 0: the kernel has no such extent
  /// The bytes that it takes with so many stages, and columns of a tile where it has them.
  std::uint32_t (*bytes)(const void* extents, std::uint32_t stages, std::uint32_t tile_n) = nullptr;
  /// Whether a CTA has that much shared memory.
  bool fits(std::uint32_t with_stages, std::uint32_t with_tile_n) const {
    return bytes(extents, with_stages, with_tile_n) <= kSharedBytesPerCtaMax;
  }
};

/// Refuses `stages` that do not fit, and says how many do. Apart from the kernels, of which there
/// are many.
inline void check_stages_fit(const StorageChoice& storage) {
  if (storage.fits(storage.stages, storage.tile_n)) {
    return;
  }
  std::uint32_t fitting = storage.stages;
  while (fitting > 0 && !storage.fits(fitting, storage.tile_n)) {
    --fitting;
  }
  std::string advice = "; use stages<=" + std::to_string(fitting);
  if (fitting == 0) {
    advice = "; no stage fits, use smaller tiles";
    for (std::uint32_t n = storage.tile_n == 0 ? 0 : (storage.tile_n - 1) / 16 * 16; n != 0;
         n -= 16) {
      if (storage.fits(1, n)) {
        advice = "; no stage fits, use stages=1 and tile_n<=" + std::to_string(n);
        break;
      }
    }
  }
  const std::uint32_t wanted = storage.bytes(storage.extents, storage.stages, storage.tile_n);
  throw ConfigError("stages=" + std::to_string(storage.stages) + " need " + std::to_string(wanted) +
                    " bytes of shared memory, and a CTA has " +
                    std::to_string(kSharedBytesPerCtaMax) + advice);
}

/// The same for the storage of a kernel with these extents.
template <class Storage, class Extents>
void check_stages_fit(const Extents& extents) {
  constexpr bool kHasColumns = requires(Extents other) {
    other.tile_n = 1U;
  };
  StorageChoice storage;
  storage.extents = &extents;
  storage.stages = extents.stages;
  if constexpr (kHasColumns) {
    storage.tile_n = extents.tile_n;
  }
  storage.bytes = [](const void* own, std::uint32_t stages, std::uint32_t tile_n) {
    Extents other = *static_cast<const Extents*>(own);
    other.stages = stages;
    if constexpr (kHasColumns) {
      other.tile_n = tile_n;
    } else {
      static_cast<void>(tile_n);
    }
    return shared_bytes<Storage>(other);
  };
  check_stages_fit(storage);
}

}  // namespace warptwin
