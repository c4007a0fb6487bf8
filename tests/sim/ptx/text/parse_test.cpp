#include "sim/ptx/text/parse.hpp"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>

namespace warptwin::ptx::parse_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr char kHeader[] = ".version 9.0\n.target sm_100a\n.address_size 64\n";

Module parse(const std::string& text) {
  return parse_module(kHeader + text, "t.ptx");
}

// The body of one kernel, its text from line 5 on.
Function body(const std::string& text) {
  static Module module;  // keeps the text that names point into
  module = parse(".entry k()\n{" + text + "}\n");
  return module.functions.at(0);
}

const Instruction& only(const Function& function) {
  EXPECT_THAT(function.instructions, SizeIs(1));
  return function.instructions.at(0);
}

std::string error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const SyntaxError& error) {
    return error.what();
  }
  return "no error";
}

std::string error_in_body(const std::string& text) {
  return error_of(".entry k()\n{\n" + text + "\n}\n");
}

TEST(PtxParse, HeaderSaysVersionTargetAndAddressSize) {
  const Module module =
      parse_module(".version 8.7\n.target sm_90a, debug\n.address_size 32\n", "t.ptx");
  EXPECT_EQ(module.version, 87U);
  EXPECT_THAT(module.targets, ElementsAre("sm_90a", "debug"));
  EXPECT_EQ(module.address_bits, 32U);
}

TEST(PtxParse, NulsAtTheEndAreNoText) {
  EXPECT_THAT(parse(".entry k() { ret; }" + std::string(7, '\0')).functions, SizeIs(1));
}

TEST(PtxParse, NulInTheMiddleIsAnError) {
  EXPECT_THAT(error_of(std::string{".entry k() { \0 ret; }", 21}), HasSubstr("found '\\x00'"));
}

TEST(PtxParse, ParametersHaveArraysAlignmentAndPointers) {
  const Module module = parse(
      ".visible .entry k(.param .align 64 .b8 maps[128], .param .u64 .ptr .global .align 16 p,\n"
      "  .param .f32 x) {}");
  const Function& kernel = module.functions.at(0);
  EXPECT_TRUE(kernel.is_entry);
  EXPECT_TRUE(kernel.linkage.is_visible);
  const auto& parameters = kernel.prototype.parameters;
  ASSERT_THAT(parameters, SizeIs(3));
  EXPECT_EQ(parameters[0].bytes(), 128U);
  EXPECT_EQ(parameters[0].aligned_to(), 64U);
  EXPECT_TRUE(parameters[1].is_pointer);
  EXPECT_EQ(parameters[1].pointer_space, Space::kGlobal);
  EXPECT_EQ(parameters[1].pointer_alignment, 16U);
  EXPECT_EQ(parameters[1].aligned_to(), 8U);
  EXPECT_EQ(parameters[2].type, Type::kF32);
}

TEST(PtxParse, ParametersInRegistersAreRefused) {
  EXPECT_EQ(error_of(".func f(.reg .b32 a);"), "t.ptx:4:9: expected '.param', found '.reg'");
}

TEST(PtxParse, DirectivesOfAKernel) {
  const Module module = parse(
      ".entry k()\n.reqntid 128, 2\n.minnctapersm 1\n.maxnreg 168\n.reqnctapercluster 2, 1, 1\n"
      ".explicitcluster\n.maxclusterrank 8\n.pragma \"nounroll\";\n{ ret; }");
  const Directives& set = module.functions.at(0).directives;
  EXPECT_THAT(set.required_threads, ElementsAre(128, 2, 1));
  EXPECT_EQ(set.ctas_per_sm_min, 1U);
  EXPECT_EQ(set.registers_max, 168U);
  EXPECT_THAT(set.cluster, ElementsAre(2, 1, 1));
  EXPECT_TRUE(set.explicit_cluster);
  EXPECT_EQ(set.cluster_rank_max, 8U);
  EXPECT_THAT(set.pragmas, ElementsAre("nounroll"));
}

