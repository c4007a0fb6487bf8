#include "common/kernel/tile_scheduler.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace warptwin {
namespace {

std::vector<int> tiles_of(const StaticTileScheduler& scheduler, int tiles_m) {
  std::vector<int> indices;
  for (const Tile tile : scheduler) {
    indices.push_back(static_cast<int>(tile.m) + tiles_m * static_cast<int>(tile.n));
  }
  return indices;
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
  EXPECT_EQ(tiles_of({kGrid, 0, 1, kPair, 0}, 4), (std::vector{0, 2, 4, 6}));
  EXPECT_EQ(tiles_of({kGrid, 0, 1, kPair, 1}, 4), (std::vector{1, 3, 5, 7}));
  // Clusters of 2 x 2 are two, and this is the second of them.
  constexpr ClusterShape kSquare{2, 2, CtaGroup::kTwo};
  EXPECT_EQ(tiles_of({kGrid, 1, 2, kSquare, 3}, 4), (std::vector{7}));
}

TEST(TileGrid, CoversEdgesThatCutATile) {
  constexpr auto kGrid = TileGrid::covering(129, 128, 128, 128);
  EXPECT_EQ(kGrid.m, 2U);
  EXPECT_EQ(kGrid.n, 1U);
}

}  // namespace
}  // namespace warptwin
