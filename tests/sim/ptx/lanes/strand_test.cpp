#include "sim/ptx/lanes/strand.hpp"

#include <gmock/gmock.h>

#include "tests/sim/ptx/lanes/warp.hpp"

namespace warptwin::ptx::strand_test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr char kRegisters[] =
    ".reg .b32 %r<30>; .reg .b64 %rd<20>; .reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b128 %q<3>;\n"
    ".reg .f32 %f<9>; .reg .b8 %b<3>;\n";

std::string kernel(const std::string& body) {
  return ".entry k(.param .u64 p, .param .u32 n) {\n" + std::string{kRegisters} + body + "\n}\n";
}

std::uint32_t collatz(std::uint32_t value) {
  std::uint32_t steps = 0;
  for (; value != 1; ++steps) {
    value = value % 2 == 0 ? value / 2 : 3 * value + 1;
  }
  return steps;
}

TEST(PtxStrand, LanesLoopAsOftenAsEachNeeds) {
  TestWarp warp{kernel(
      "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 1; mov.b32 %r3, 0;\n"
      "L: setp.eq.u32 %p1, %r2, 1; @%p1 bra DONE;\n"
      "and.b32 %r4, %r2, 1; setp.eq.u32 %p2, %r4, 0; @%p2 bra EVEN;\n"
      "mad.lo.u32 %r2, %r2, 3, 1; bra NEXT; EVEN: shr.u32 %r2, %r2, 1;\n"
      "NEXT: add.u32 %r3, %r3, 1; bra L;\n"
      "DONE: mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r3; "
      "ret;")};
  warp.parameters["p"] = 0x80000;
  warp.run();
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(warp.word(0x80000 + lane * 4), collatz(lane + 1)) << "lane " << lane;
  }
  EXPECT_GT(warp.merges, 0U);
  ASSERT_FALSE(warp.stops.empty());
  EXPECT_EQ(warp.stops.back().kind, Stop::Kind::kLeft);
  EXPECT_EQ(warp.stops.back().mask, ~Mask{0}) << "all lanes came together before the end";
}

TEST(PtxStrand, SwitchGoesToEachLanesTarget) {
  TestWarp warp{kernel(
      "ts: .branchtargets A, B, C; mov.u32 %r1, %laneid; rem.u32 %r2, %r1, 3; brx.idx %r2, ts;\n"
      "A: mov.b32 %r3, 10; bra E; B: mov.b32 %r3, 20; bra E; C: mov.b32 %r3, 30; E: ret;")};
  warp.run();
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(warp.reg("%r3").value[lane], 10 + 10 * (lane % 3));
  }
  EXPECT_EQ(warp.merges, 2U);
}

TEST(PtxStrand, SwitchBeyondItsTargetsIsAFault) {
  TestWarp warp{kernel("ts: .branchtargets A; mov.b32 %r1, 7; brx.idx %r1, ts; A: ret;")};
  warp.run();
  ASSERT_THAT(warp.stops, SizeIs(1));
  EXPECT_EQ(warp.stops[0].text, "brx.idx takes entry 7 of 1");
}

TEST(PtxStrand, CallsPassParametersAndRecurse) {
  TestWarp warp{
      ".func (.param .b32 r) fib(.param .b32 n) { .reg .b32 %r<9>; .reg .pred %p;\n"
      "ld.param.u32 %r1, [n]; setp.lt.u32 %p, %r1, 2; mov.b32 %r5, %r1; @%p bra END;\n"
      "{ .param .b32 a; .param .b32 b; sub.u32 %r2, %r1, 1; st.param.b32 [a+0], %r2;\n"
      "call.uni (b), fib, (a); ld.param.b32 %r3, [b+0]; }\n"
      "{ .param .b32 a; .param .b32 b; sub.u32 %r2, %r1, 2; st.param.b32 [a+0], %r2;\n"
      "call (b), fib, (a); ld.param.b32 %r4, [b]; } add.u32 %r5, %r3, %r4;\n"
      "END: st.param.b32 [r], %r5; ret; }\n" +
      kernel("{ .param .b32 a; .param .b32 b; mov.u32 %r1, %laneid; and.b32 %r1, %r1, 7;\n"
             "st.param.b32 [a], %r1; call (b), fib, (a); ld.param.b32 %r2, [b]; } ret;")};
  warp.run();
  const std::uint32_t expected[] = {0, 1, 1, 2, 3, 5, 8, 13};
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(warp.reg("%r2").value[lane], expected[lane % 8]);
  }
}

