/// Hash tables of addresses, against maps.

#include "sim/ptx/machine/address_table.hpp"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace warptwin::ptx {
namespace {

TEST(AddressTableTest, ItHoldsWhatAMapHolds) {
  std::mt19937_64 random{1};
  AddressTable<int> table;
  std::map<std::uint64_t, int> map;
  for (int step = 0; step < 20000; ++step) {
    const std::uint64_t address = random() % 4096 * 4096 + (random() % 2 << 63);
    const int* found = table.find(address);
    const auto known = map.find(address);
    ASSERT_EQ(found != nullptr, known != map.end());
    if (found != nullptr) {
      EXPECT_EQ(*found, known->second);
    }
    table[address] += step;
    map[address] += step;
    if (step % 7001 == 7000) {
      table.clear();
      map.clear();
      EXPECT_TRUE(table.empty());
    }
  }
  std::map<std::uint64_t, int> all;
  for (const auto& [address, value] : table) {
    EXPECT_TRUE(all.emplace(address, value).second);
  }
  EXPECT_EQ(all, map);
}

TEST(AddressLinesTest, NeighboursAreNotThereBecauseOneIs) {
  AddressLines<int, 4> lines;
  EXPECT_TRUE(lines.empty());
  EXPECT_EQ(lines.find(8), nullptr);
  lines[8] = 1;
  lines[60] = 2;
  lines[64] = 3;
  ASSERT_NE(lines.find(8), nullptr);
  EXPECT_EQ(*lines.find(8), 1);
  EXPECT_EQ(lines.find(12), nullptr);
  EXPECT_EQ(lines.find(9), nullptr);  // in the middle of one
  std::map<std::uint64_t, int> all;
  lines.for_each([&](std::uint64_t address, int value) { all[address] = value; });
  EXPECT_EQ(all, (std::map<std::uint64_t, int>{{8, 1}, {60, 2}, {64, 3}}));
  lines.clear();
  EXPECT_EQ(lines.find(8), nullptr);
}

}  // namespace
}  // namespace warptwin::ptx