TEST(PtxParse, DeclarationAndBodyAreOneFunction) {
  const Module module = parse(
      ".func (.param .b32 r) f(.param .b32 a);\n.extern .func stop() .noreturn ;\n"
      ".func (.param .b32 r) f(.param .b32 a) { ret; }");
  ASSERT_THAT(module.functions, SizeIs(2));
  EXPECT_TRUE(module.functions[0].has_body);
  EXPECT_THAT(module.functions[0].prototype.returns, SizeIs(1));
  EXPECT_TRUE(module.functions[1].prototype.no_return);
  EXPECT_TRUE(module.functions[1].linkage.is_extern);
}

TEST(PtxParse, InitialisersAreNestedAddressesAndMasks) {
  const Module module = parse(
      ".global .align 4 .u32 t[2][3] = {{1, 2}, {-4}};\n"
      ".global .u64 p[3] = {1, generic(t)+8, t - 4};\n"
      ".global .b8 b[2] = {0xff(t), 0xff00(t+4)};\n"
      ".const .f32 c[] = {1.5, -0f40000000, 3};\n");
  const auto& table = module.variables.at(0);
  EXPECT_EQ(table.bytes(), 24U);
  ASSERT_THAT(table.initial, SizeIs(3));
  EXPECT_EQ(table.initial[2].element, 3U);
  EXPECT_EQ(table.initial[2].bits, std::uint64_t{0} - 4);
  const auto& pointers = module.variables.at(1).initial;
  EXPECT_TRUE(pointers[1].generic);
  EXPECT_EQ(pointers[1].symbol, "t");
  EXPECT_EQ(pointers[1].bits, 8U);
  EXPECT_FALSE(pointers[2].generic);
  EXPECT_EQ(pointers[2].bits, std::uint64_t{0} - 4);
  EXPECT_EQ(module.variables.at(2).initial[1].mask, 0xff00U);
  EXPECT_EQ(module.variables.at(2).initial[1].bits, 4U);
  const auto& floats = module.variables.at(3);
  EXPECT_THAT(floats.extents, ElementsAre(3));
  EXPECT_EQ(floats.initial[0].bits, 0x3fc00000U);
  EXPECT_EQ(floats.initial[1].bits, 0xc0000000U);
  EXPECT_EQ(floats.initial[2].bits, 0x40400000U);
}

TEST(PtxParse, RegistersAndLabelsBelongToTheirScope) {
  const Function function =
      body(".reg .b32 %r<9>; { .reg .pred p; WAIT: bra WAIT; } { .reg .pred p; WAIT: bra WAIT; }");
  ASSERT_THAT(function.scopes, SizeIs(3));
  EXPECT_EQ(function.scopes[0].registers.at(0).count, 9U);
  EXPECT_EQ(function.scopes[1].labels.at("WAIT"), 0U);
  EXPECT_EQ(function.scopes[2].labels.at("WAIT"), 1U);
  EXPECT_EQ(function.scopes[2].parent, 0U);
}

TEST(PtxParse, ModifiersAreASetAndTypesKeepTheirOrder) {
  const Function a = body("atom.global.gpu.acq_rel.cas.b32 %r1, [%rd1], %r2, %r3;");
  const Function b = body("atom.global.acq_rel.gpu.cas.b32 %r1, [%rd1], %r2, %r3;");
  EXPECT_EQ(only(a).modifiers.words, only(b).modifiers.words);
  EXPECT_TRUE(only(a).modifiers.has("acq_rel"_mod));
  const Function cvt = body("cvt.rn.f16x2.f32 %r1, %f1, %f2;");
  EXPECT_EQ(only(cvt).modifiers.type(0), Type::kF16x2);
  EXPECT_EQ(only(cvt).modifiers.type(1), Type::kF32);
  const Function mma = body("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%f1}, %rd1;");
  EXPECT_EQ(only(mma).modifiers.shape.n, 128U);
  EXPECT_EQ(only(mma).modifiers.type_count, 3);
  const Function unknown = body("add.s32.frobnicated %r1, %r2, %r3;");
  EXPECT_THAT(only(unknown).modifiers.unknown, ElementsAre("frobnicated"));
}

