/// Bytes of a CTA's shared memory: of one access, as rows, and of a piece, one bit each.

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/machine/shared_tile.hpp"
#include "common/trace/event.hpp"

#include "sim/model/lane_access.hpp"

namespace warptwin::sim {

/// Some bytes of a CTA's shared memory: `rows` times `width` bytes, `pitch` apart, as they lie
/// before a swizzle, which moves them within their row.
struct Footprint {
  static constexpr std::uint32_t kSwizzleChunk = 16;  // bytes that a swizzle moves together
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t width = 0;
  std::uint32_t pitch = 0;  // 0: one row
  bool swizzled = false;    // rows of swizzle spans
  bool gaps = false;        // pieces that are not one stride apart, and what lies between
  bool addressed = false;   // rows of addresses, not of a tile

  static Footprint interval(std::uint32_t begin, std::uint32_t bytes) {
    return {begin, begin + bytes, bytes, 0};
  }
  std::uint32_t rows() const { return pitch == 0 ? 1 : (end - begin - width) / pitch + 1; }
  std::uint64_t bytes() const { return std::uint64_t{rows()} * width; }

  bool meets(const Footprint& other) const {
    const auto [first, last] = bounds();
    const auto [other_first, other_last] = other.bounds();
    return first < other_last && other_first < last && meets_by_rows(other);
  }
  bool meets_by_rows(const Footprint& other) const {
    if (pitch == 0 && other.pitch == 0) {
      return true;
    }
    if (swizzled != other.swizzled && (addressed || other.addressed)) {
      return swizzled ? meets_addresses(other) : other.meets_addresses(*this);
    }
    if (swizzled != other.swizzled && (pitch == 0 || other.pitch == 0)) {
      // An address, not a place in a tile: anywhere in its span.
      return swizzled ? spans().meets_interval(other.begin, other.end)
                      : other.spans().meets_interval(begin, end);
    }
    if (pitch == other.pitch) {
      return begin <= other.begin ? meets_on_grid(other) : other.meets_on_grid(*this);
    }
    // Row by row, from the first of ours that reaches it.
    const std::uint32_t count = rows();
    const std::uint32_t skip =
        pitch == 0 || other.begin <= begin ? 0 : (other.begin - begin) / pitch;
    for (std::uint32_t row = skip > 0 ? skip - 1 : 0; row < count; ++row) {
      const std::uint32_t from = begin + row * pitch;
      if (from >= other.end) {
        return false;
      }
      if (other.meets_interval(from, from + width)) {
        return true;
      }
    }
    return false;
  }
  // Both, and what lies between.
  Footprint joined(const Footprint& other) const {
    const std::uint32_t first = std::min(begin, other.begin);
    const std::uint32_t last = std::max(end, other.end);
    if (pitch == 0 || pitch != other.pitch || begin % pitch + width > pitch ||
        other.begin % pitch + other.width > pitch) {
      return interval(first, last - first);
    }
    // A rectangle of one grid.
    const std::uint32_t left = std::min(begin % pitch, other.begin % pitch);
    const std::uint32_t right = std::max(begin % pitch + width, other.begin % pitch + other.width);
    return {first / pitch * pitch + left,
            (last - 1) / pitch * pitch + right,
            right - left,
            pitch,
            swizzled};
  }
  bool covers(const Footprint& other) const {
    if (pitch == 0) {
      const Footprint all = other.swizzled ? other.spans() : other;
      return begin <= all.begin && all.end <= end;
    }
    return begin == other.begin && end == other.end && width == other.width &&
           pitch == other.pitch && swizzled == other.swizzled;
  }
  /// What the runs lie within.
  std::pair<std::uint32_t, std::uint32_t> bounds() const {
    if (!swizzled) {
      return {begin, end};
    }
    const Footprint all = spans();
    return {all.begin, all.end};
  }
  static constexpr std::uint64_t kEveryColumn = ~std::uint64_t{0};
  /// Bit i: something of it may lie in chunk i of a kilobyte, of 64. Two without a bit in common do
  /// not meet.
  std::uint64_t columns() const {
    constexpr std::uint32_t kColumns = 64;
    constexpr std::uint32_t kRound = kColumns * kSwizzleChunk;
    if (swizzled || width == 0 || width >= kRound - kSwizzleChunk) {
      return kEveryColumn;
    }
    const std::uint32_t different = pitch % kRound == 0 ? 1 : rows();
    if (different > kColumns) {
      return kEveryColumn;
    }
    std::uint64_t all = 0;
    for (std::uint32_t row = 0; row < different; ++row) {
      const std::uint32_t from = begin + row * pitch;
      const std::uint32_t first = from / kSwizzleChunk;
      const std::uint32_t count = (from + width - 1) / kSwizzleChunk - first + 1;
      const std::uint64_t some = ~std::uint64_t{0} >> (kColumns - count);
      all |= std::rotl(some, static_cast<int>(first % kColumns));
    }
    return all;
  }
  /// Calls `f(from, to)` for each run of bytes as it lies in memory, in no order.
  template <class F>
  void for_each_run(F&& f) const {
    for_each_run(0, rows(), f);
  }
  /// The same of the rows from `first` to in front of `last`.
  template <class F>
  void for_each_run(std::uint32_t first, std::uint32_t last, F&& f) const {
    for (std::uint32_t row = first; row < last; ++row) {
      const std::uint32_t from = begin + row * pitch;
      if (!swizzled) {
        f(from, from + width);
        continue;
      }
      std::uint32_t to = from;
      for (std::uint32_t at = from; at < from + width; at = to) {
        to = std::min(from + width, (at / kSwizzleChunk + 1) * kSwizzleChunk);
        // A span is 32, 64 or 128 bytes.
        const std::uint32_t moved = at ^ ((at >> 7 & (pitch / kSwizzleChunk - 1)) * kSwizzleChunk);
        f(moved, moved + (to - at));
      }
    }
  }

