/// Registers of the simulator's machine: `Fragment` and `Accumulator`.

#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "common/machine/element.hpp"
#include "common/machine/types.hpp"

#include "sim/model/operation.hpp"
#include "sim/model/warp_registers.hpp"

namespace warptwin::sim {

/// `kRegisters` 32-bit registers of each of 32 lanes. Their contents arrive with `tcgen05_wait_ld`.
///
/// A kernel declares them without saying whose they are: they are the warp's whose machine fills
/// them, or of the registers they are combined with. Until then their arithmetic is nobody's.
template <std::uint32_t kRegisters>
class SimFragment {
 public:
  SimFragment() : data_{std::make_shared<FragmentData>()} { data_->registers = kRegisters; }
  /// Registers are values: a copy has its own.
  SimFragment(const SimFragment& other)
      : data_{std::make_shared<FragmentData>(*other.data_)}, warp_{other.warp_} {}
  SimFragment(SimFragment&&) noexcept = default;
  SimFragment& operator=(const SimFragment& other) {
    data_ = std::make_shared<FragmentData>(*other.data_);
    warp_ = other.warp_;
    return *this;
  }
  SimFragment& operator=(SimFragment&&) noexcept = default;

  const std::shared_ptr<FragmentData>& data() const { return data_; }
  /// Null: nobody's yet.
  WarpRegisters* warp() const { return warp_; }
  /// Unless they are somebody's already.
  void give_to(WarpRegisters* warp) {
    if (warp_ == nullptr) {
      warp_ = warp;
    }
  }

