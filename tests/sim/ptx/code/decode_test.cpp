#include <string>

#include <gmock/gmock.h>

#include "sim/ptx/code/code.hpp"
#include "sim/ptx/code/flow.hpp"

namespace warptwin::ptx::decode_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

struct Loaded {
  Module module;
  std::vector<Code> codes;
};

Loaded load(const std::string& text) {
  Loaded loaded;
  loaded.module = parse_module(".version 9.0\n.target sm_100a\n.address_size 64\n" + text, "t.ptx");
  loaded.codes = decode(loaded.module);
  return loaded;
}

Loaded load_body(const std::string& text) {
  return load(
      ".entry k(.param .u64 p)\n{\n.reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .pred %p<9>;\n"
      ".reg .f32 %f<9>; .reg .b16 %rs<9>; .reg .b128 %rq<3>; .reg .f64 %fd<3>;\n" +
      text + "\n}\n");
}

std::string error_of(const std::string& text) {
  try {
    load_body(text);
  } catch (const SyntaxError& error) {
    return error.what();
  }
  return "no error";
}

TEST(PtxDecode, RegistersAreNumberedAsTheyAreNamed) {
  const Loaded loaded = load_body("add.s32 %r7, %r3, 5; add.s32 %r3, %r7, -1;");
  const Code& code = loaded.codes.at(0);
  ASSERT_THAT(code.registers, SizeIs(2));
  EXPECT_EQ(code.registers[0].name, "%r7");
  EXPECT_EQ(code.registers[1].type, Type::kB32);
  const auto arguments = code.arguments_of(code.ops.at(1));
  EXPECT_EQ(arguments[0].index, 1U);
  EXPECT_TRUE(arguments[0].written);
  EXPECT_FALSE(arguments[0].read);
  EXPECT_EQ(arguments[1].index, 0U);
  EXPECT_EQ(arguments[2].value, 0xffffffffU);
}

TEST(PtxDecode, InnerScopesHideOuterRegistersAndLabels) {
  const Loaded loaded =
      load_body("{ .reg .b64 %r1; mov.b64 %r1, 0; L: bra L; } mov.b32 %r1, 0; L: bra L;");
  const Code& code = loaded.codes.at(0);
  ASSERT_THAT(code.registers, SizeIs(2));
  EXPECT_EQ(code.registers[0].type, Type::kB64);
  EXPECT_EQ(code.arguments_of(code.ops.at(1))[0].index, 1U);
  EXPECT_EQ(code.arguments_of(code.ops.at(3))[0].index, 3U);
}

TEST(PtxDecode, RangesWhoseNamesEndInDigits) {
  const Loaded loaded =
      load(".entry k() { .reg .b32 %r1<5>; .reg .b32 x0; mov.b32 %r12, 0; mov.b32 x0, 1; }");
  EXPECT_THAT(loaded.codes.at(0).registers, SizeIs(2));
}

// As in the inline assembly by which Triton converts e4m3.
TEST(PtxDecode, RangesMayHaveTheNameOfASingleRegister) {
  const Loaded loaded = load(
      ".entry k() { .reg .b16 x<2>; .reg .b32 x; mov.b32 {x0, x1}, x; { .reg .b64 x<1>; "
      "mov.b64 x0, 0; mov.b32 x, 1; } }");
  const Code& code = loaded.codes.at(0);
  ASSERT_THAT(code.registers, SizeIs(4));
  EXPECT_EQ(code.arguments_of(code.ops.at(0))[1].index, code.arguments_of(code.ops.at(2))[0].index);
}

TEST(PtxDecode, OperandsNameWhatTheyAre) {
  const Loaded loaded = load(
      ".shared .align 16 .b8 smem[64];\n.func f() { ret; }\n"
      ".entry k(.param .u64 p) { .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .v2 .b32 v;\n"
      "mov.u64 %rd1, smem+4; mov.u64 %rd2, p; mov.u32 %r1, %tid.y; mov.u64 %rd3, f;\n"
      "ld.shared.v2.b32 {%r1, _}, [%rd1+-8]; ld.param.u64 %rd4, [p+4]; mov.b64 v, %rd1;\n"
      "mov.b32 v.y, 3; }");
  const Code& code = loaded.codes.at(1);
  const auto argument = [&](std::size_t op, std::size_t index) {
    return code.arguments_of(code.ops.at(op))[index];
  };
  EXPECT_EQ(argument(0, 1).kind, Argument::Kind::kVariable);
  EXPECT_EQ(argument(0, 1).value, 4U);
  EXPECT_EQ(code.variables[argument(1, 1).index].owner, VariableUse::Owner::kParameter);
  EXPECT_EQ(name_of(SpecialRegister{argument(2, 1).index}), "%tid.y");
  EXPECT_EQ(argument(3, 1).kind, Argument::Kind::kFunction);
  EXPECT_EQ(argument(4, 0).kind, Argument::Kind::kVector);
  EXPECT_EQ(argument(4, 1).value, std::uint64_t{0} - 8);
  EXPECT_EQ(argument(6, 0).count, 2U);
  EXPECT_EQ(argument(7, 0).index, code.parts_of(argument(6, 0))[1].index);
}