TEST(PtxStrand, EndlessRecursionIsAFault) {
  TestWarp warp{".func f() { call f; ret; }\n" + kernel("call f; ret;")};
  warp.run();
  ASSERT_THAT(warp.stops, SizeIs(1));
  EXPECT_THAT(warp.stops[0].text, HasSubstr("more than 512 calls"));
}

TEST(PtxStrand, CallsThroughRegistersGoWhereEachLaneSays) {
  TestWarp warp{
      ".func (.param .b32 r) one(.param .b32 a) { .reg .b32 x; ld.param.b32 x, [a];\n"
      "add.s32 x, x, 1; st.param.b32 [r], x; ret; }\n"
      ".func (.param .b32 r) two(.param .b32 a) { st.param.b32 [r], 2; ret; }\n" +
      kernel("proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
             "{ .param .b32 a; .param .b32 b; mov.u32 %r1, %laneid; setp.lt.u32 %p1, %r1, 10;\n"
             "mov.u64 %rd1, one; mov.u64 %rd2, two; selp.b64 %rd3, %rd1, %rd2, %p1;\n"
             "st.param.b32 [a], %r1; call (b), %rd3, (a), proto; ld.param.b32 %r2, [b]; } ret;")};
  warp.run();
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(warp.reg("%r2").value[lane], lane < 10 ? lane + 1 : 2);
  }
}

TEST(PtxStrand, FunctionsWithoutABodyAreAskedFor) {
  TestWarp warp{".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n" +
                kernel("{ .param .b64 f; .param .b64 a; .param .b32 r; mov.b64 %rd1, 5;\n"
                       "st.param.b64 [f], %rd1; st.param.b64 [a], %rd1;\n"
                       "call.uni (r), vprintf, (f, a); } ret;")};
  warp.run();
  ASSERT_THAT(warp.stops, SizeIs(2));
  EXPECT_EQ(warp.stops[0].kind, Stop::Kind::kCall);
  EXPECT_EQ(warp.stops[0].function->name, "vprintf");
}

TEST(PtxStrand, GuardsMaskAndExitsEndLanes) {
  TestWarp warp{
      kernel("mov.u32 %r1, %laneid; mov.b32 %r2, 0; setp.lt.u32 %p1, %r1, 4; @%p1 mov.b32 %r2, 1;\n"
             "@!%p1 exit; add.u32 %r2, %r2, 5; @%p1 ret; trap;")};
  warp.run();
  ASSERT_THAT(warp.stops, SizeIs(2));
  EXPECT_EQ(warp.stops[0].mask | warp.stops[1].mask, ~Mask{0});
  EXPECT_EQ(warp.reg("%r2").value[3], 6U);
  EXPECT_EQ(warp.reg("%r2").value[4], 0U);
}

TEST(PtxStrand, TrapAndMissingInstructionsStop) {
  TestWarp trap{kernel("trap;")};
  trap.run(0xf);
  ASSERT_THAT(trap.stops, SizeIs(1));
  EXPECT_EQ(trap.stops[0].kind, Stop::Kind::kTrap);
  TestWarp missing{kernel("mov.b32 %r1, 1; frob.b32 %r1, %r1; ret;")};
  missing.run();
  ASSERT_THAT(missing.stops, SizeIs(1));
  EXPECT_EQ(missing.stops[0].kind, Stop::Kind::kMissing);
  EXPECT_EQ(missing.stops[0].text, "no instruction frob.b32 is there");
}

TEST(PtxStrand, BranchOnWhatNobodyWroteStops) {
  TestWarp warp{kernel("setp.eq.u32 %p1, %r1, 0; @%p1 bra L; L: ret;")};
  warp.run();
  ASSERT_THAT(warp.stops, SizeIs(1));
  EXPECT_EQ(warp.stops[0].kind, Stop::Kind::kPoison);
  EXPECT_EQ(warp.stops[0].op, 1U);
}

TEST(PtxStrand, WhatAnUnknownGuardMayWriteIsUnknown) {
  TestWarp warp{kernel("mov.b32 %r1, 5; setp.eq.u32 %p1, %r2, 0; @%p1 mov.b32 %r1, 6; ret;")};
  warp.run();
  EXPECT_EQ(warp.reg("%r1").poison[0], 0xf);
}

