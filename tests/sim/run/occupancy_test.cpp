/// The edges of how many CTAs an SM runs, each from both sides.

#include "sim/run/occupancy.hpp"

#include <gtest/gtest.h>

namespace warptwin::sim::occupancy_test {
namespace {

constexpr CtaNeeds kSmall{1024, 32, 8, 1};

Occupancy of(CtaNeeds needs) {
  return occupancy(needs, SmLimits{});
}

TEST(Occupancy, AByteMoreOfSharedMemoryIsACtaLess) {
  CtaNeeds needs = kSmall;
  needs.shared_bytes = 233472 / 2 - 1024;  // two with what each takes beside it
  EXPECT_EQ(of(needs).ctas_per_sm, 2U);
  EXPECT_EQ(of(needs).limited_by, "shared memory");
  needs.shared_bytes += 1;
  EXPECT_EQ(of(needs).ctas_per_sm, 1U);
  needs.shared_bytes = 227 * 1024;  // the most that a CTA may ask for
  EXPECT_EQ(of(needs).ctas_per_sm, 1U);
  needs.shared_bytes += 1;
  EXPECT_EQ(of(needs).ctas_per_sm, 0U);
}

TEST(Occupancy, SharedMemoryIsAllocatedInUnits) {
  CtaNeeds needs = kSmall;
  needs.shared_bytes = 233472 / 6 - 1024;  // 38912 bytes with what each takes: 304 units
  EXPECT_EQ(of(needs).ctas_per_sm, 6U);
  needs.shared_bytes = 233472 / 5 - 1024;  // 46694 bytes: more than 364 units, so 365, and not five
  EXPECT_EQ(of(needs).ctas_per_sm, 4U);
  needs.shared_bytes = 364 * 128 - 1024;
  EXPECT_EQ(of(needs).ctas_per_sm, 5U);
}

TEST(Occupancy, AWarpMoreIsACtaLess) {
  CtaNeeds needs = kSmall;
  needs.threads = 1024;
  EXPECT_EQ(of(needs).ctas_per_sm, 2U);
  EXPECT_EQ(of(needs).limited_by, "threads");
  needs.threads = 1024 + 32;
  EXPECT_EQ(of(needs).ctas_per_sm, 1U);
  needs.threads = 672;  // 21 warps of 64
  EXPECT_EQ(of(needs).ctas_per_sm, 3U);
  needs.threads = 704;
  EXPECT_EQ(of(needs).ctas_per_sm, 2U);
}

TEST(Occupancy, RegistersAreAllocatedToWarpsInUnitsAndFiles) {
  CtaNeeds needs = kSmall;
  needs.threads = 256;
  needs.registers_per_thread = 128;
  EXPECT_EQ(of(needs).ctas_per_sm, 2U);
  EXPECT_EQ(of(needs).limited_by, "registers");
  needs.registers_per_thread = 129;  // 136
  EXPECT_EQ(of(needs).ctas_per_sm, 1U);
  needs.registers_per_thread = 80;
  EXPECT_EQ(of(needs).ctas_per_sm, 3U);
  needs.registers_per_thread = 81;  // 88
  EXPECT_EQ(of(needs).ctas_per_sm, 2U);
  needs.threads = 512;
  needs.registers_per_thread = 128;
  EXPECT_EQ(of(needs).ctas_per_sm, 1U);
  needs.registers_per_thread = 129;
  EXPECT_EQ(of(needs).ctas_per_sm, 0U);
  needs.threads = 96;
  needs.registers_per_thread = 168;  // three warps in each of the four files
  EXPECT_EQ(of(needs).ctas_per_sm, 4U);
  needs.registers_per_thread = 176;  // two; all the registers together would be enough for eleven
  EXPECT_EQ(of(needs).ctas_per_sm, 2U);
}

TEST(Occupancy, UnknownRegistersAreNotCounted) {
  CtaNeeds needs = kSmall;
  needs.threads = 512;
  needs.registers_per_thread = 0;
  EXPECT_EQ(of(needs).ctas_per_sm, 4U);
  EXPECT_EQ(of(needs).limited_by, "threads");
}

TEST(Occupancy, NamedBarriersAreTwoForEachCta) {
  CtaNeeds needs = kSmall;
  needs.named_barriers = 2;
  EXPECT_EQ(of(needs).limited_by, "CTAs per SM");
  needs.named_barriers = 3;
  EXPECT_EQ(of(needs).ctas_per_sm, 21U);
  EXPECT_EQ(of(needs).limited_by, "named barriers");
  needs.named_barriers = 16;
  EXPECT_EQ(of(needs).ctas_per_sm, 4U);
  needs.named_barriers = 0;
  EXPECT_EQ(of(needs).ctas_per_sm, 32U);
}

TEST(Occupancy, AnSmHasSlotsForSoMany) {
  EXPECT_EQ(of(kSmall).ctas_per_sm, 32U);
  EXPECT_EQ(of(kSmall).limited_by, "CTAs per SM");
  CtaNeeds needs = kSmall;
  needs.shared_bytes = 233472 / 32 - 1024;  // 57 units
  EXPECT_EQ(of(needs).ctas_per_sm, 32U);
  needs.shared_bytes += 1;
  EXPECT_EQ(of(needs).ctas_per_sm, 31U);
}

TEST(Occupancy, EveryConstantOfTheChipIsALimit) {
  const Chip chip = load_chip("b200");
  const auto with = [&](double Chip::*constant, double value) {
    Chip turned = chip;
    turned.*constant = value;
    return occupancy(kSmall, SmLimits::of(turned));
  };
  EXPECT_EQ(occupancy(kSmall, SmLimits::of(chip)).ctas_per_sm, 32U);
  EXPECT_EQ(with(&Chip::sm_ctas, 5).ctas_per_sm, 5U);
  EXPECT_EQ(with(&Chip::sm_threads, 7 * 32).limited_by, "threads");
  EXPECT_EQ(with(&Chip::sm_threads, 7 * 32).ctas_per_sm, 7U);
  EXPECT_EQ(with(&Chip::sm_registers, 2048).limited_by, "registers");
  EXPECT_EQ(with(&Chip::sm_registers, 2048).ctas_per_sm, 8U);
  EXPECT_EQ(with(&Chip::sm_shared_bytes, 9 * 2048).limited_by, "shared memory");
  EXPECT_EQ(with(&Chip::sm_shared_bytes, 9 * 2048).ctas_per_sm, 9U);
  EXPECT_EQ(with(&Chip::sm_shared_per_cta, 233472 / 2 - 1024).ctas_per_sm, 2U);
  EXPECT_EQ(with(&Chip::sm_named_barriers, 16).limited_by, "named barriers");
  EXPECT_EQ(with(&Chip::sm_named_barriers, 16).ctas_per_sm, 16U);
}

}  // namespace
}  // namespace warptwin::sim::occupancy_test