TEST(PtxDecode, SpecialRegistersHaveNamesAndComponents) {
  EXPECT_EQ(name_of(*special_named("%envreg31", 0)), "%envreg31");
  EXPECT_EQ(name_of(*special_named("%cluster_ctaid", 3)), "%cluster_ctaid.z");
  EXPECT_EQ(bits_of(*special_named("%clock64", 0)), 64U);
  EXPECT_FALSE(special_named("%tid", 0));
  EXPECT_FALSE(special_named("%tid", 4));
  EXPECT_FALSE(special_named("%laneid", 1));
}

TEST(PtxDecode, FloatsBecomeBitsOfTheInstructionsType) {
  const Loaded loaded = load_body(
      "add.f32 %f1, %f2, 0d3FF8000000000000; add.f64 %fd1, %fd2, 0f3FC00000; "
      "mov.b32 %r1, 0f3F800000; mov.f32 %f1, 2.0;");
  const Code& code = loaded.codes.at(0);
  EXPECT_EQ(code.arguments_of(code.ops[0])[2].value, 0x3fc00000U);
  EXPECT_EQ(code.arguments_of(code.ops[1])[2].value, 0x3ff8000000000000U);
  EXPECT_EQ(code.arguments_of(code.ops[2])[1].value, 0x3f800000U);
  EXPECT_EQ(code.arguments_of(code.ops[3])[1].value, 0x40000000U);
}

TEST(PtxDecode, FormsThatTheTableLacksAreGaps) {
  const Loaded loaded = load_body("frob.u32 %r1, nobody; add.s32 %r1, %r2, 3;");
  const Code& code = loaded.codes.at(0);
  ASSERT_THAT(code.gaps, SizeIs(1));
  EXPECT_EQ(code.gaps[0].op, 0U);
  EXPECT_EQ(code.gaps[0].reason, "there is no frob");
  EXPECT_EQ(code.ops[0].form, nullptr);
  EXPECT_NE(code.ops[1].form, nullptr);
}

TEST(PtxDecode, ErrorsNameTheOperand) {
  EXPECT_EQ(error_of("add.s32 %r1, %r2, %r20;"),
            "t.ptx:8:19: nothing in this scope declares '%r20': expected a register, a special "
            "register, a variable or a function");
  EXPECT_EQ(error_of("add.s32 5, %r2, %r3;"), "t.ptx:8:9: expected a register, found a number");
  EXPECT_EQ(error_of("add.s64 %rd1, %r2, %rd3;"),
            "t.ptx:8:15: expected a register of 64 bits, found '%r2' of 32");
  EXPECT_EQ(error_of("add.s32 %r1, %p1, 1;"),
            "t.ptx:8:14: expected a register of 32 bits, found '%p1' of 1");
  EXPECT_EQ(error_of("@%r1 bra L; L: ret;"),
            "t.ptx:8:6: expected a predicate behind '@', found '%r1', which no '.reg .pred' in "
            "this scope declares");
  EXPECT_EQ(error_of("bra L;"), "t.ptx:8:5: no label 'L' is in this scope");
  EXPECT_THAT(error_of("add.f32 %f1, %f2, 1;"), HasSubstr("expected a floating-point number"));
  EXPECT_THAT(error_of("add.s32 %r1, %r2, 1.5;"), HasSubstr("expected a whole number"));
  EXPECT_THAT(error_of("mov.b64 %rd1, {%r1, %r2, %r3};"),
              HasSubstr("3 elements do not make 64 bits"));
  EXPECT_THAT(error_of("call f, (a);"), HasSubstr("nothing in this scope declares 'f'"));
  EXPECT_THAT(error_of("call;"), HasSubstr("no error"));  // a gap: call takes operands
  EXPECT_THAT(error_of("add.s32 %r1|%p1, %r2, 1;"),
              HasSubstr("'a|b' stands where two registers are written"));
  EXPECT_THAT(error_of("add.s32 %r1, !%r2, 1;"), HasSubstr("'!' stands before a predicate"));
}