TEST(PtxStrand, RequestsHaveTheirOperandsRead) {
  TestWarp warp{kernel(
      "mov.b64 %rd1, 0x100; mov.u32 %r1, %laneid; mov.b32 %r2, 7; mov.b64 %rd2, {%r1, %r2};\n"
      "mov.b128 %q1, {%rd1, %rd2};\n"
      "atom.global.add.u32 %r3, [%rd1+8], %r1; @%p1 bar.sync 0;\n"
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1],\n"
      "  [%rd1, {%r1, %r2}], [%r2+16]; atom.global.exch.b128 %q2, [%rd1], %q1; ret;")};
  warp.run(0x3);
  ASSERT_THAT(warp.stops, SizeIs(5));
  const Stop& atom = warp.stops[0];
  EXPECT_EQ(atom.mask, 0x3U);
  EXPECT_EQ(atom.operands[1].values[0].value[1], 0x108U);
  EXPECT_EQ(atom.operands[2].values[0].value[1], 1U);
  EXPECT_THAT(atom.operands[0].values, SizeIs(0));
  EXPECT_EQ(warp.stops[1].unknown_guard, 0x3U) << "%p1 was never written";
  const Stop& copy = warp.stops[2];
  ASSERT_THAT(copy.operands[1].values, SizeIs(3));
  EXPECT_EQ(copy.operands[1].values[2].value[0], 7U);
  EXPECT_EQ(copy.operands[2].values[0].value[0], 23U);
  const Stop& wide = warp.stops[3];
  ASSERT_THAT(wide.operands[2].values, SizeIs(2));
  EXPECT_EQ(wide.operands[2].values[1].value[1], std::uint64_t{7} << 32 | 1);
}

TEST(PtxStrand, VectorsArePackedAndUnpacked) {
  TestWarp warp{kernel(
      "mov.b32 %r1, 0x44332211; mov.b32 {%rs1, %rs2}, %r1; mov.b32 %r2, {%rs2, %rs1};\n"
      "mov.b64 %rd1, {%r1, %r2}; mov.b64 {_, %r3}, %rd1; mov.b128 %q1, {%rd1, %rd1};\n"
      "mov.b128 {%rd2, %rd3}, %q1; mov.b64 %rd4, {%rs1, %rs2, %rs1, %rs2}; mov.b128 %q2, %q1;\n"
      "mov.b128 {%rd5, _}, %q2; ret;")};
  warp.run();
  EXPECT_EQ(warp.reg("%rs2").value[0], 0x4433U);
  EXPECT_EQ(warp.reg("%r2").value[0], 0x22114433U);
  EXPECT_EQ(warp.reg("%r3").value[0], 0x22114433U);
  EXPECT_EQ(warp.reg("%rd3").value[0], 0x2211443344332211U);
  EXPECT_EQ(warp.reg("%rd4").value[0], 0x4433221144332211U);
  EXPECT_EQ(warp.reg("%q1", 1).value[0], 0x2211443344332211U);
  EXPECT_EQ(warp.reg("%rd5").value[0], 0x2211443344332211U);
}

TEST(PtxStrand, Lop3AsksWhetherABitIsSet) {
  TestWarp warp{
      kernel("mov.u32 %r1, %laneid; setp.lt.u32 %p2, %r1, 16; lop3.and.b32 %r2|%p1, %r1, 1, 0, "
             "0xc0, %p2;\n"
             "lop3.or.b32 _|%p3, %r1, 1, 0, 0xc0, %p2; ret;")};
  warp.run();
  EXPECT_EQ(warp.reg("%p1").holds(), 0xaaaaU);
  EXPECT_EQ(warp.reg("%p3").holds(), 0xaaaaffffU);
}

TEST(PtxStrand, CarriesChain) {
  TestWarp warp{kernel(
      "mov.b32 %r1, 0xffffffff; mov.b32 %r2, 1; add.cc.u32 %r3, %r1, %r2; addc.u32 %r4, 0, 0;\n"
      "sub.cc.u32 %r5, %r2, %r1; subc.u32 %r6, 5, 0;\n"
      "mad.lo.cc.u32 %r7, %r1, %r1, %r1; madc.hi.u32 %r8, %r1, %r1, 0; ret;")};
  warp.run();
  EXPECT_EQ(warp.reg("%r3").value[0], 0U);
  EXPECT_EQ(warp.reg("%r4").value[0], 1U);
  EXPECT_EQ(warp.reg("%r5").value[0], 2U);
  EXPECT_EQ(warp.reg("%r6").value[0], 4U);
  const std::uint64_t wide = std::uint64_t{0xffffffff} * 0xffffffff + 0xffffffff;
  EXPECT_EQ(warp.reg("%r8").value[0] << 32 | warp.reg("%r7").value[0], wide);
}

