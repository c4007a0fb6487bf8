// Where clusters go when a grid starts.
#include "sim/timed/places.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace warptwin::sim {
namespace {

// Two lone TPCs, of GPC 0 and of GPC 2; GPCs of 4, 8 and 6 SMs.
Chip small_chip() {
  Chip chip;
  chip.sms = 22;
  chip.gpcs = 3;
  chip.l2_halves = 2;
  chip.places = {{2, 0, 0}, {2, 2, 1}, {4, 0, 0}, {8, 1, 1}, {6, 2, 1}};
  return chip;
}

std::vector<std::uint32_t> gpcs_of(const std::vector<L2Port>& ports, std::uint32_t size) {
  std::vector<std::uint32_t> gpcs;
  for (std::size_t sm = 0; sm < ports.size(); sm += size) {
    gpcs.push_back(ports[sm].gpc);
  }
  return gpcs;
}

using List = std::vector<std::uint32_t>;

TEST(Places, SingleCtasGoToGroupsInTurnAndLeaveOutFullOnes) {
  EXPECT_EQ(gpcs_of(dealt_out(small_chip(), 2, 1, 22), 1),
            (List{0, 2, 0, 1, 2, 0, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 1, 2, 1, 2, 1, 1}));
}

TEST(Places, PairsGoToLoneTpcsAndFoursDoNot) {
  EXPECT_EQ(gpcs_of(dealt_out(small_chip(), 2, 2, 11), 2), (List{0, 2, 0, 1, 2, 0, 1, 2, 1, 2, 1}));
  EXPECT_EQ(gpcs_of(dealt_out(small_chip(), 2, 4, 4), 4), (List{0, 1, 2, 1}));
}

TEST(Places, ACtaOfAClusterAsksAsTheOthersDo) {
  for (const L2Port& port : dealt_out(small_chip(), 2, 4, 4)) {
    EXPECT_EQ(port.half, port.gpc == 0 ? 0U : 1U);
  }
}

TEST(Places, WhereNoneHasRoomAllBeginAgain) {
  EXPECT_EQ(gpcs_of(dealt_out(small_chip(), 2, 4, 6), 4), (List{0, 1, 2, 1, 0, 1}));
  EXPECT_EQ(gpcs_of(dealt_out(small_chip(), 2, 16, 6), 16), (List{0, 2, 0, 1, 2, 0}));
}

TEST(Places, WithoutPlacesGpcsOfOneSizeHaveTurns) {
  Chip chip = small_chip();
  chip.places.clear();
  const std::vector<L2Port> ports = dealt_out(chip, 2, 2, 4);
  EXPECT_EQ(gpcs_of(ports, 2), (List{0, 1, 2, 0}));
  EXPECT_EQ(ports[0].half, 0U);
  EXPECT_EQ(ports[4].half, 1U);
}

TEST(Places, WithoutGpcsNeighboursFillAHalf) {
  Chip chip = small_chip();
  chip.gpcs = 0;
  const std::vector<L2Port> ports = dealt_out(chip, 2, 1, 22);
  EXPECT_EQ(ports[10].half, 0U);
  EXPECT_EQ(ports[11].half, 1U);
}

TEST(Places, AnH200HasAsManySmsForEachHalf) {
  const Chip chip = load_chip("h200");
  std::uint32_t first = 0;
  for (const L2Port& port : dealt_out(chip, 2, 1, 132)) {
    first += port.half == 0 ? 1 : 0;
  }
  EXPECT_EQ(first, 66U);
}

}  // namespace
}  // namespace warptwin::sim