TEST(PtxDecode, CallsAreBroughtToOneForm) {
  const Loaded loaded = load(
      ".func (.param .b32 r) f(.param .b32 a);\n.func stop() .noreturn;\n"
      ".entry k() { .reg .b64 %rd1; .param .b32 a; .param .b32 r;\n"
      "call.uni (r), f, (a); call stop; proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
      "call (r), %rd1, (a), proto; }");
  const Code& code = loaded.codes.at(0);
  const auto first = code.arguments_of(code.ops.at(0));
  ASSERT_THAT(first, SizeIs(4));
  EXPECT_EQ(first[1].kind, Argument::Kind::kFunction);
  EXPECT_EQ(code.parts_of(first[2])[0].kind, Argument::Kind::kVariable);
  EXPECT_FALSE(code.ends_in_call(code.ops.at(0)));
  EXPECT_TRUE(code.ends_in_call(code.ops.at(1)));
  EXPECT_EQ(code.arguments_of(code.ops.at(2))[3].kind, Argument::Kind::kPrototype);
}

TEST(PtxFlow, BranchesJoinAtThePostDominator) {
  const Loaded loaded = load_body(
      "setp.eq.s32 %p1, %r1, 0; @%p1 bra A; add.s32 %r2, %r1, 1; bra B; A: add.s32 %r2, %r1, 2;\n"
      "B: mov.b32 %r3, %r2; ret;");
  const Flow flow = flow_of(loaded.codes.at(0));
  ASSERT_THAT(flow.blocks, SizeIs(4));
  EXPECT_THAT(flow.blocks[0].successors, ElementsAre(1, 2));
  EXPECT_THAT(flow.blocks[3].predecessors, ElementsAre(1, 2));
  EXPECT_EQ(flow.join_of(1), 5U);
  EXPECT_EQ(flow.join_of(5), kNoIndex);
}

TEST(PtxFlow, WaysToTrapJoinNothing) {
  const Loaded loaded = load_body(
      "@%p1 bra T; add.s32 %r2, %r1, 1; bra B; T: mov.b32 %r1, 0; bra U; U: trap; B: ret;");
  const Flow flow = flow_of(loaded.codes.at(0));
  EXPECT_EQ(flow.join_of(0), 1U);
  EXPECT_TRUE(flow.blocks[flow.block_of[3]].dead_end);
  EXPECT_FALSE(flow.blocks[0].dead_end);
}

TEST(PtxFlow, LoopsAndSwitches) {
  const Loaded loaded = load_body(
      "ts: .branchtargets A, B, C;\nL: brx.idx %r1, ts; A: bra L; B: bra D; C: bra D;\n"
      "D: @%p1 bra L; ret; E: bra E;");
  const Flow flow = flow_of(loaded.codes.at(0));
  EXPECT_THAT(flow.blocks[0].successors, ElementsAre(1, 2, 3));
  EXPECT_EQ(flow.join_of(0), 4U);
  EXPECT_EQ(flow.join_of(6), kNoIndex) << "an endless loop comes to no end";
}

TEST(PtxFlow, RegistersLiveUntilTheirLastUse) {
  const Loaded loaded = load_body(
      "mov.b32 %r1, 1; mov.b32 %r2, 2; L: @%p1 mov.b32 %r2, %r1; add.s32 %r3, %r2, %r1;\n"
      "@%p2 bra L; st.global.b32 [%rd1], %r3; ret;");
  const Code& code = loaded.codes.at(0);
  const Flow flow = flow_of(code);
  const Liveness liveness{code, flow};
  const auto names = [&](std::uint32_t op) {
    std::string text;
    for (const std::uint32_t number : liveness.live_before(op)) {
      text += std::string{code.registers[number].name} + " ";
    }
    return text;
  };
  EXPECT_EQ(names(0), "%p1 %p2 %rd1 ");
  EXPECT_EQ(names(2), "%r1 %r2 %p1 %p2 %rd1 ");
  EXPECT_EQ(names(5), "%r3 %rd1 ");
  EXPECT_TRUE(liveness.live_out(1, 0));
  EXPECT_FALSE(liveness.live_in(0, 0));
}

TEST(PtxFlow, ManySwitchesOverOneLongListAreRefused) {
  std::string list = "ts: .branchtargets L";
  std::string switches;
  for (int each = 0; each < 5000; ++each) {
    list += ",L";
    switches += "brx.idx %r1, ts;\n";
  }
  const Loaded loaded = load_body(list + ";\nL:" + switches);
  EXPECT_THAT(loaded.codes.at(0).targets, SizeIs(1)) << "one list is kept once";
  EXPECT_THAT([&] { flow_of(loaded.codes.at(0)); },
              testing::ThrowsMessage<ConfigError>(HasSubstr("has switches with 25005000 ways")));
}

TEST(PtxFlow, EmptyAndUnendedBodies) {
  EXPECT_THAT(flow_of(load(".entry k() { }").codes.at(0)).blocks, SizeIs(0));
  const Loaded loaded = load_body("L: @%p1 bra L; bra E; E:");
  EXPECT_TRUE(flow_of(loaded.codes.at(0)).blocks.at(1).leaves);
}

}  // namespace
}  // namespace warptwin::ptx::decode_test
