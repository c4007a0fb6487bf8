#include "sim/ptx/code/form.hpp"

#include <fstream>
#include <set>
#include <string>

#include <gmock/gmock.h>

namespace warptwin::ptx::form_test {
namespace {

using testing::HasSubstr;

TEST(PtxForm, EveryMnemonicThatCompilersEmitIsInTheTable) {
  std::ifstream file{WARPTWIN_TESTS "/sim/ptx/mnemonics.txt"};
  ASSERT_TRUE(file) << "cannot read mnemonics.txt";
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') {
      continue;
    }
    ++count;
    const FormMatch match = find_form(line);
    EXPECT_NE(match.form, nullptr) << line << ": " << match.reason;
  }
  EXPECT_GE(count, 562U);
}

TEST(PtxForm, BaseOpcodeIsTheLongestThatFits) {
  EXPECT_EQ(find_form("cp.async.bulk.prefetch.tensor.4d.L2.global").form->name,
            "cp.async.bulk.prefetch.tensor");
  EXPECT_EQ(find_form("cp.async.bulk.wait_group.read").form->name, "cp.async.bulk.wait_group");
  EXPECT_EQ(find_form("cp.async.wait_group").form->name, "cp.async.wait_group");
  EXPECT_EQ(find_form("tcgen05.wait::ld.sync.aligned").form->name, "tcgen05.wait::ld");
  EXPECT_EQ(find_form("add.cc.u32").form->name, "add.cc");
}

TEST(PtxForm, OrderOfModifiersDoesNotMatter) {
  EXPECT_EQ(find_form("tcgen05.cp.cta_group::2.32x128b.warpx4").form,
            find_form("tcgen05.cp.warpx4.cta_group::2.32x128b").form);
}

TEST(PtxForm, WhatTheTableDoesNotHaveSaysWhy) {
  EXPECT_EQ(find_form("frobnicate.u32").reason, "there is no frobnicate");
  EXPECT_EQ(find_form("add.frob.u32").reason, "add takes no .frob");
  EXPECT_EQ(find_form("add.ftz.s32").form, nullptr);
  EXPECT_EQ(find_form("mad.s32").reason, "mad takes exactly one of .lo or .hi");
  EXPECT_EQ(find_form("fma.rn.rz.f32.f32").form, nullptr);
  EXPECT_EQ(find_form("popc.u32").reason, "popc takes no type .u32 in place 1");
  EXPECT_THAT(find_form("tcgen05.mma.kind::f16").reason,
              HasSubstr("exactly one of .cta_group::1 or .cta_group::2"));
  EXPECT_EQ(find_form("wgmma.mma_async.sync.aligned.f32.f16.f16").reason,
            "wgmma.mma_async needs a shape");
  EXPECT_EQ(find_form("").form, nullptr);
}

TEST(PtxForm, RulesFillOptionalOperandsFromTheLeft) {
  const FormMatch match = find_form("barrier.red.popc.u32");
  ASSERT_NE(match.form, nullptr);
  const auto three = rules_of(*match.form, 3);
  ASSERT_EQ(three.size(), 3U);
  EXPECT_FALSE(three[1]->optional);
  EXPECT_FALSE(three[2]->optional);
  EXPECT_TRUE(rules_of(*match.form, 4)[2]->optional);
}

}  // namespace
}  // namespace warptwin::ptx::form_test
