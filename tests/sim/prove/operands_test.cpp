#include "sim/prove/operands.hpp"

#include <gtest/gtest.h>

namespace warptwin::sim {
namespace {

std::uint64_t hash_of(const Event& event, std::uint32_t first_cta = 0) {
  Hash hash;
  add_operands(event, first_cta, hash);
  return hash.value();
}

// Whether an event of the kind, with a field of its payload as `change` makes it, is another one.
template <class Payload>
bool tells(Op op, auto change) {
  Event event{op};
  event.set<Payload>();
  const std::uint64_t before = hash_of(event);
  change(event.as<Payload>());
  return hash_of(event) != before;
}

TEST(Operands, OfTheInstructionAreToldApart) {
  EXPECT_TRUE(tells<payload::Mma>(Op::kTcgen05Mma, [](auto& of) { of.kind = MmaKind::kTf32; }));
  EXPECT_TRUE(tells<payload::TmemCopy>(Op::kTcgen05Cp, [](auto& of) { of.padding = 8; }));
  EXPECT_TRUE(
      tells<payload::TmemWait>(Op::kTcgen05WaitLd, [](auto& of) { of.of_registers = true; }));
  EXPECT_TRUE(tells<payload::Rows>(Op::kSharedLoad, [](auto& of) { of.row = 1; }));
  EXPECT_TRUE(tells<payload::Rows>(Op::kSharedLoad, [](auto& of) { of.pitch = 64; }));
  EXPECT_TRUE(tells<payload::Copy>(Op::kTensorLoad, [](auto& of) { of.padding = 8; }));
  EXPECT_TRUE(tells<payload::Copy>(Op::kTensorLoad, [](auto& of) { of.mask = 3; }));
  EXPECT_TRUE(tells<payload::GlobalWord>(Op::kGlobalWait, [](auto& of) { of.test_operands = 1; }));
  EXPECT_TRUE(tells<payload::Note>(Op::kStageNote, [](auto& of) { of.index = 1; }));
}

TEST(Operands, ThatAreStateOrDataAreNot) {
  EXPECT_FALSE(tells<payload::Mbarrier>(Op::kMbarrierArrive, [](auto& of) { of.pending = 1; }));
  EXPECT_FALSE(tells<payload::Wgmma>(Op::kWgmma, [](auto& of) { of.number = 1; }));
  EXPECT_FALSE(tells<payload::Rows>(Op::kSharedStore, [](auto& of) { of.written = 1; }));
  EXPECT_FALSE(tells<payload::ClcRequest>(Op::kClcTryCancel, [](auto& of) { of.got = 1; }));
  Event load{Op::kBulkLoad};
  load.as<payload::Copy>().barrier = 64;
  const std::uint64_t before = hash_of(load);
  load.as<payload::Copy>().barrier_cta = 2;
  EXPECT_NE(hash_of(load), before);
  EXPECT_EQ(hash_of(load, 2), before);
}

// A flag that nobody has thought of is one of the operation.
TEST(Operands, FlagsAreOfTheOperationUnlessTheySayWhatWasFound) {
  EXPECT_EQ(flags_of_work(1U << 31), 1U << 31);
  EXPECT_EQ(flags_of_work(event_flag::kRead | event_flag::kFalse), event_flag::kRead);
}

}  // namespace
}  // namespace warptwin::sim
