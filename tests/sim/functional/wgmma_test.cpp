#include <algorithm>
#include <bit>
#include <cstring>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/machine/shared_tile.hpp"

#include "sim/functional/engine.hpp"
#include "tests/support/print_types.hpp"

namespace warptwin::sim::wgmma_test {
namespace {

constexpr std::uint32_t kShared = 1U << 17;
constexpr std::uint32_t kRows = 128;  // of A and D: two warpgroups
constexpr SharedTile<bf16> kTileA{{1024}, kRows, 64, Swizzle::k128B};
constexpr SharedTile<f32> kTileD{{65536}, kRows, 32, Swizzle::k128B};
constexpr Mbarrier kBar{{64}};

float value(std::uint32_t row, std::uint32_t k) {
  return static_cast<float>(static_cast<int>((row * 5 + k * 3) % 9) - 4);
}

/// Keeps the faults, and who was told of them.
struct Faults : EventSink {
  void on_event(const Event& event) override {
    if (event.fault != Fault::kNone) {
      all.push_back(event.fault);
    }
  }
  std::vector<Fault> all;
};

struct Outcome {
  Ending ending = Ending::kDone;
  std::vector<Fault> faults;
  std::vector<float> d;  // kRows rows of 32 columns
};

// A and B of `tile_b.columns` columns lie in shared memory before any warp begins to work; what
// lies in kTileD at the end is the result. Warps 0 to 7 multiply; warp 8 copies.
template <class F>
Outcome run(const SharedTile<bf16>& tile_b, F multiply, const std::string& schedule) {
  LaunchConfig config;
  config.warps_per_cta = 9;
  config.shared_bytes = kShared;
  GlobalMemory memory;
  const std::uint64_t from = memory.add("operands", kShared, true);
  const std::uint64_t to = memory.add("d", kTileD.bytes(), true);
  const auto place = [&](const SharedTile<bf16>& tile) {
    for (std::uint32_t r = 0; r < tile.rows; ++r) {
      for (std::uint32_t c = 0; c < tile.columns; ++c) {
        const auto bits = static_cast<std::uint16_t>(encode(ElementType::kBf16, value(r, c)));
        std::memcpy(memory.at(from + tile.at(r, c).value, 2), &bits, 2);
      }
    }
  };
  SharedTile<bf16> tile_a = kTileA;
  tile_a.columns = tile_b.columns;
  tile_a.swizzle = tile_b.swizzle;
  place(tile_a);
  place(tile_b);
  const auto body = [&](SimMachine& m) {
    if (m.warp_index() == 8) {
      const std::uint32_t bytes = 65536 - 1024;
      m.elect_one([&] {
        m.mbarrier_init(kBar, 1);
        m.mbarrier_arrive_expect_tx(kBar, bytes);
        m.cp_async_bulk_load({1024}, {from + 1024}, bytes, CopyTarget{kBar});
      });
    }
    m.cta_sync();
    if (m.warp_index() < 8) {
      m.mbarrier_wait_parity(kBar, WaitPhase::number(0));
      multiply(m, tile_a, tile_b);
      m.fence_proxy_async(ProxySpace::kSharedCta);
    }
    m.cta_sync();
    if (m.warp_index() == 8) {
      m.cp_async_bulk_store({to}, kTileD.base, kTileD.bytes());
      m.cp_async_bulk_commit_group();
      m.cp_async_bulk_wait_group<0>();
    }
  };
  const Symbols symbols;
  Gpu gpu{config, memory, symbols};
  Faults faults;
  gpu.set_sink(&faults);
  const auto scheduler = make_scheduler(ScheduleSpec::parse(schedule));
  Outcome result;
  result.ending = run_functional(gpu, body, *scheduler, {100000}).ending;
  result.faults = faults.all;
  for (std::uint32_t r = 0; r < kRows; ++r) {
    for (std::uint32_t c = 0; c < 32; ++c) {
      float x = 0;
      std::memcpy(&x, memory.at(to + kTileD.at(r, c).value - kTileD.base.value, 4), 4);
      result.d.push_back(x);
    }
  }
  return result;
}

using Columns = Extent<>;
using D = SimMachine::Accumulator<Columns>;

constexpr SharedTile<bf16> tile_b(std::uint32_t columns, Swizzle swizzle) {
  return {{32768}, 256, columns, swizzle};
}

std::uint32_t first_row(const SimMachine& m) {
  return m.warp_index() / 4 * 64;
}

// A group for each 32 bytes of K.
void multiply_all(SimMachine& m,
                  D& d,
                  const SharedTile<bf16>& a,
                  const SharedTile<bf16>& b,
                  bool accumulate = false) {
  for (std::uint32_t k = 0; k < a.row_bytes(); k += kWgmmaKBytes) {
    m.wgmma(d,
            WgmmaSmemDescriptor<bf16>::k_major(a, first_row(m), k),
            WgmmaSmemDescriptor<bf16>::k_major(b, 0, k),
            accumulate || k != 0);
    m.wgmma_commit_group();
  }
}

struct Shape {
  std::uint32_t n;
  std::uint32_t from;  // first column that is stored
  Swizzle swizzle;
  const char* schedule;
};

void PrintTo(const Shape& shape, std::ostream* out) {
  *out << "n=" << shape.n << " from=" << shape.from << " "
       << ::testing::PrintToString(shape.swizzle) << " " << shape.schedule;
}

class WgmmaTest : public ::testing::TestWithParam<Shape> {};

TEST_P(WgmmaTest, MultipliesEveryRowAndColumnByTheFragmentsOfTheManual) {
  const auto [n, from, swizzle, schedule] = GetParam();
  const std::uint32_t columns = static_cast<std::uint32_t>(swizzle) / 2;
  const auto body = [&](SimMachine& m, const SharedTile<bf16>& a, const SharedTile<bf16>& b) {
    D d{m, n};
    m.wgmma_fence();
    multiply_all(m, d, a, b);
    m.wgmma_wait_group<0>(d);
    d.transform([](float x) { return 2 * x; });
    m.wgmma_fence();
    multiply_all(m, d, a, b, true);
    m.wgmma_wait_group<0>(d);
    m.st_shared_accumulator(kTileD, m.warp_index() * kWgmmaWarpRows, d, from);
  };
  const Outcome outcome = run(tile_b(columns, swizzle), body, schedule);
  EXPECT_EQ(outcome.ending, Ending::kDone);
  EXPECT_TRUE(outcome.faults.empty());
  for (std::uint32_t r = 0; r < kRows; ++r) {
    for (std::uint32_t c = 0; c < std::min(32U, n - from); ++c) {
      float sum = 0;
      for (std::uint32_t k = 0; k < columns; ++k) {
        sum += value(r, k) * value(from + c, k);
      }
      ASSERT_EQ(outcome.d[r * 32 + c], 3 * sum) << "row " << r << ", column " << from + c;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes,
                         WgmmaTest,
                         ::testing::Values(Shape{8, 0, Swizzle::k128B, "round-robin"},
                                           Shape{24, 0, Swizzle::k128B, "random:1"},
                                           Shape{64, 32, Swizzle::k64B, "random:2"},
                                           Shape{256, 224, Swizzle::k32B, "pct:3:3:2000"}));

// --- What is wrong ----------------------------------------------------------------------------

using Fault1 = std::vector<Fault>;

Outcome wrong(void (*body)(SimMachine&, D&, const SharedTile<bf16>&, const SharedTile<bf16>&)) {
  return run(
      tile_b(64, Swizzle::k128B),
      [&](SimMachine& m, const SharedTile<bf16>& a, const SharedTile<bf16>& b) {
        D d{m, 32U};
        if (m.warp_index() < 4) {
          body(m, d, a, b);
        }
      },
      "round-robin");
}

TEST(WgmmaFaultTest, TheFirstWgmmaOfAWarpNeedsAFence) {
  const Outcome outcome = wrong([](SimMachine& m, D& d, const auto& a, const auto& b) {
    multiply_all(m, d, a, b);
    m.wgmma_wait_group<0>(d);
  });
  EXPECT_EQ(outcome.faults, Fault1(16, Fault::kNoFence));
}

TEST(WgmmaFaultTest, ARegisterThatWasTouchedNeedsAFence) {
  const Outcome outcome = wrong([](SimMachine& m, D& d, const auto& a, const auto& b) {
    m.wgmma_fence();
    d.fill(0);
    multiply_all(m, d, a, b, true);
    m.wgmma_wait_group<0>(d);
  });
  EXPECT_EQ(outcome.faults, Fault1(16, Fault::kNoFence));
}

TEST(WgmmaFaultTest, AChainOfOneShapeNeedsOnlyTheFirstFence) {
  const Outcome outcome = wrong([](SimMachine& m, D& d, const auto& a, const auto& b) {
    m.wgmma_fence();
    multiply_all(m, d, a, b);
    m.wgmma_wait_group<0>(d);
    multiply_all(m, d, a, b, true);
    m.wgmma_wait_group<0>(d);
  });
  EXPECT_TRUE(outcome.faults.empty());
}

TEST(WgmmaFaultTest, AWaitThatLeavesAGroupUnderWaySettlesNothing) {
  const Outcome outcome = wrong([](SimMachine& m, D& d, const auto& a, const auto& b) {
    m.wgmma_fence();
    multiply_all(m, d, a, b);
    m.wgmma_wait_group<1>(d);
    m.st_shared_accumulator(kTileD, 0, d, 0);
    m.wgmma_wait_group<0>(d);
  });
  EXPECT_EQ(outcome.faults, Fault1(4, Fault::kUnwaited));
}

TEST(WgmmaFaultTest, AnAccumulatorIsTouchedEarlyOnlyBeforeItIsSettled) {
  const Outcome outcome = wrong([](SimMachine& m, D& d, const auto& a, const auto& b) {
    m.wgmma_fence();
    multiply_all(m, d, a, b);
    d.transform([](float x) { return x + 1; });
    m.wgmma_wait_group<0>(d);
    d.transform([](float x) { return x + 1; });
    m.st_shared_accumulator(kTileD, 0, d, 0);
  });
  EXPECT_EQ(outcome.faults, Fault1(4, Fault::kUnwaited));
}

TEST(WgmmaFaultTest, AWarpThatEndsWithoutTheOthersWgmmaLeavesThemWaiting) {
  const Outcome outcome = wrong([](SimMachine& m, D& d, const auto& a, const auto& b) {
    if (m.warp_index() != 2) {
      m.wgmma_fence();
      multiply_all(m, d, a, b);
      m.wgmma_wait_group<0>(d);
    }
  });
  EXPECT_EQ(outcome.ending, Ending::kDeadlock);
}

TEST(WgmmaFaultTest, TheWarpsOfAWarpgroupMultiplyTheSame) {
  const Outcome outcome = wrong([](SimMachine& m, D& d, const auto& a, const auto& b) {
    SharedTile<bf16> own = b;
    own.base = own.base + (m.warp_index() == 3 ? 1024 : 0);
    m.wgmma_fence();
    m.wgmma(d,
            WgmmaSmemDescriptor<bf16>::k_major(a, 0, 0),
            WgmmaSmemDescriptor<bf16>::k_major(own, 0, 0),
            false);
    m.wgmma_commit_group();
    m.wgmma_wait_group<0>(d);
  });
  EXPECT_EQ(outcome.faults, Fault1{Fault::kNotWarpgroup});
}

}  // namespace
}  // namespace warptwin::sim::wgmma_test
