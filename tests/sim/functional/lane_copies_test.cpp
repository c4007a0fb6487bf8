// cp.async of kernel text: what it brings, and when it is reported.

#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/trace/words.hpp"

#include "sim/functional/engine.hpp"
#include "tests/support/print_types.hpp"

namespace warptwin::sim::lane_copies_test {
namespace {

using testing::Contains;
using testing::IsEmpty;

constexpr SharedAddress kTile{1024};
constexpr std::uint32_t kWords = 256;
constexpr Mbarrier kBar{{64}};

/// Keeps the faults, and the bytes that lanes were seen to use of copies on their way.
struct Faults : EventSink {
  void on_event(const Event& event) override {
    if (event.fault != Fault::kNone) {
      all.push_back(event.fault);
    }
    if (event.fault == Fault::kOnItsWay) {
      on_its_way.push_back(event.address);
      const auto& early = event.as<payload::OnItsWay>();
      copies.push_back(short_site(early.file, early.line));
    }
  }
  std::vector<Fault> all;
  std::vector<std::uint32_t> on_its_way;
  std::vector<std::string> copies;  // where those stand
};

// Word i of the source is 100 + i. `body` is told where that begins.
template <class F>
Faults run(F body, std::uint32_t warps = 1) {
  LaunchConfig config;
  config.warps_per_cta = warps;
  config.shared_bytes = 1U << 14;
  GlobalMemory memory;
  const std::uint64_t from = memory.add("source", 4 * kWords, true);
  for (std::uint32_t word = 0; word < kWords; ++word) {
    const std::uint32_t value = 100 + word;
    std::memcpy(memory.at(from + std::uint64_t{4} * word, 4), &value, 4);
  }
  const Symbols symbols;
  Gpu gpu{config, memory, symbols};
  Faults faults;
  gpu.set_sink(&faults);
  const auto scheduler = make_scheduler(ScheduleSpec::parse("round-robin"));
  run_functional(gpu, [&](SimMachine& m) { body(m, from); }, *scheduler, {100000});
  return faults;
}

// Each lane its own 8 bytes, of which it reads so many.
auto of_lanes(std::uint64_t from, std::uint32_t bytes = 8) {
  return [=](std::uint32_t lane) {
    return CopyOfLane{kTile + 8 * lane, {from + 8 * lane}, lane % 2 == 0 ? 8 : bytes};
  };
}

std::uint32_t word(SimMachine& m, std::uint32_t index) {
  return m.ld_shared_u32(kTile + 4 * index);
}

TEST(LaneCopies, BringWhatLanesReadAndZerosBehind) {
  std::vector<std::uint32_t> words;
  const Faults faults = run([&](SimMachine& m, std::uint64_t from) {
    m.cp_async(Extent<8>{}, of_lanes(from, 4));
    m.cp_async_commit_group();
    m.cp_async_wait_group<0>();
    m.sync_warp();
    m.elect_one([&] {
      for (std::uint32_t i = 0; i < 64; ++i) {
        words.push_back(word(m, i));
      }
    });
  });
  EXPECT_THAT(faults.all, IsEmpty());
  for (std::uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(words[i], i % 4 == 3 ? 0 : 100 + i) << i;
  }
}

TEST(LaneCopies, ThatReadNothingNeedNoSource) {
  const Faults faults = run([&](SimMachine& m, std::uint64_t) {
    m.cp_async(Extent<16>{}, [](std::uint32_t lane) {
      return CopyOfLane{kTile + 16 * lane, {}, 0};
    });
    m.cp_async_commit_group();
    m.cp_async_wait_group<0>();
    m.elect_one([&] { EXPECT_EQ(word(m, 5), 0U); });
  });
  EXPECT_THAT(faults.all, IsEmpty());
}

TEST(LaneCopies, OfOneLaneAreItsOwn) {
  const Faults faults = run([&](SimMachine& m, std::uint64_t from) {
    m.for_lanes(2, [&](std::uint32_t) {
      m.cp_async(Extent<8>{}, of_lanes(from));
      m.cp_async_commit_group();
    });
    m.for_lanes(1, [&](std::uint32_t) {
      m.cp_async_wait_group<0>();
      EXPECT_EQ(word(m, 1), 101U);
      word(m, 2);  // the second lane's
    });
    m.cp_async_wait_group<0>();
  });
  EXPECT_THAT(faults.on_its_way, testing::ElementsAre(kTile.value + 8));
}

TEST(LaneCopies, AreReportedToWhoeverUsesTheirBytesBefore) {
  const Faults faults = run([&](SimMachine& m, std::uint64_t from) {
    m.cp_async(Extent<8>{}, of_lanes(from));
    m.st_shared_u32(kTile + 12, 1);
    m.elect_one([&] {
      m.mbarrier_init(kBar, 1);
      m.cp_async_bulk_store({from + 512}, kTile + 64, 16);
      m.cp_async_bulk_load(kTile + 128, {from}, 16, CopyTarget{kBar});
      m.clc_try_cancel(kTile + 160, kBar, false);
    });
    m.cp_async(Extent<4>{}, [=](std::uint32_t) { return CopyOfLane{kTile + 80, {from}, 4}; });
    m.ld_shared_u32(kTile + 256);  // nobody's
    m.cp_async_commit_group();
    m.cp_async_wait_group<0>();
  });
  EXPECT_THAT(faults.on_its_way,
              testing::ElementsAre(kTile.value + 12,
                                   kTile.value + 64,
                                   kTile.value + 128,
                                   kTile.value + 160,
                                   kTile.value + 80));
}

TEST(LaneCopies, AreNamedByTheirFileAndLine) {
  std::uint32_t line = 0;
  const Faults faults = run([&](SimMachine& m, std::uint64_t from) {
    m.cp_async(Extent<8>{}, of_lanes(from));
    line = __LINE__ + 1;
    m.cp_async(Extent<8>{}, [=](std::uint32_t lane) {
      return CopyOfLane{kTile + 512 + 8 * lane, {from}, 8};
    });
    m.st_shared_u32(kTile + 512, 1);
    m.cp_async_commit_group();
    m.cp_async_wait_group<0>();
  });
  EXPECT_THAT(faults.copies, testing::ElementsAre(short_site(__FILE__, line)));
}

TEST(LaneCopies, OfWordsThatAreNotAlignedAreRefused) {
  const auto faults_of = [](std::uint32_t to, std::uint32_t from_offset, std::uint32_t bytes) {
    return run([=](SimMachine& m, std::uint64_t from) {
             m.cp_async(Extent<16>{}, [=](std::uint32_t lane) {
               return CopyOfLane{kTile + to + 16 * lane, {from + from_offset + 16 * lane}, bytes};
             });
           })
        .all;
  };
  EXPECT_THAT(faults_of(4, 0, 16), Contains(Fault::kMisaligned));
  EXPECT_THAT(faults_of(0, 4, 16), Contains(Fault::kMisaligned));
  EXPECT_THAT(faults_of(0, 4, 4), Contains(Fault::kMisaligned));  // of the copy's size, not read's
}

TEST(LaneCopies, OfSizesThatThereAreNotAreRefused) {
  const auto copy = [](auto size, std::uint32_t read) {
    run([=](SimMachine& m, std::uint64_t from) {
      m.cp_async(size, [=](std::uint32_t lane) {
        return CopyOfLane{kTile + 16 * lane, {from}, read};
      });
      m.cp_async_commit_group();
      m.cp_async_wait_group<0>();
    });
  };
  EXPECT_NO_THROW(copy(Extent<8>{}, 8));
  EXPECT_THROW(copy(Extent<8>{}, 9), ConfigError);
  EXPECT_THROW(copy(Extent<>{12}, 4), ConfigError);
}

// The fault of the copy itself is all that is said.
TEST(LaneCopies, ThatAnMbarrierCountsOutsideOfSharedMemoryAreRefused) {
  const Faults faults = run([&](SimMachine& m, std::uint64_t from) {
    m.elect_one([&] { m.mbarrier_init(kBar, 32); });
    m.sync_warp();
    m.cp_async(Extent<4>{}, [=](std::uint32_t lane) {
      return CopyOfLane{{0xFFFF'0000U + 4 * lane}, {from}, 4};
    });
    m.cp_async_mbarrier_arrive_noinc(kBar);
  });
  EXPECT_THAT(faults.all, Contains(Fault::kOutOfRange));
  EXPECT_THAT(faults.on_its_way, IsEmpty());
}

}  // namespace
}  // namespace warptwin::sim::lane_copies_test
