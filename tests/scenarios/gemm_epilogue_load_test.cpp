#include "scenarios/gemm_epilogue_load.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/dispatch.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::scenarios::gemm_epilogue_load_test {
namespace {

using tests::RecordingMachine;

constexpr std::uint32_t kLoad = 5;
constexpr std::uint32_t kEpilogueLoad = 6;

/// One warp over two tiles of two boxes and six k steps.
template <class Extents>
std::vector<std::string> run(const Extents& extents, std::uint32_t warp) {
  using Kernel = GemmEpilogueLoad::Kernel<RecordingMachine, Extents>;
  using Problem = typename Kernel::Problem;
  RecordingMachine machine;
  machine.warp = warp;
  run_warp<Kernel>(machine, Problem{{1, 2, 3, extents, TileGrid{2, 1}, 6}, 4, 2.0F}, {});
  for (const StageNote& note : machine.notes) {
    EXPECT_LT(note.step, StageStep::kDropped);
  }
  return machine.take();
}

GemmEpilogueLoad::DynamicExtents extents_of(EpilogueSource source) {
  return {{128, 128, 64, 4, 2}, 2, static_cast<std::uint32_t>(source)};
}

bool starts(const std::string& line, const std::string& start) {
  return line.compare(0, start.size(), start) == 0;
}

auto count(const std::vector<std::string>& lines, const std::string& start) {
  return std::count_if(
      lines.begin(), lines.end(), [&](const std::string& line) { return starts(line, start); });
}

TEST(GemmEpilogueLoad, StaticAndDynamicExtentsGiveTheSameOperations) {
  const GemmEpilogueLoad::StaticExtents fixed;
  const GemmEpilogueLoad::DynamicExtents dynamic{{128, 128, 64, 4, 2}, 2, 0};
  for (std::uint32_t warp = 0; warp < 7; ++warp) {
    EXPECT_EQ(run(fixed, warp), run(dynamic, warp)) << "warp " << warp;
  }
}

TEST(GemmEpilogueLoad, ATileOfCMayComeAfterTheFirstRingOfItsOperands) {
  const auto load = run(GemmEpilogueLoad::StaticExtents{}, kLoad);
  const auto arrival = std::find_if(load.begin(), load.end(), [](const std::string& line) {
    return starts(line, "one: arrive ");
  });
  EXPECT_EQ(
      std::count_if(
          load.begin(), arrival, [](const std::string& line) { return starts(line, "load"); }),
      2 * 4);  // A and B of four stages
  EXPECT_EQ(count(load, "one: arrive "), 2);
}

TEST(GemmEpilogueLoad, EveryBoxIsLoadedReadOnceAndFreed) {
  const auto source = run(GemmEpilogueLoad::StaticExtents{}, kEpilogueLoad);
  EXPECT_EQ(count(source, "load"), 2 * 2);
  EXPECT_EQ(count(source, "one: arrive.expect_tx"), 2 * 2);
  EXPECT_EQ(count(source, "one: arrive "), 2);  // order.empty, once a tile
  const auto epilogue = run(GemmEpilogueLoad::StaticExtents{}, 2);
  EXPECT_EQ(count(epilogue, "ld.shared.row"), 2 * 2 * 4);  // 64 columns, 16 to a fragment
  EXPECT_EQ(count(epilogue, "arrive"), 2 * 2 + 2 + 1);     // source.empty, accum.empty, tmem.done
  for (const std::string& line : epilogue) {
    if (starts(line, "ld.shared.row")) {
      EXPECT_THAT(line, testing::HasSubstr("row 64"));  // the lanes of warp 2
    }
  }
}

TEST(GemmEpilogueLoad, TheReadsOfABoxComeBeforeItsNextCopy) {
  const auto epilogue = run(GemmEpilogueLoad::StaticExtents{}, 0);
  const auto is_read = [](const std::string& line) { return starts(line, "ld.shared.row"); };
  const auto first = std::find_if(epilogue.begin(), epilogue.end(), is_read);
  const auto after = std::find_if_not(first, epilogue.end(), is_read);
  EXPECT_EQ(*after, "fence.proxy.async");
  EXPECT_TRUE(starts(*(after + 1), "arrive"));
}

TEST(GemmEpilogueLoad, ATileOfCIsOnePhaseOfAllItsBoxes) {
  const auto source = run(extents_of(EpilogueSource::kTiles), kEpilogueLoad);
  EXPECT_EQ(count(source, "load"), 2 * 2);
  EXPECT_EQ(count(source, "one: arrive.expect_tx"), 2);
  const auto epilogue = run(extents_of(EpilogueSource::kTiles), 2);
  EXPECT_EQ(count(epilogue, "ld.shared.row"), 2 * 2 * 4);
  EXPECT_EQ(count(epilogue, "arrive"), 2 + 2 + 1);  // source.empty, accum.empty, tmem.done
}

TEST(GemmEpilogueLoad, BiasesAreOneRowATileAndEveryLaneReadsThem) {
  const auto source = run(extents_of(EpilogueSource::kBiases), kEpilogueLoad);
  EXPECT_EQ(count(source, "load"), 2);
  EXPECT_EQ(count(source, "one: arrive.expect_tx"), 2);
  const auto epilogue = run(extents_of(EpilogueSource::kBiases), 2);
  EXPECT_EQ(count(epilogue, "ld.shared.row"), 2 * 2 * 4);
  EXPECT_EQ(count(epilogue, "arrive"), 2 + 2 + 1);  // source.empty, accum.empty, tmem.done
  for (const std::string& line : epilogue) {
    if (starts(line, "ld.shared.row")) {
      EXPECT_THAT(line, testing::HasSubstr("row 0"));  // and not the row of warp 2
    }
  }
}

TEST(GemmEpilogueLoad, TheReadsOfATileOfCComeBeforeItsNextCopy) {
  const auto epilogue = run(extents_of(EpilogueSource::kTiles), 0);
  const auto is_read = [](const std::string& line) { return starts(line, "ld.shared.row"); };
  auto last = std::find_if(epilogue.begin(), epilogue.end(), is_read);
  for (int read = 1; read < 2 * 4; ++read) {
    last = std::find_if(last + 1, epilogue.end(), is_read);
  }
  EXPECT_EQ(*(last + 1), "fence.proxy.async");
  EXPECT_TRUE(starts(*(last + 2), "arrive"));
}

TEST(GemmEpilogueLoad, MoreSourceThanSharedMemoryHoldsIsRefused) {
  ParameterSet parameters{GemmEpilogueLoad::parameters()};
  parameters.set("source", 1);
  parameters.set("source_stages", 9);
  try {
    GemmEpilogueLoad::workload(parameters);
    ADD_FAILURE() << "nine tiles of C in shared memory";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("use source_stages<=5"));
  }
  parameters.set("source_stages", 5);
  try {
    GemmEpilogueLoad::workload(parameters);
    ADD_FAILURE() << "five tiles of C beside four stages";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("use stages<=1"));
  }
  parameters.set("stages", 1);
  EXPECT_EQ(GemmEpilogueLoad::workload(parameters).maps.size(), 4U);
}

}  // namespace
}  // namespace warptwin::scenarios::gemm_epilogue_load_test
