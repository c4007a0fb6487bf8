/// What a lane of a warp has in registers, as kernel text knows it.

#pragma once

#include <bit>
#include <cstdint>

#include "common/machine/machine.hpp"

#include "hw/ptx/convert.hpp"
#include "hw/ptx/warp.hpp"
#include "hw/ptx/wgmma.hpp"

namespace warptwin::hw {

/// One lane's `kRegisters` 32-bit registers: its row of as many columns.
template <std::uint32_t kRegisters>
struct CudaFragment {
  std::uint32_t words[kRegisters];

  /// Sets every value.
  WARPTWIN_HOST_DEVICE void fill(float value) {
    WARPTWIN_UNROLL for (std::uint32_t& word : words) {
      word = std::bit_cast<std::uint32_t>(value);
    }
  }
  /// Replaces every value by `f(value)`.
  template <class F>
  WARPTWIN_HOST_DEVICE void transform(F&& f) {
    WARPTWIN_UNROLL for (std::uint32_t& word : words) {
      word = std::bit_cast<std::uint32_t>(static_cast<float>(f(std::bit_cast<float>(word))));
    }
  }
  /// Replaces every value by `f(value, the other fragment's)`.
  template <class F>
  WARPTWIN_HOST_DEVICE void combine(const CudaFragment& other, F&& f) {
    WARPTWIN_UNROLL for (std::uint32_t i = 0; i < kRegisters; ++i) {
      const auto value = std::bit_cast<float>(words[i]);
      const auto with = std::bit_cast<float>(other.words[i]);
      words[i] = std::bit_cast<std::uint32_t>(static_cast<float>(f(value, with)));
    }
  }
  /// Replaces every value by `f(value, its column)`.
  template <class F>
  WARPTWIN_HOST_DEVICE void transform_columns(F&& f) {
    WARPTWIN_UNROLL for (std::uint32_t i = 0; i < kRegisters; ++i) {
      words[i] = std::bit_cast<std::uint32_t>(f(std::bit_cast<float>(words[i]), i));
    }
  }
  /// Replaces every value by `f(value, its row, its column)`: the lane is the row.
  template <class F>
  WARPTWIN_HOST_DEVICE void transform_places(F&& f) {
    const std::uint32_t row = ptx::lane_index();
    WARPTWIN_UNROLL for (std::uint32_t i = 0; i < kRegisters; ++i) {
      words[i] = std::bit_cast<std::uint32_t>(f(std::bit_cast<float>(words[i]), row, i));
    }
  }
  /// Replaces every value by `f(value, the value of its row)`.
  template <class F>
  WARPTWIN_HOST_DEVICE void combine_rows(const CudaFragment<1>& rows, F&& f) {
    const auto of_row = std::bit_cast<float>(rows.words[0]);
    WARPTWIN_UNROLL for (std::uint32_t& word : words) {
      word = std::bit_cast<std::uint32_t>(f(std::bit_cast<float>(word), of_row));
    }
  }
  /// Replaces the value of the row by `f(value, x)`, for each x of the row in turn.
  template <class F>
  WARPTWIN_HOST_DEVICE void fold_into(CudaFragment<1>& rows, F&& f) const {
    auto value = std::bit_cast<float>(rows.words[0]);
    WARPTWIN_UNROLL for (const std::uint32_t word : words) {
      value = f(value, std::bit_cast<float>(word));
    }
    rows.words[0] = std::bit_cast<std::uint32_t>(value);
  }
  /// Replaces every value by its power of two.
  WARPTWIN_HOST_DEVICE void exp2() {
    transform([](float value) { return ptx::exp2(value); });
  }
  /// Whether `f(value)` for any of the warp's values. Participants: the whole warp.
  template <class F>
  WARPTWIN_HOST_DEVICE bool any(F&& f) const {
    bool own = false;
    WARPTWIN_UNROLL for (const std::uint32_t word : words) {
      own = own || f(std::bit_cast<float>(word));
    }
    return ptx::any_sync(own);
  }
  /// The values as `Element`s, packed into registers.
  template <class Element>
  WARPTWIN_HOST_DEVICE auto packed() const {
    constexpr std::uint32_t kPerWord = ptx::kElementsPerWord<Element>;
    static_assert(kRegisters % kPerWord == 0, "a register is packed full");
    CudaFragment<kRegisters / kPerWord> packed;
    WARPTWIN_UNROLL for (std::uint32_t i = 0; i < kRegisters / kPerWord; ++i) {
      float values[kPerWord];
      WARPTWIN_UNROLL for (std::uint32_t j = 0; j < kPerWord; ++j) {
        values[j] = std::bit_cast<float>(words[i * kPerWord + j]);
      }
      packed.words[i] = ptx::convert_word<Element>(values);
    }
    return packed;
  }
};

/// A lane's part of a warp's 16 rows of an accumulator of wgmma: see `WgmmaCell`. Where the columns
/// are known only when the kernel is launched, there are registers for the most there can be.
template <class Columns>
struct CudaAccumulator {
  static constexpr std::uint32_t kColumnsMost =
      Columns::kIsStatic ? std::uint32_t{Columns{}} : ptx::kWgmmaColumnsMost;

  /// Sets no register. Constexpr, or a role that has an accumulator would be host code alone.
  template <class M>
  constexpr CudaAccumulator(const M&, Columns count) : columns{count} {}
  /// Sets every value.
  WARPTWIN_HOST_DEVICE void fill(float value) {
    WARPTWIN_UNROLL for (float& each : values) {
      each = value;
    }
  }
  /// Replaces every value by `f(value)`.
  template <class F>
  WARPTWIN_HOST_DEVICE void transform(F&& f) {
    WARPTWIN_UNROLL for (float& each : values) {
      each = f(each);
    }
  }

  [[no_unique_address]] Columns columns;
  float values[kColumnsMost / 2];
};

}  // namespace warptwin::hw