TEST(PtxParse, OperandsOfEveryKind) {
  const Function function = body(
      "@!%p1 frob %r1, -5, 0x1F, 017, 0b101, 0f3F800000, 0d4000000000000000, {%r1, _}, [%r2+-8], "
      "[smem+16], [map, {%r1, %r2}], %p|%q, !%p3, _, %tid.x, smem+4, (1<<4)|3, 7U;");
  const Instruction& made = only(function);
  EXPECT_EQ(made.guard, "%p1");
  EXPECT_TRUE(made.guard_negated);
  const auto& operands = made.operands;
  ASSERT_THAT(operands, SizeIs(18));
  EXPECT_EQ(operands[0].name, "%r1");
  EXPECT_EQ(operands[1].value, std::uint64_t{0} - 5);
  EXPECT_EQ(operands[2].value, 31U);
  EXPECT_EQ(operands[3].value, 15U);
  EXPECT_EQ(operands[4].value, 5U);
  EXPECT_EQ(operands[5].kind, Operand::Kind::kFloat32);
  EXPECT_EQ(operands[6].kind, Operand::Kind::kFloat64);
  EXPECT_EQ(operands[7].parts.at(1).kind, Operand::Kind::kSink);
  EXPECT_EQ(operands[8].value, std::uint64_t{0} - 8);
  EXPECT_EQ(operands[9].parts.at(0).name, "smem");
  EXPECT_THAT(operands[10].parts.at(1).parts, SizeIs(2));
  EXPECT_EQ(operands[11].kind, Operand::Kind::kPair);
  EXPECT_TRUE(operands[12].negated);
  EXPECT_EQ(operands[13].kind, Operand::Kind::kSink);
  EXPECT_EQ(operands[14].component, 1);
  EXPECT_EQ(operands[15].value, 4U);
  EXPECT_EQ(operands[16].value, 19U);
  EXPECT_EQ(operands[17].value, 7U);
}

TEST(PtxParse, ListsBehindLabels) {
  const Function function = body(
      "ts: .branchtargets A, B;\nct: .calltargets f, g;\n"
      "proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _) .noreturn;\n"
      "A: brx.idx %r1, ts; B: call (r), %rd1, (a, b), proto;");
  const Scope& scope = function.scopes.at(0);
  EXPECT_THAT(scope.targets.at("ts").names, ElementsAre("A", "B"));
  EXPECT_TRUE(scope.targets.at("ct").calls);
  EXPECT_THAT(scope.prototypes.at("proto")->parameters, SizeIs(2));
  EXPECT_TRUE(scope.prototypes.at("proto")->no_return);
  EXPECT_EQ(function.instructions.at(1).operands.at(2).kind, Operand::Kind::kList);
}

TEST(PtxParse, LocationsNameTheUsersLines) {
  const Module module = parse(
      ".entry k() { .loc 1 6 30\n add.s32 a, b, c;\n"
      ".loc 2 84 3, function_name $L__info_string0+4, inlined_at 1 6 30\n sub.s32 a, b, c; }\n"
      ".file 1 \"k.cu\"\n.file 2 \"atomics.hpp\", 7, 9\n"
      ".section .debug_str { $L__info_string0: .b8 95,90 { } }\n");
  const auto& instructions = module.functions.at(0).instructions;
  EXPECT_EQ(source_of(module, instructions.at(0).location), "k.cu:6");
  EXPECT_EQ(source_of(module, instructions.at(1).location), "atomics.hpp:84, inlined at k.cu:6");
  EXPECT_EQ(source_of(module, kNoIndex), "");
}

TEST(PtxParse, CommentsAndPreprocessorLinesAreNoText) {
  EXPECT_THAT(parse("// a\n/* b\n */\n# 1 \"k.cu\"\n").functions.size(), 0);
}

