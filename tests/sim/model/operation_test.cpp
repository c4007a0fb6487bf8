#include "sim/model/operation.hpp"

#include <set>

#include <gtest/gtest.h>

#include "sim/model/atomic_update.hpp"

namespace warptwin::sim::operation_test {
namespace {

using testing::ExitedWithCode;

// Which operations say nothing beside what they are: a new one is given operands, or stands here.
TEST(OperationTest, WhatItHasIsWhatItsKindSays) {
  const std::set<Op> without{Op::kFence,
                             Op::kFenceMbarrierInit,
                             Op::kTcgen05FenceBefore,
                             Op::kTcgen05FenceAfter,
                             Op::kClusterArrive,
                             Op::kClusterWait,
                             Op::kBulkCommitGroup,
                             Op::kWgmmaCommit,
                             Op::kGriddepcontrolWait,
                             Op::kGriddepcontrolLaunch,
                             Op::kWarpStart,
                             Op::kWarpExit,
                             Op::kCtaExit,
                             Op::kCount};
  for (unsigned kind = 0; kind <= static_cast<unsigned>(Op::kCount); ++kind) {
    const Op op = static_cast<Op>(kind);
    EXPECT_EQ(Operation{op}.is<operands::None>(), without.contains(op)) << kind;
  }
  EXPECT_TRUE(Operation{}.is<operands::None>());
}

TEST(OperationTest, AskedForWhatItHasNotItNamesBoth) {
  Operation load{Op::kBulkLoad};
  EXPECT_EXIT(load.as<operands::Mbarrier>(),
              ExitedWithCode(3),
              "cp.async.bulk \\(load\\) has a copy, not an mbarrier");
  const Operation wait{Op::kMbarrierWait};
  EXPECT_EXIT(wait.as<operands::Copy>(), ExitedWithCode(3), "has an mbarrier, not a copy");
  EXPECT_EXIT(wait.product(), ExitedWithCode(3), "not a product to tensor memory");
  EXPECT_EXIT(wait.load_barrier(), ExitedWithCode(3), "not a copy");
}

TEST(OperationTest, TheMbarrierOfALoadIsThatOfItsKind) {
  for (const Op op : {Op::kTensorLoad, Op::kBulkLoad, Op::kClcTryCancel}) {
    Operation load{op};
    load.load_barrier() = 1024;
    EXPECT_EQ(load.told().signal().barrier, 1024U) << name_of(op);
  }
}

TEST(OperationTest, ItsEventHasThePayloadOfItsKind) {
  for (unsigned kind = 0; kind < static_cast<unsigned>(Op::kCount); ++kind) {
    const Op op = static_cast<Op>(kind);
    EXPECT_EQ(Operation{op}.told().kind(), payload_of(op)) << name_of(op);
  }
  Operation load{Op::kSharedLoad};
  load.set<operands::LaneBytes>() = {nullptr, 1, 7};
  EXPECT_EQ(load.told().as<payload::Rows>().copies, 7U);
  EXPECT_EQ(load.told().rows(), nullptr);  // until its lanes say which
  load.set<operands::SharedRows>();
  EXPECT_TRUE(load.told().is<payload::Rows>());
}

TEST(OperationTest, OnlyWhoHasCtasHasAMaskAndAGroup) {
  for (const Op op : {Op::kTensorLoad, Op::kTcgen05Commit}) {
    Operation operation{op};
    operation.set_mask(CtaMask{5});
    operation.set_group(CtaGroup::kTwo);
    EXPECT_EQ(operation.mask().bits, 5U);
    EXPECT_EQ(operation.group(), CtaGroup::kTwo);
  }
  Operation wait{Op::kMbarrierWait};
  wait.set_mask(CtaMask{5});
  wait.set_group(CtaGroup::kTwo);
  EXPECT_EQ(wait.mask().bits, 0U);
  EXPECT_EQ(wait.group(), CtaGroup::kOne);
}

TEST(OperationTest, OnceTakenUpItPointsToNobody) {
  LaneAccess access{4};
  Operation store{Op::kSharedStore};
  store.set<operands::LaneBytes>().access = &access;
  EXPECT_EQ(store.access(), &access);
  store.let_go();
  EXPECT_EQ(store.access(), nullptr);

  AtomicUpdate update{4};
  Operation add{Op::kGlobalRedAdd};
  add.as<operands::GlobalWord>().update = &update;
  EXPECT_EQ(add.access(), &update);
  add.let_go();
  EXPECT_EQ(add.access(), nullptr);
}

}  // namespace
}  // namespace warptwin::sim::operation_test
