/// Rows of tensor memory in registers: what softmax works on.

#pragma once

#include <cstdint>
#include <utility>

#include "common/machine/machine.hpp"

namespace warptwin {

/// `kColumns` columns of the warp's 32 rows, fp32: lane i holds row i. The operations on registers
/// are a fragment's.
///
/// Columns move in fragments of 32: the widest that a kernel of 16 warps has the registers for.
template <Machine M, std::uint32_t kColumns>
class RowTile {
 public:
  static constexpr std::uint32_t kFragmentColumns = 32;  // registers of a fragment, one a column
  static_assert(kColumns % kFragmentColumns == 0, "a row is whole fragments");
  using Values = typename M::template Fragment<1>;  // one value for each row

  /// Nothing is loaded yet.
  constexpr explicit RowTile(M& machine) : machine_{&machine} {}

  /// Participants: the whole warp, whose lanes `from` names.
  /// Blocks:       until the registers are settled.
  constexpr void load(TmemAddress from, SourceSite site = SourceSite::current()) {
    for_fragments([&](auto& fragment, std::uint32_t column) {
      machine_->tcgen05_ld_32x32b(fragment, from.at_column(column), site);
    });
    for_fragments(
        [&](auto& fragment, std::uint32_t) { machine_->tcgen05_wait_ld(fragment, site); });
  }
  /// Stores the rows, rounded to `Element` and packed, from the first column of `to` on.
  ///
  /// Participants: the whole warp, whose lanes `to` names. Blocks: until they are stored.
  template <class Element>
  constexpr void store_packed(TmemAddress to, SourceSite site = SourceSite::current()) {
    constexpr std::uint32_t kPerWord = 4 / sizeof(typename Element::Storage);
    for_fragments([&](auto& fragment, std::uint32_t column) {
      machine_->tcgen05_st_32x32b(
          to.at_column(column / kPerWord), fragment.template packed<Element>(), site);
    });
    machine_->tcgen05_wait_st(site);
  }

  /// Sets the columns from `first` on.
  constexpr void fill_from(std::uint32_t first, float value) {
    for_fragments([=](auto& fragment, std::uint32_t begin) {
      fragment.transform_columns(
          [=](float old, std::uint32_t column) { return begin + column < first ? old : value; });
    });
  }
  /// Sets what lies right of a diagonal: in row i of the warp, the columns after `column + i`.
  constexpr void fill_right_of(std::int32_t column, float value) {
    for_fragments([=](auto& fragment, std::uint32_t begin) {
      fragment.transform_places([=](float old, std::uint32_t row, std::uint32_t own) {
        return static_cast<std::int32_t>(begin + own) <= column + static_cast<std::int32_t>(row)
                   ? old
                   : value;
      });
    });
  }
  /// Sets what lies left of a diagonal: in row i of the warp, the columns before `column + i`.
  constexpr void fill_left_of(std::int32_t column, float value) {
    for_fragments([=](auto& fragment, std::uint32_t begin) {
      fragment.transform_places([=](float old, std::uint32_t row, std::uint32_t own) {
        return static_cast<std::int32_t>(begin + own) >= column + static_cast<std::int32_t>(row)
                   ? old
                   : value;
      });
    });
  }
  /// x = f(x, the value of its row), for each x.
  template <class F>
  constexpr void combine_rows(const Values& values, F&& f) {
    for_fragments([&](auto& fragment, std::uint32_t) { fragment.combine_rows(values, f); });
  }
  /// value = f(value, x), for each x of its row, from the first column to the last.
  template <class F>
  constexpr void fold_into(Values& values, F&& f) {
    for_fragments([&](auto& fragment, std::uint32_t) { fragment.fold_into(values, f); });
  }
  /// x = 2^x, to about 22 bits.
  constexpr void exp2() {
    for_fragments([](auto& fragment, std::uint32_t) { fragment.exp2(); });
  }

 private:
  static constexpr std::uint32_t kFragments = kColumns / kFragmentColumns;

  // Calls `f` with each fragment and its first column; no loop, since registers have no index.
  template <class F>
  constexpr void for_fragments(F&& f) {
    unrolled(f, std::make_integer_sequence<std::uint32_t, kFragments>{});
  }
  template <class F, std::uint32_t... kIndex>
  constexpr void unrolled(F& f, std::integer_sequence<std::uint32_t, kIndex...>) {
    (f(fragments_[kIndex], kIndex * kFragmentColumns), ...);
  }

  M* machine_;
  typename M::template Fragment<kFragmentColumns> fragments_[kFragments];
};

}  // namespace warptwin