TEST(PtxParse, ErrorNamesLineColumnFoundAndExpected) {
  EXPECT_EQ(error_in_body("add.s32 %r1 %r2;"), "t.ptx:6:13: expected ',' or ';', found '%r2'");
  EXPECT_EQ(error_of(".entry ()"), "t.ptx:4:8: expected the name of a function, found '('");
  EXPECT_EQ(error_of(".global .x32 a;"), "t.ptx:4:9: expected a type, found '.x32'");
  EXPECT_EQ(error_of(".global .align 3 .b8 a;"),
            "t.ptx:4:16: expected an alignment that is a power of two, found 3");
}

TEST(PtxParse, TextWithoutVersionIsNoPtx) {
  EXPECT_THAT([] { parse_module("hello", "t.ptx"); },
              testing::ThrowsMessage<SyntaxError>(
                  "t.ptx:1:1: expected '.version', with which every PTX module begins, found "
                  "'hello'"));
}

TEST(PtxParse, SeveralErrorsAreListed) {
  const std::string error =
      error_in_body("add.s32 %r1 %r2;\nmov.u32 %r1, 5;\n.reg .q5 %r<3>;\nld.b32 %r1, [&];\nret;");
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 2) << error;
  EXPECT_THAT(error, HasSubstr("t.ptx:8:6: expected a type of at most 128 bits, found '.q5'"));
  EXPECT_THAT(error, HasSubstr("t.ptx:9:14: expected an operand, found '&'"));
}

TEST(PtxParse, ErrorsAreListedUpToALimit) {
  std::string text;
  for (int line = 0; line < 1000; ++line) {
    text += "add ? ;\n";
  }
  const std::string error = error_in_body(text);
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 19);
  EXPECT_THAT(error, HasSubstr("further problems are not listed"));
}

TEST(PtxParse, ErrorInOneFunctionHidesNoOther) {
  const std::string error = error_of(".entry a( { ret; }\n.entry b() { add 1 2; }");
  EXPECT_THAT(error, HasSubstr("t.ptx:4:11: expected '.param', found '{'"));
  EXPECT_THAT(error, HasSubstr("t.ptx:5:20: expected ',' or ';', found '2'"));
}

TEST(PtxParse, NamesAreDeclaredOnce) {
  EXPECT_EQ(error_of(".global .b32 a;\n.global .b32 a;"),
            "t.ptx:5:14: 'a' is declared twice, first in line 4");
  EXPECT_EQ(error_of(".func f() {}\n.func f() {}"),
            "t.ptx:5:7: function 'f' has two bodies, the first in line 4");
  EXPECT_EQ(error_in_body("A: A: ret;"), "t.ptx:6:4: label 'A' stands twice in one scope");
}

TEST(PtxParse, HugeTextsAreRefusedOrBounded) {
  const std::string deep(100000, '{');
  EXPECT_THAT(error_in_body(deep), HasSubstr("scopes nested more than 64 deep"));
  EXPECT_THAT(error_in_body("add " + std::string(100000, '(') + ";"), HasSubstr("nested 65 deep"));
  EXPECT_THAT(error_in_body("add " + std::string(100000, '-') + ";"), HasSubstr("nested 65 deep"));
  EXPECT_THAT(error_in_body("add " + deep), HasSubstr("nested 65 deep"));
  EXPECT_THAT(error_of(".global .b32 a = " + deep), HasSubstr("nested 65 deep"));
  EXPECT_EQ(error_in_body(".reg .b32 %r<4000000000>;"),
            "t.ptx:6:14: expected a number of registers from 0 to 16777216, found '4000000000'");
  std::string vector;
  for (int element = 0; element < 600; ++element) {
    vector += "a,";
  }
  EXPECT_THAT(error_in_body("mov {" + vector + "a}, b;"), HasSubstr("more than 512 elements"));
  EXPECT_THAT(error_of(".global .b32 a[4000000000][4000000000][16];"),
              HasSubstr("has more than 1099511627776 bytes"));
  EXPECT_THAT(error_of(".global .b32 a[2] = {1, 2, 3};"), HasSubstr("and more initial values"));
  Limits small;
  small.text_bytes = 10;
  EXPECT_THROW(parse_module(kHeader, "t.ptx", small), ConfigError);
}

}  // namespace
}  // namespace warptwin::ptx::parse_test
