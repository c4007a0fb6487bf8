#include "sim/ptx/lanes/tensor_bases.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace warptwin::ptx {

namespace {

constexpr std::uint8_t kOfMark = poison_bits(32);
constexpr std::size_t kMarksMax = 1U << 16;
/// The upper digit of each mark: that of registers on their way is another one.
constexpr std::uint32_t kDigit = 0xB0000000U;
constexpr std::uint64_t kBelowDigit = 0x0FFFFFFFU;

// Whether the digit may be in one of the lanes: in most values nobody knows it is not.
bool may_have_digit(const Lanes& lanes) {
  std::uint64_t some = 0;
  for (const std::uint64_t value : lanes.value) {
    some |= value;
  }
  return (some & kDigit) == kDigit;
}

bool has_zero_byte(std::uint32_t word) {
  return (word & 0xff) == 0 || (word >> 8 & 0xff) == 0 || (word >> 16 & 0xff) == 0;
}

std::uint32_t scrambled(std::uint64_t word) {
  word *= 0x9E3779B97F4A7C15U;
  word ^= word >> 29;
  word *= 0xBF58476D1CE4E5B9U;
  return static_cast<std::uint32_t>(word >> 32);
}

}  // namespace

std::uint32_t TensorBases::number_of(const TensorAllocation& allocation) {
  const auto [found, added] =
      numbers_.try_emplace(allocation, static_cast<std::uint32_t>(allocations_.size()));
  if (added) {
    allocations_.push_back(allocation);
  }
  return found->second;
}

std::optional<std::uint32_t> TensorBases::mark_of(Address address) {
  if (const auto found = marks_.find(address); found != marks_.end()) {
    return found->second;
  }
  if (marks_.size() >= kMarksMax) {
    return std::nullopt;
  }
  std::uint64_t seed = std::uint64_t{address.allocation + 1} << 32 | address.offset;
  std::uint32_t mark = 0;
  do {
    mark = kDigit | (scrambled(seed) & ~0xF0000000U);
    seed += std::uint64_t{1} << 48;
  } while (has_zero_byte(mark) || !addresses_.try_emplace(mark, address).second);
  marks_.emplace(address, mark);
  return mark;
}

std::optional<TensorBases::Address> TensorBases::find(const Lanes& lanes,
                                                      std::uint32_t lane) const {
  const std::uint64_t value = lanes.value[lane];
  if (lanes.poison[lane] != kOfMark || (value & ~kBelowDigit) != kDigit) {
    return std::nullopt;
  }
  const auto found = addresses_.find(static_cast<std::uint32_t>(value));
  return found == addresses_.end() ? std::nullopt : std::optional{found->second};
}

bool TensorBases::has_mark(std::span<const std::byte> words) const {
  for (std::size_t at = 0; at + sizeof(std::uint32_t) <= words.size();
       at += sizeof(std::uint32_t)) {
    std::uint32_t word = 0;
    std::memcpy(&word, &words[at], sizeof word);
    if (addresses_.contains(word)) {
      return true;
    }
  }
  return false;
}

// Which lanes of which source are addresses. False: nothing can be computed, for some are of
// different allocations, or a source has other bytes that nobody knows.
bool TensorBases::find_sources(const ScalarCall& call, Mask lanes) {
  allocation_.reset();
  bool clear = true;
  for (std::uint32_t at = 0; at < call.sources; ++at) {
    of_source_[at] = 0;
    for (Mask left = call.in[at]->poisoned() & lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
      const auto address = find(*call.in[at], lane);
      if (!address) {
        clear = false;
        continue;
      }
      of_source_[at] |= Mask{1} << lane;
      clear = clear && (!allocation_ || *allocation_ == address->allocation);
      allocation_ = address->allocation;
    }
  }
  return clear;
}

TensorBases::Outcome TensorBases::execute(const Scalar& scalar,
                                          const ScalarCall& call,
                                          Mask lanes) {
  const bool some = std::any_of(call.in, call.in + call.sources, [](const Lanes* source) {
    return source->any_poison() && may_have_digit(*source);
  });
  if (!some) {
    return Outcome::kNone;
  }
  const bool clear = find_sources(call, lanes);
  if (!allocation_) {
    return Outcome::kNone;
  }
  if (!clear || call.second != nullptr || scalar.writes_carry || scalar.reads_carry) {
    return Outcome::kNone;
  }
  const std::uint32_t places = (kColumns - allocations_[*allocation_].columns) / kUnit + 1;
  results_.resize(places);
  Lanes sources[ScalarCall::kSources];
  ScalarCall with = call;
  for (std::uint32_t at = 0; at < call.sources; ++at) {
    if (of_source_[at] != 0) {
      sources[at] = *call.in[at];
      sources[at].poison.fill(0);
      with.in[at] = &sources[at];
    }
  }
  for (std::uint32_t place = 0; place < places; ++place) {
    for (std::uint32_t at = 0; at < call.sources; ++at) {
      for (Mask left = of_source_[at]; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        sources[at].value[lane] = find(*call.in[at], lane)->offset + place * kUnit;
        sources[at].value[lane] &= low_bits(32);
      }
    }
    with.out = &results_[place];
    results_[place].poison.fill(0);
    scalar.execute(with);
  }
  return take_results(call, lanes);
}

TensorBases::Outcome TensorBases::take_results(const ScalarCall& call, Mask lanes) {
  const std::uint64_t keep = low_bits(call.out_bits);
  Outcome outcome = Outcome::kDone;
  call.out->value.fill(0);
  call.out->poison.fill(0);
  for (Mask left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::uint64_t first = results_[0].value[lane] & keep;
    bool same = true;
    bool moves = call.out_bits >= 32;
    for (std::uint32_t place = 0; place < results_.size(); ++place) {
      const std::uint64_t value = results_[place].value[lane] & keep;
      same = same && value == first;
      moves = moves && value == ((first + place * kUnit) & keep) && value >> 32 == 0;
    }
    std::uint64_t& value = call.out->value[lane];
    value = first;
    if (same) {
      continue;
    }
    call.out->poison[lane] = 0xff;
    const auto mark =
        moves ? mark_of({*allocation_, static_cast<std::uint32_t>(first)}) : std::nullopt;
    if (mark) {
      value = *mark;
      call.out->poison[lane] = kOfMark;
    } else {
      outcome = Outcome::kUnknown;
      value = 0;
    }
  }
  return outcome;
}

}  // namespace warptwin::ptx
