// Which clusters count as alike: what an operation says tells them apart, where it goes in global
// memory does not.

#include "sim/timed/likeness.hpp"

#include <functional>
#include <initializer_list>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warptwin::sim::likeness_test {
namespace {

// Of two clusters of a warp each: one executes the first operation, one the second.
std::uint32_t kinds_of(const Operation& first, const Operation& second) {
  LaunchConfig config;
  config.clusters = config.resident_clusters = 2;
  config.shared_bytes = 4096;
  GlobalMemory memory;
  const Symbols symbols;
  const Gpu gpu{config, memory, symbols};
  Likeness likeness{gpu};
  likeness.did(0, first);
  likeness.did(1, second);
  likeness.did(0, Operation{Op::kWarpExit});
  likeness.did(1, Operation{Op::kWarpExit});
  return likeness.kinds().kinds;
}

template <class T>
void expect_told_apart(Op kind, std::initializer_list<std::function<void(T&)>> changes) {
  Operation op{kind};
  op.set<T>();
  EXPECT_EQ(kinds_of(op, op), 1U) << name_of(kind);
  for (const auto& change : changes) {
    Operation other = op;
    change(other.as<T>());
    EXPECT_EQ(kinds_of(op, other), 2U) << name_of(kind) << ", " << &change - changes.begin();
  }
}

TEST(Likeness, OfWhatEveryOperationSays) {
  const Operation op{Op::kFence};
  Operation others[] = {op, op, op, op, op, op};
  others[0].op = Op::kFenceMbarrierInit;
  others[1].lanes = 1;
  others[2].flags = event_flag::kRead;
  others[3].some = 3;
  others[4].ordering = kReleaseCluster;
  others[5].site.line = 7;
  for (const Operation& other : others) {
    EXPECT_EQ(kinds_of(op, other), 2U) << &other - others;
  }
}

TEST(Likeness, OfBarriers) {
  expect_told_apart<operands::Mbarrier>(Op::kMbarrierArrive,
                                        {[](auto& of) { of.address = 8; },
                                         [](auto& of) { of.count = 2; },
                                         [](auto& of) { of.bytes = 64; },
                                         [](auto& of) { of.phase = 1; }});
  expect_told_apart<operands::NamedBarrier>(
      Op::kBarSync, {[](auto& of) { of.id = 1; }, [](auto& of) { of.threads = 64; }});
  expect_told_apart<operands::Note>(Op::kStageNote,
                                    {[](auto& of) { of.full = 8; },
                                     [](auto& of) { of.stages = 2; },
                                     [](auto& of) { of.index = 1; }});
}

TEST(Likeness, OfCopies) {
  expect_told_apart<operands::Copy>(Op::kTensorLoad,
                                    {[](auto& of) { of.shared = 128; },
                                     [](auto& of) { of.barrier = 8; },
                                     [](auto& of) { of.bytes = 64; },
                                     [](auto& of) { of.map = 1; },
                                     [](auto& of) { of.mask.bits = 3; },
                                     [](auto& of) { of.group = CtaGroup::kTwo; }});
  Operation load{Op::kTensorLoad};
  Operation elsewhere = load;
  elsewhere.as<operands::Copy>().at[1] = 64;
  elsewhere.as<operands::Copy>().global = 1024;
  EXPECT_EQ(kinds_of(load, elsewhere), 1U);
}

TEST(Likeness, OfProducts) {
  expect_told_apart<operands::Wgmma>(Op::kWgmma,
                                     {[](auto& of) { of.a.bits = 2; },
                                      [](auto& of) { of.b.bits = 2; },
                                      [](auto& of) { of.instruction.bits = 2; }});
  expect_told_apart<operands::Mma>(Op::kTcgen05Mma,
                                   {[](auto& of) { of.a.bits = 2; },
                                    [](auto& of) { of.b.bits = 2; },
                                    [](auto& of) { of.instruction.bits = 2; },
                                    [](auto& of) { of.d.value = 32; },
                                    [](auto& of) { of.tmem_a.value = 32; },
                                    [](auto& of) { of.metadata.value = 32; },
                                    [](auto& of) { of.scale_a.value = 32; },
                                    [](auto& of) { of.scale_b.value = 32; },
                                    [](auto& of) { of.group = CtaGroup::kTwo; }});
  expect_told_apart<operands::TmemCopy>(
      Op::kTcgen05Cp, {[](auto& of) { of.from.bits = 2; }, [](auto& of) { of.to.value = 32; }});
}

TEST(Likeness, OfLoadsAndStores) {
  expect_told_apart<operands::SharedRows>(Op::kSharedStore,
                                          {[](auto& of) { of.tile = 128; },
                                           [](auto& of) { of.row = 1; },
                                           [](auto& of) { of.column = 1; },
                                           [](auto& of) { of.row_bytes = 64; },
                                           [](auto& of) { of.element = ElementType::kBf16; }});
  expect_told_apart<operands::SharedWord>(
      Op::kSharedStore, {[](auto& of) { of.address = 4; }, [](auto& of) { of.value = 1; }});
  expect_told_apart<operands::TmemAccess>(
      Op::kTcgen05Ld, {[](auto& of) { of.address.value = 32; }, [](auto& of) { of.columns = 8; }});
  expect_told_apart<operands::GlobalWord>(
      Op::kGlobalWait, {[](auto& of) { of.value = 1; }, [](auto& of) { of.test_operands = 1; }});
  Operation load{Op::kGlobalLoad};
  Operation elsewhere = load;
  elsewhere.as<operands::GlobalWord>().address = 64;
  EXPECT_EQ(kinds_of(load, elsewhere), 1U);
}

// How often it does is a matter of time.
TEST(Likeness, ATryThatSaysNoDoesNotCount) {
  Operation no{Op::kMbarrierTryWait};
  Operation yes = no;
  yes.result = 1;
  const Operation other{Op::kMbarrierTryWait};
  EXPECT_EQ(kinds_of(no, other), 1U);
  EXPECT_EQ(kinds_of(no, yes), 2U);
}

}  // namespace
}  // namespace warptwin::sim::likeness_test
