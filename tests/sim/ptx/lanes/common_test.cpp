// The loops of common forms against the general ones, which other tests hold to references.

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "sim/ptx/lanes/scalar.hpp"
#include "sim/ptx/text/parse.hpp"

namespace warptwin::ptx::common_test {
namespace {

constexpr const char* kOps[] = {"add.s32 %r4, %r1, %r2",
                                "add.u32 %r4, %r1, %r2",
                                "add.s64 %rd4, %rd1, %rd2",
                                "add.u64 %rd4, %rd1, %rd2",
                                "sub.s32 %r4, %r1, %r2",
                                "sub.u32 %r4, %r1, %r2",
                                "sub.s64 %rd4, %rd1, %rd2",
                                "sub.u64 %rd4, %rd1, %rd2",
                                "mul.lo.s32 %r4, %r1, %r2",
                                "mul.lo.u32 %r4, %r1, %r2",
                                "mul.wide.s32 %rd4, %r1, %r2",
                                "mul.wide.u32 %rd4, %r1, %r2",
                                "mad.lo.s32 %r4, %r1, %r2, %r3",
                                "mad.lo.u32 %r4, %r1, %r2, %r3",
                                "and.b32 %r4, %r1, %r2",
                                "or.b32 %r4, %r1, %r2",
                                "xor.b32 %r4, %r1, %r2",
                                "and.b64 %rd4, %rd1, %rd2",
                                "or.b64 %rd4, %rd1, %rd2",
                                "xor.b64 %rd4, %rd1, %rd2",
                                "shl.b32 %r4, %r1, %r2",
                                "shr.u32 %r4, %r1, %r2",
                                "shr.b32 %r4, %r1, %r2",
                                "mov.b32 %r4, %r1",
                                "mov.u64 %rd4, %rd1",
                                "selp.b32 %r4, %r1, %r2, %p3",
                                "selp.b64 %rd4, %rd1, %rd2, %p3",
                                "add.f32 %f4, %f1, %f2",
                                "add.rn.f32 %f4, %f1, %f2",
                                "sub.f32 %f4, %f1, %f2",
                                "mul.f32 %f4, %f1, %f2",
                                "mul.rn.f32 %f4, %f1, %f2",
                                "fma.rn.f32 %f4, %f1, %f2, %f3",
                                "setp.eq.s32 %p4, %r1, %r2",
                                "setp.ne.b32 %p4, %r1, %r2",
                                "setp.lt.s32 %p4, %r1, %r2",
                                "setp.le.u32 %p4, %r1, %r2",
                                "setp.gt.s32 %p4, %r1, %r2",
                                "setp.ge.u32 %p4, %r1, %r2",
                                "setp.lt.s64 %p4, %rd1, %rd2",
                                "setp.ge.u64 %p4, %rd1, %rd2",
                                "setp.lt.f32 %p4, %f1, %f2",
                                "setp.equ.f32 %p4, %f1, %f2",
                                "setp.nan.f32 %p4, %f1, %f2",
                                "setp.num.f32 %p4, %f1, %f2",
                                "setp.neu.f32 %p4, %f1, %f2",
                                "setp.ge.f32 %p4, %f1, %f2"};

std::uint64_t drawn(std::mt19937_64& random, std::uint32_t bits) {
  constexpr std::uint64_t kEdges[] = {0,
                                      1,
                                      31,
                                      32,
                                      ~std::uint64_t{0},
                                      0x7FFFFFFF,
                                      0x80000000,
                                      0x7F800000,
                                      0xFF800000,
                                      0x7FC00001,
                                      0x00000001,
                                      0x00800000,
                                      0x3F800000,
                                      0x8000000000000000};
  const std::uint64_t edge = kEdges[random() % std::size(kEdges)];
  return (random() % 3 == 0 ? random() : edge) & low_bits(bits);
}

TEST(PtxCommon, LoopsDoWhatTheGeneralOnesDo) {
  std::mt19937_64 random{1};
  for (const std::string text : kOps) {
    const Module module = parse_module(
        ".version 9.0\n.target sm_90a\n.entry k() {\n.reg .b32 %r<5>; .reg .b64 %rd<5>;\n"
        ".reg .f32 %f<5>; .reg .pred %p<5>;\n" +
            text + "; ret; }",
        "common");
    const std::vector<Code> codes = decode(module);
    const Op& op = codes[0].ops[0];
    const Scalar common = find_scalar(op);
    const Scalar general = find_scalar(op, false);
    ASSERT_TRUE(common.in_place) << text;
    ASSERT_NE(common.execute, general.execute) << text;
    const auto arguments = codes[0].arguments_of(op);
    const auto bits = [&](const Argument& argument) {
      return bits_of(codes[0].registers[argument.index].type);
    };
    for (int round = 0; round < 40; ++round) {
      Lanes in[ScalarCall::kSources];
      Lanes out[2];
      Lanes second[2];
      for (std::size_t which = 0; which < 2; ++which) {
        ScalarCall call;
        for (std::size_t source = 0; source < ScalarCall::kSources; ++source) {
          for (std::uint32_t lane = 0; which == 0 && lane < kLanes; ++lane) {
            in[source].value[lane] =
                source + 1 < op.count ? drawn(random, bits(arguments[source + 1])) : 0;
          }
          call.in[source] = &in[source];
        }
        call.out = &out[which];
        call.second = op.is("setp") ? &second[which] : nullptr;
        call.modifiers = &op.source->modifiers;
        call.type = call.source_type = op.source->modifiers.type();
        call.sources = op.count - 1;
        call.out_bits = bits(arguments[0]);
        call.relations = common.relations;
        (which == 0 ? common : general).execute(call);
      }
      EXPECT_EQ(second[0].value, second[1].value) << text;
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        const std::uint64_t keep = low_bits(bits(arguments[0]));
        ASSERT_EQ(out[0].value[lane] & keep, out[1].value[lane] & keep)
            << text << " of " << std::hex << in[0].value[lane] << " " << in[1].value[lane] << " "
            << in[2].value[lane];
      }
    }
  }
}

TEST(LanesTest, MasksAreThoseThatLanesSayOneByOne) {
  std::mt19937_64 random{3};
  for (int i = 0; i < 20'000; ++i) {
    Lanes lanes;
    Mask poisoned = 0;
    Mask equal = 0;
    const std::uint64_t values = 1 + random() % 3;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      lanes.value[lane] = random() % values << 40;
      lanes.poison[lane] = static_cast<std::uint8_t>(random() % 3 == 0 ? random() : 0);
      poisoned |= Mask{lanes.poison[lane] != 0} << lane;
    }
    const auto one = static_cast<std::uint32_t>(random() % kLanes);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      equal |= Mask{lanes.value[lane] == lanes.value[one]} << lane;
    }
    EXPECT_EQ(lanes.poisoned(), poisoned);
    EXPECT_EQ(lanes.equal_to(one), equal);
  }
}

}  // namespace
}  // namespace warptwin::ptx::common_test
