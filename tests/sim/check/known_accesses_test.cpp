/// Accesses that are kept by their bounds, against a list of all of them.

#include "sim/check/known_accesses.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace warptwin::sim {
namespace {

using Bounds = KnownAccesses::Bounds;

struct Listed {
  std::uint32_t number = 0;  // the order they came in
  Bounds bounds;
  bool unordered = false;
};

std::uint32_t number_of(const SharedAccess& access) {
  return access.time;
}

std::vector<std::uint32_t> listed_near(const std::vector<Listed>& list, const Bounds& at) {
  std::vector<std::uint32_t> numbers;
  for (const Listed& one : list) {
    if (one.bounds.low < at.high && at.low < one.bounds.high) {
      numbers.push_back(one.number);
    }
  }
  return numbers;
}

std::vector<std::uint32_t> listed_ordered_near(const std::vector<Listed>& list,
                                               const Bounds& at,
                                               std::size_t from) {
  std::vector<std::uint32_t> numbers;
  for (const Listed& one : list) {
    if (one.bounds.low < at.high && at.low < one.bounds.high && !one.unordered &&
        one.number >= from) {
      numbers.push_back(one.number);
    }
  }
  return numbers;
}

std::vector<std::uint32_t> kept_near(const KnownAccesses& known, const Bounds& at) {
  std::vector<std::uint32_t> numbers;
  known.for_each_near(at, [&](std::size_t place) { numbers.push_back(number_of(known[place])); });
  return numbers;
}

// In the order they came, whoever has gone in between, and whether places have moved or not.
TEST(KnownAccessesTest, WhoIsNearIsWhoAListHasNear) {
  std::mt19937 random{1};
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  const auto drawn = [&] {
    const std::uint32_t low = below(4096);
    return Bounds{low, low + 1 + below(256)};
  };
  KnownAccesses known;
  std::vector<Listed> list;
  for (std::uint32_t number = 0; number < 3000; ++number) {
    auto access = std::make_unique<SharedAccess>();
    access->time = number;
    access->unordered = below(64) != 0;  // as where many race
    list.push_back({number, drawn(), access->unordered});
    known.add(std::move(access), list.back().bounds);
    const Bounds at = drawn();
    EXPECT_EQ(kept_near(known, at), listed_near(list, at));
    std::size_t behind = 0;  // a place, and the first that came behind it
    const std::uint32_t first = below(number + 1);
    known.any_near({0, 1U << 20}, [&](std::size_t place) {
      behind = place;
      return number_of(known[place]) >= first;
    });
    std::vector<std::uint32_t> ordered;
    known.any_ordered_near(
        at,
        [&](std::size_t place) {
          ordered.push_back(number_of(known[place]));
          return false;
        },
        behind);
    EXPECT_EQ(ordered, listed_ordered_near(list, at, first));
    const auto odd = [](std::uint32_t one) { return one % 2 == 1; };
    const auto near = listed_near(list, at);
    const auto last = std::find_if(near.rbegin(), near.rend(), odd);
    const auto found =
        known.last_near(at, [&](std::size_t place) { return odd(number_of(known[place])); });
    ASSERT_EQ(found.has_value(), last != near.rend());
    if (found) {
      EXPECT_EQ(number_of(known[*found]), *last);
      const Bounds wider{at.low / 2, at.high};
      known.widen(*found, wider);
      const auto one = std::find_if(
          list.begin(), list.end(), [&](const Listed& listed) { return listed.number == *last; });
      one->bounds.widen(wider);
    }
    if (number % 2 == 0 || number > 2000) {
      const Bounds gone = drawn();
      std::erase_if(list, [&](const Listed& one) { return one.bounds.meet(gone); });
      known.for_each_near(gone, [&](std::size_t place) { known.remove(place); });
      known.close_gaps();
    }
  }
  std::vector<std::uint32_t> all;
  known.for_each([&](const SharedAccess& access) { all.push_back(number_of(access)); });
  EXPECT_EQ(all, listed_near(list, {0, 1U << 20}));
}

TEST(KnownAccessesTest, FromAPlaceOnOnlyLaterOnesAreAsked) {
  KnownAccesses known;
  for (std::uint32_t number = 0; number < 40; ++number) {
    auto access = std::make_unique<SharedAccess>();
    access->time = number;
    known.add(std::move(access), {0, 4});
  }
  std::vector<std::size_t> asked;
  const bool any = known.any_near(
      {2, 8},
      [&](std::size_t place) {
        asked.push_back(place);
        return place == 19;
      },
      17);
  EXPECT_TRUE(any);
  EXPECT_EQ(asked, (std::vector<std::size_t>{17, 18, 19}));
  EXPECT_FALSE(known.any_near({4, 8}, [](std::size_t) { return true; }));
}

// A word, some rows, or a stretch that covers others.
Footprint drawn_footprint(std::mt19937& random) {
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  const std::uint32_t begin = 4 * below(500);
  const std::uint32_t shape = below(4);
  if (shape < 3) {
    return Footprint::interval(begin, shape == 0 ? 4 : 4 * (1 + below(shape == 1 ? 8 : 200)));
  }
  Footprint rows{begin, begin + 3 * 64 + 2, 2, 64};
  rows.addressed = true;
  return rows;
}

// Writes, the reads that one covers, and the bytes that are written, against all of them.
TEST(KnownAccessesTest, WhereTheyAreManyWritesReadsAndBytesAreThoseOfAList) {
  std::mt19937 random{2};
  KnownAccesses known;
  std::vector<bool> written(1U << 14);
  std::size_t covered = 0;
  for (std::uint32_t number = 0; number < 4000; ++number) {
    auto access = std::make_unique<SharedAccess>();
    access->time = number;
    access->at = drawn_footprint(random);
    const bool write = random() % 8 == 0;
    access->kind = write ? SharedUse::kGenericWrite : SharedUse::kGenericRead;
    const Footprint at = access->at;
    const Bounds bounds = KnownAccesses::bounds_of(at);
    std::vector<std::uint32_t> writes_near;
    std::vector<std::uint32_t> reads_in;
    std::vector<std::size_t> gone;
    known.for_each_near(bounds, [&](std::size_t place) {
      const SharedAccess& one = known[place];
      if (one.kind == SharedUse::kGenericWrite) {
        writes_near.push_back(number_of(one));
      } else if (at.covers(one.at)) {
        reads_in.push_back(number_of(one));
      }
      // What it covers it takes the place of.
      if (at.covers(one.at) && (write || one.kind == SharedUse::kGenericRead)) {
        gone.push_back(place);
      }
    });
    if (known.many()) {
      std::vector<std::uint32_t> numbers;
      const auto note = [&](std::size_t place) { numbers.push_back(number_of(known[place])); };
      known.for_each_write_near(bounds, note);
      ASSERT_EQ(numbers, writes_near);
      numbers.clear();
      known.for_each_read_in(at, note);
      std::sort(numbers.begin(), numbers.end());
      ASSERT_EQ(numbers, reads_in);
      covered += numbers.size();
      for (std::uint32_t byte = bounds.low; byte < bounds.high; ++byte) {
        ASSERT_EQ(known.written().all(byte, byte + 1), written[byte]) << byte;
      }
    }
    for (const std::size_t place : gone) {
      known.remove(place);
    }
    known.close_gaps();
    at.for_each_run([&](std::uint32_t from, std::uint32_t to) {
      std::fill(written.begin() + from, written.begin() + (write ? to : from), true);
    });
    known.add(std::move(access), bounds);
  }
  EXPECT_GT(covered, 1000U);
}

// Where no column is the same, nothing is.
TEST(KnownAccessesTest, TwoThatMeetHaveAColumnInCommon) {
  std::mt19937 random{2};
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  const auto drawn = [&] {
    const std::uint32_t begin = below(8192);
    const std::uint32_t width = 1 + below(below(3) == 0 ? 1200 : 40);
    if (below(3) == 0) {
      return Footprint::interval(begin, width);
    }
    const std::uint32_t swizzle = 32U << below(3);
    const bool swizzled = below(4) == 0;
    const std::uint32_t pitch = swizzled ? swizzle : 16U << below(8);
    const std::uint32_t in_row = swizzled ? 1 + below(swizzle) : std::min(width, pitch);
    const std::uint32_t first = swizzled ? begin / pitch * pitch : begin;
    const std::uint32_t rows = 1 + below(70);
    Footprint at{first, first + (rows - 1) * pitch + in_row, in_row, pitch, swizzled};
    at.addressed = !swizzled && below(2) == 0;
    return at;
  };
  std::uint32_t meet = 0;
  std::uint32_t apart = 0;
  for (int i = 0; i < 200'000; ++i) {
    const Footprint one = drawn();
    const Footprint other = drawn();
    const bool common = (one.columns() & other.columns()) != 0;
    EXPECT_TRUE(common || !one.meets(other));
    meet += one.meets(other) ? 1 : 0;
    apart += common ? 0 : 1;
  }
  EXPECT_GT(meet, 10'000U);
  EXPECT_GT(apart, 10'000U);
}

}  // namespace
}  // namespace warptwin::sim