  /// Sets every register of every lane.
  void fill(float value) {
    data_ = std::make_shared<FragmentData>();
    data_->registers = kRegisters;
    data_->settled = true;
    data_->bits.assign(std::size_t{kRegisters} * kWarpLanes, std::bit_cast<std::uint32_t>(value));
  }
  /// Replaces every value by `f(value)`, in every lane.
  template <class F>
  void transform(F&& f) {
    count_fma();
    for (std::uint32_t& bits : data_->bits) {
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(f(std::bit_cast<float>(bits))));
    }
  }
  /// Replaces every value by `f(value, the other fragment's)`, in every lane.
  template <class F>
  void combine(const SimFragment& other, F&& f) {
    give_to(other.warp());
    combine_settled(*other.data());
    count_fma();
    const std::size_t count = std::min(data_->bits.size(), other.data_->bits.size());
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = std::bit_cast<float>(data_->bits[i]);
      const auto with = std::bit_cast<float>(other.data_->bits[i]);
      data_->bits[i] = std::bit_cast<std::uint32_t>(static_cast<float>(f(value, with)));
    }
  }
  /// Replaces every value by `f(value, its column)`.
  template <class F>
  void transform_columns(F&& f) {
    count_fma();
    for_each([&](std::uint32_t& bits, std::size_t, std::uint32_t column) {
      bits = std::bit_cast<std::uint32_t>(f(std::bit_cast<float>(bits), column));
    });
  }
  /// Replaces every value by `f(value, its row, its column)`.
  template <class F>
  void transform_places(F&& f) {
    count_fma();
    for_each([&](std::uint32_t& bits, std::size_t row, std::uint32_t column) {
      bits = std::bit_cast<std::uint32_t>(
          f(std::bit_cast<float>(bits), static_cast<std::uint32_t>(row), column));
    });
  }
  /// Replaces every value by `f(value, the value of its row)`.
  template <class F>
  void combine_rows(const SimFragment<1>& rows, F&& f) {
    give_to(rows.warp());
    count_fma();
    combine_settled(*rows.data());
    const std::vector<std::uint32_t>& values = rows.data()->bits;
    if (values.empty()) {
      return;
    }
    for_each([&](std::uint32_t& bits, std::size_t row, std::uint32_t) {
      bits = std::bit_cast<std::uint32_t>(
          f(std::bit_cast<float>(bits), std::bit_cast<float>(values[row])));
    });
  }
  /// Replaces the value of each row by `f(value, x)`, for each x of the row in turn.
  template <class F>
  void fold_into(SimFragment<1>& rows, F&& f) const {
    rows.give_to(warp_);
    count_fma();
    std::vector<std::uint32_t>& values = rows.data()->bits;
    for (std::size_t i = 0; i < data_->bits.size() && !values.empty(); ++i) {
      std::uint32_t& value = values[i / kRegisters];
      value = std::bit_cast<std::uint32_t>(
          f(std::bit_cast<float>(value), std::bit_cast<float>(data_->bits[i])));
    }
  }
  /// Replaces every value by its power of two.
  void exp2() {
    if (warp_ != nullptr) {
      warp_->math.mufu += kRegisters;
    }
    for (std::uint32_t& bits : data_->bits) {
      bits = std::bit_cast<std::uint32_t>(std::exp2(std::bit_cast<float>(bits)));
    }
  }
  /// Whether `f(value)` for any of the warp's values; without data, what the warp is told.
  template <class F>
  bool any(F&& f) const {
    if (data_->bits.empty()) {
      if (warp_ == nullptr) {
        return true;
      }
      warp_->asked_unknown = true;
      return warp_->unknown_any;
    }
    return std::any_of(data_->bits.begin(), data_->bits.end(), [&](std::uint32_t bits) {
      return f(std::bit_cast<float>(bits));
    });
  }
  /// The values as `Element`s, packed into registers.
  template <class Element>
  auto packed() const {
    constexpr std::uint32_t kPerWord = 4 / sizeof(typename Element::Storage);
    static_assert(kRegisters % kPerWord == 0, "a register is packed full");
    SimFragment<kRegisters / kPerWord> words;
    words.give_to(warp_);
    words.data()->settled = data_->settled;
    words.data()->bits.resize(data_->bits.size() / kPerWord);
    for (std::size_t i = 0; i < data_->bits.size(); ++i) {
      const std::uint32_t bits = encode(Element::kType, std::bit_cast<float>(data_->bits[i]));
      words.data()->bits[i / kPerWord] |= bits << (i % kPerWord * (32 / kPerWord));
    }
    return words;
  }

 private:
  void count_fma() const {
    if (warp_ != nullptr) {
      warp_->math.fma += kRegisters;
    }
  }
  // What is computed from registers that may still change may be wrong too.
  void combine_settled(const FragmentData& other) {
    data_->settled = data_->settled && other.settled;
  }
  // Calls `f` with the bits, the lane and the column of every value.
  template <class F>
  void for_each(F&& f) {
    for (std::size_t i = 0; i < data_->bits.size(); ++i) {
      f(data_->bits[i], i / kRegisters, static_cast<std::uint32_t>(i % kRegisters));
    }
  }

  std::shared_ptr<FragmentData> data_;
  WarpRegisters* warp_ = nullptr;
};

/// A warp's 16 rows of an accumulator of wgmma, in the registers of its lanes: see `WgmmaCell`.
template <class Columns>
class SimAccumulator {
 public:
  template <class M>
  SimAccumulator(M& machine, Columns columns)
      : data_{std::make_shared<FragmentData>()}, warp_{&machine.registers()} {
    data_->registers = columns / 2;
    data_->settled = true;
  }
  /// Registers are values, and may be on their way: they are neither copied nor moved.
  SimAccumulator(const SimAccumulator&) = delete;
  SimAccumulator& operator=(const SimAccumulator&) = delete;

  const std::shared_ptr<FragmentData>& data() const { return data_; }

  /// Sets every value.
  void fill(float value) {
    touch();
    data_->bits.assign(std::size_t{data_->registers} * kWarpLanes,
                       std::bit_cast<std::uint32_t>(value));
  }
  /// Replaces every value by `f(value)`.
  template <class F>
  void transform(F&& f) {
    touch();
    warp_->math.fma += data_->registers;
    for (std::uint32_t& bits : data_->bits) {
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(f(std::bit_cast<float>(bits))));
    }
  }

 private:
  void touch() {
    data_->touched = ++warp_->time;
    data_->touched_early = data_->touched_early || !data_->settled;
  }

  std::shared_ptr<FragmentData> data_;
  WarpRegisters* warp_;
};

}  // namespace warptwin::sim