struct PoisonCase {
  const char* name;
  const char* body;    // reads %r1, of which bytes 0 and 1 are known: 0x00ff
  const char* result;  // a register
  std::uint8_t poison;
};

void PrintTo(const PoisonCase& row, std::ostream* out) {
  *out << row.body;
}

class PtxPoison : public testing::TestWithParam<PoisonCase> {};

TEST_P(PtxPoison, IsKeptByTheByte) {
  const PoisonCase& row = GetParam();
  TestWarp warp{kernel("mov.b32 %r1, {%rs1, %rs2}; " + std::string{row.body} + " ret;")};
  warp.reg("%rs1") = Lanes::all(0x00ff);
  warp.run();
  EXPECT_EQ(warp.reg(row.result).poison[5], row.poison);
}

constexpr PoisonCase kPoisonCases[] = {
    {"pack", "mov.b32 %r2, %r1;", "%r2", 0xc},
    {"unpack", "mov.b32 {%rs3, %rs4}, %r1;", "%rs3", 0},
    {"unpack_unknown", "mov.b32 {%rs3, %rs4}, %r1;", "%rs4", 0x3},
    {"and_known_zero", "and.b32 %r2, %r1, 0x0000ffff;", "%r2", 0},
    {"and_some", "and.b32 %r2, %r1, 0x00ffffff;", "%r2", 0x4},
    {"or_known_ones", "or.b32 %r2, %r1, 0xffff0000;", "%r2", 0},
    {"or_zero", "or.b32 %r2, %r1, 0;", "%r2", 0xc},
    {"xor", "xor.b32 %r2, %r1, %r1;", "%r2", 0xc},
    {"shl", "shl.b32 %r2, %r1, 8;", "%r2", 0x8},
    {"shl_bits", "shl.b32 %r2, %r1, 4;", "%r2", 0xc},
    {"shr", "shr.u32 %r2, %r1, 16;", "%r2", 0x3},
    {"shr_sign", "shr.s32 %r2, %r1, 16;", "%r2", 0xf},
    {"prmt", "prmt.b32 %r2, %r1, 0, 0x4510;", "%r2", 0},
    {"prmt_unknown", "prmt.b32 %r2, %r1, 0, 0x4523;", "%r2", 0x3},
    {"add", "add.u32 %r2, %r1, 1;", "%r2", 0xf},
    {"bfe_known", "bfe.u32 %r2, %r1, 4, 8;", "%r2", 0},
    {"bfe_unknown", "bfe.u32 %r2, %r1, 12, 8;", "%r2", 0x1},
    {"bfi_over", "bfi.b32 %r2, 0, %r1, 16, 16;", "%r2", 0},
    {"cvt_down", "cvt.u16.u32 %rs3, %r1;", "%rs3", 0},
    {"cvt_up", "cvt.u64.u32 %rd1, %r1;", "%rd1", 0xc},
    {"cvt_sign", "cvt.s64.s32 %rd1, %r1;", "%rd1", 0xfc},
    {"selp_known", "setp.eq.u32 %p1, 0, 0; selp.b32 %r2, 3, %r1, %p1;", "%r2", 0},
    {"selp_by_unknown", "setp.eq.u32 %p1, %r1, 0; selp.b32 %r2, 3, 4, %p1;", "%r2", 0xf},
    {"setp", "setp.eq.u32 %p1, %r1, 0;", "%p1", 0x1},
    {"predicate_and",
     "setp.ne.u32 %p2, 0, 0; setp.eq.u32 %p1, %r1, 0; and.pred %p3, %p1, %p2;",
     "%p3",
     0},
};

INSTANTIATE_TEST_SUITE_P(All, PtxPoison, testing::ValuesIn(kPoisonCases), [](const auto& row) {
  return std::string{row.param.name};
});

}  // namespace
}  // namespace warptwin::ptx::strand_test