 private:
  // Of rows that a swizzle moves: those near the other's bytes, for each stays in its spans.
  bool meets_addresses(const Footprint& other) const {
    const std::uint32_t row = other.begin <= begin ? 0 : (other.begin - begin) / pitch;
    const std::uint32_t ends = other.end <= begin ? 0 : (other.end - begin) / pitch;
    bool meets = false;
    for_each_run(row > 2 ? row - 2 : 0, std::min(rows(), ends + 2), [&](auto from, auto to) {
      meets = meets || other.meets_interval(from, to);
    });
    return meets;
  }
  // Of one pitch, and it begins no earlier.
  bool meets_on_grid(const Footprint& other) const {
    const std::uint32_t distance = other.begin - begin;
    const bool two = (pitch & (pitch - 1)) == 0;  // a power of it, as most are
    const std::uint32_t ahead = two ? distance & (pitch - 1) : distance % pitch;
    const std::uint32_t row = other.begin - ahead;  // the last of ours in front of it, if any is
    return (ahead < width && row + width <= end) ||
           (pitch - ahead < other.width && row + pitch + width <= end);
  }
  Footprint spans() const {
    const std::uint32_t first = begin / pitch * pitch;
    return interval(first, rows() * pitch);
  }
  bool meets_interval(std::uint32_t from, std::uint32_t to) const {
    if (from >= end || to <= begin) {
      return false;
    }
    if (pitch == 0) {
      return true;
    }
    const std::uint32_t row = from <= begin ? 0 : (from - begin) / pitch;
    const std::uint32_t start = begin + row * pitch;
    return (from < start + width && start < to) || (start + pitch < to && start + pitch < end);
  }
};

/// Where the first of a tile's rows is that an event speaks of.
inline std::uint32_t first_byte(const Event& event, const payload::Rows& rows) {
  return event.address + rows.row * rows.pitch + rows.column * rows.element_bytes;
}

/// Of ld.shared and st.shared: a word, a row of a tile in each lane, or one row in all of them.
inline Footprint footprint_of(const Event& event) {
  const payload::Rows* const said = event.rows();
  if (said == nullptr) {
    return Footprint::interval(event.address, 4);
  }
  const std::uint32_t begin = first_byte(event, *said);
  if (said->pitch == 0) {
    return Footprint::interval(begin, event.bytes);
  }
  Footprint rows{begin, begin + (said->rows - 1) * said->pitch + event.bytes, event.bytes};
  rows.pitch = said->pitch;
  rows.addressed = said->of_lanes;
  return rows;
}

/// Of a bulk or tensor copy that is issued: rows that are shorter than the span of the swizzle
/// stand as far apart as spans.
inline Footprint footprint_of_copy(const Event& event) {
  if (event.op != Op::kTensorLoad && event.op != Op::kTensorStore) {
    return Footprint::interval(event.address, event.bytes);
  }
  const auto& copy = event.as<payload::Copy>();
  const auto swizzle = static_cast<Swizzle>(copy.swizzle);
  const std::uint32_t span = span_of(swizzle);
  const std::uint32_t row = copy.row_bytes;
  if (span == 0 || row >= span) {
    return Footprint::interval(event.address, event.bytes);
  }
  const std::uint32_t rows = event.bytes / row;
  if (unit_of(swizzle) != Footprint::kSwizzleChunk) {
    return Footprint::interval(event.address, rows * span);
  }
  return {event.address, event.address + (rows - 1) * span + row, row, span, true};
}

/// `rows` times `width` bytes of global memory, `pitch` apart.
struct GlobalBox {
  std::uint64_t start = 0;
  std::uint64_t rows = 1;
  std::uint64_t pitch = 0;
  std::uint64_t width = 0;
};

/// Of what accesses global memory: a word, a rectangle of lanes' bytes, or a copy that is issued.
inline GlobalBox global_box_of(const Event& event) {
  if (event.is<payload::Copy>()) {
    const auto& copy = event.as<payload::Copy>();
    return {event.global, copy.rows, copy.pitch, copy.width};
  }
  if (is_load(event.op)) {
    return {event.global, 0, 0, 0};
  }
  if (const payload::Rows* const said = event.rows()) {
    return {event.global, said->rows, said->pitch, event.bytes};
  }
  return {event.global, 1, 0, 4};
}

/// Bytes of a CTA's shared memory, one bit each.
class ByteSet {
 public:
  /// Puts [from, to) in, or takes them out.
  void set(std::uint32_t from, std::uint32_t to, bool in) {
    if (std::size_t{to} > words_.size() * kBits) {
      words_.resize(to / kBits + 1, 0);
    }
    for_each_word(from, to, [&](std::size_t word, std::uint64_t mask) {
      words_[word] = in ? words_[word] | mask : words_[word] & ~mask;
    });
  }
  /// Whether all of [from, to) are in.
  bool all(std::uint32_t from, std::uint32_t to) const { return count(from, to) == to - from; }
  /// How many of [from, to) are in.
  std::uint32_t count(std::uint32_t from, std::uint32_t to) const {
    std::uint32_t bytes = 0;
    for_each_word(from, to, [&](std::size_t word, std::uint64_t mask) {
      bytes += static_cast<std::uint32_t>(std::popcount(words_[word] & mask));
    });
    return bytes;
  }

 private:
  static constexpr std::uint32_t kBits = 64;

  // As far as there are any.
  template <class F>
  void for_each_word(std::uint32_t from, std::uint32_t to, F&& f) const {
    to = static_cast<std::uint32_t>(std::min<std::size_t>(to, words_.size() * kBits));
    while (from < to) {
      const std::uint32_t bits = std::min(to - from, kBits - from % kBits);
      f(from / kBits, (~std::uint64_t{0} >> (kBits - bits)) << from % kBits);
      from += bits;
    }
  }

  std::vector<std::uint64_t> words_;
};

}  // namespace warptwin::sim
