#include "common/kernel/tile_scheduler.hpp"

#include <algorithm>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

namespace warptwin {

static void PrintTo(const TileOrder& order, std::ostream* out) {
  *out << (order.raster == RasterOrder::kAlongM ? "along M" : "along N") << ", strips of "
       << order.swizzle;
}

}  // namespace warptwin

namespace warptwin::tile_scheduler_test {
namespace {

std::vector<int> tiles_of(const StaticTileScheduler& scheduler, int tiles_m) {
  std::vector<int> indices;
  for (const Tile tile : scheduler) {
    indices.push_back(static_cast<int>(tile.m) + tiles_m * static_cast<int>(tile.n));
  }
  return indices;
}

TEST(TileGrid, ZeroCtasStandForOneOfEachTile) {
  const TileGrid grid = TileGrid::covering(300, 200, 128, 128);
  EXPECT_EQ(grid.ctas(0), 6U);
  EXPECT_EQ(grid.ctas(2), 2U);
  EXPECT_EQ(grid.ctas(9), 9U);
}

TEST(StaticTileScheduler, ClustersShareTheGridWithoutOverlap) {
  constexpr TileGrid kGrid{3, 2};
  EXPECT_EQ(tiles_of({kGrid, 0, 4}, 3), (std::vector{0, 4}));
  EXPECT_EQ(tiles_of({kGrid, 1, 4}, 3), (std::vector{1, 5}));
  EXPECT_EQ(tiles_of({kGrid, 3, 4}, 3), (std::vector{3}));
}

TEST(StaticTileScheduler, AClusterBeyondTheLastTileHasNone) {
  EXPECT_EQ(tiles_of({TileGrid{3, 2}, 6, 8}, 3), std::vector<int>{});
}

TEST(StaticTileScheduler, TheCtasOfAClusterHaveNeighbouringTiles) {
  // 3 x 2 tiles, clusters of 2 x 1: two clusters' tiles along M, the last reaches beyond.
  constexpr TileGrid kGrid{3, 2};
  constexpr ClusterShape kPair{2, 1, CtaGroup::kTwo};
  EXPECT_EQ(tiles_of({{kGrid, kPair}, 0, 1, 0}, 4), (std::vector{0, 2, 4, 6}));
  EXPECT_EQ(tiles_of({{kGrid, kPair}, 0, 1, 1}, 4), (std::vector{1, 3, 5, 7}));
  // Clusters of 2 x 2 are two, and this is the second of them.
  constexpr ClusterShape kSquare{2, 2, CtaGroup::kTwo};
  EXPECT_EQ(tiles_of({{kGrid, kSquare}, 1, 2, 3}, 4), (std::vector{7}));
}

class TileOrderTest : public ::testing::TestWithParam<TileOrder> {};

TEST_P(TileOrderTest, TakesEachTileOnce) {
  for (const TileGrid grid : {TileGrid{1, 1}, {1, 7}, {7, 1}, {4, 4}, {3, 8}, {5, 7}, {8, 3}}) {
    std::vector<int> seen(grid.count(), 0);
    for (std::uint32_t i = 0; i < grid.count(); ++i) {
      const Tile tile = TileWalk{grid, {}, GetParam()}.at(i);
      ASSERT_LT(tile.m, grid.m);
      ASSERT_LT(tile.n, grid.n);
      ++seen[tile.m + tile.n * grid.m];
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<int>(grid.count()))
        << grid.m << " x " << grid.n;
  }
}
INSTANTIATE_TEST_SUITE_P(Orders,
                         TileOrderTest,
                         ::testing::Values(TileOrder{RasterOrder::kAlongM, 0},
                                           TileOrder{RasterOrder::kAlongN, 0},
                                           TileOrder{RasterOrder::kAlongM, 1},
                                           TileOrder{RasterOrder::kAlongN, 1},
                                           TileOrder{RasterOrder::kAlongM, 2},
                                           TileOrder{RasterOrder::kAlongN, 2},
                                           TileOrder{RasterOrder::kAlongM, 4},
                                           TileOrder{RasterOrder::kAlongN, 8}));

TEST(TileOrder, RastersAndStripsAreWalkedAsTheyAreDescribed) {
  const TileGrid grid{2, 3};
  const auto order = [&](TileOrder by) {
    std::vector<Tile> tiles;
    for (std::uint32_t i = 0; i < grid.count(); ++i) {
      tiles.push_back(TileWalk{grid, {}, by}.at(i));
    }
    return tiles;
  };
  EXPECT_EQ(order({}), (std::vector<Tile>{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}}));
  EXPECT_EQ(order({RasterOrder::kAlongN, 0}),
            (std::vector<Tile>{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}));
  // One strip of two columns; the third keeps its place.
  EXPECT_EQ(order({RasterOrder::kAlongM, 2}),
            (std::vector<Tile>{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 2}, {1, 2}}));
  // Strips of one column, every second one upwards.
  EXPECT_EQ(order({RasterOrder::kAlongM, 1}),
            (std::vector<Tile>{{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}, {1, 2}}));
}

TEST(StaticTileScheduler, WalksTheTilesInTheirOrder) {
  constexpr TileWalk kWalk{TileGrid{2, 2}, {}, {RasterOrder::kAlongN, 0}};
  const StaticTileScheduler scheduler{kWalk, 1, 2};
  EXPECT_EQ(tiles_of(scheduler, 2), (std::vector{2, 3}));  // of 0, 2, 1, 3 every second
}

TEST(TileWalk, OfTheTilesOfAClusterAtTheEdgeSomeAreBeyondTheMatrix) {
  constexpr TileWalk kWalk{TileGrid{3, 1}, ClusterShape{2, 1}};
  EXPECT_EQ(kWalk.count(), 2U);
  EXPECT_TRUE(kWalk.covers({2, 0}));
  EXPECT_FALSE(kWalk.covers({3, 0}));
  EXPECT_FALSE(kWalk.covers({2, 1}));
  EXPECT_EQ(TileWalk(TileGrid{0, 4}).count(), 0U);  // of a group without rows
}

TEST(TileGrid, CoversEdgesThatCutATile) {
  constexpr auto kGrid = TileGrid::covering(129, 128, 128, 128);
  EXPECT_EQ(kGrid.m, 2U);
  EXPECT_EQ(kGrid.n, 1U);
}

}  // namespace
}  // namespace warptwin::tile_scheduler_test
