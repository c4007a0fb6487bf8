#include "sim/program/text.hpp"

#include <fstream>
#include <ostream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warptwin::sim::text_test {
namespace {

using testing::HasSubstr;

Program parse(const std::string& text) {
  return parse_program(text, "p.txt");
}

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(parse(text));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ProgramText, EveryConstructIsPrintedAsItWasRead) {
  const std::string path = WARPTWIN_TESTS "/sim/program/everything.txt";
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  EXPECT_EQ(text_of(read_program(path)), text.str());
}

// Where nobody does anything, too.
TEST(ProgramText, WarpsThatDoNothingArePrinted) {
  const std::string text = text_of(parse("warps 3\nwarps 0-1:\n"));
  EXPECT_EQ(text_of(parse(text)), text);
}

TEST(ProgramText, RegionsLieWhereALayoutPutsThem) {
  const Program program =
      parse("barriers full 3\nword w\nbarriers empty 1\ntile t 2 x 100 align 128\nwarp 0:\nexit\n");
  Symbols expected;
  RecordingLayout layout{{1024}, expected};
  layout.barriers({"full", ""}, 3, BarrierContract{});
  layout.word({"w", ""});
  layout.barriers({"empty", ""}, 1, BarrierContract{});
  layout.tiles({"t", ""}, 2, 100, 128);
  ASSERT_EQ(program.symbols.regions.size(), expected.regions.size());
  for (std::size_t i = 0; i < expected.regions.size(); ++i) {
    EXPECT_EQ(program.symbols.regions[i].address, expected.regions[i].address) << i;
    EXPECT_EQ(program.symbols.regions[i].element_bytes, expected.regions[i].element_bytes) << i;
    EXPECT_EQ(program.symbols.regions[i].kind, expected.regions[i].kind) << i;
  }
  EXPECT_EQ(program.symbols.bytes, expected.bytes);
  EXPECT_EQ(program.symbols.name(1024 + 16), "full[2]");
}

TEST(ProgramText, ALineIsWhatTheMachineWouldBeAsked) {
  const Program program = parse(R"(
barriers full 2
input src 64
warps 2
warp 1:
  elect mbarrier.arrive.expect_tx [full[1] of rank 0], 48
  mbarrier.wait [full[1]], phase 3
  elect cp.async.bulk.shared.global [shared+2048], [src+16], 32, [full[0]], mask 0x1
)");
  ASSERT_EQ(program.warps.size(), 2U);
  EXPECT_TRUE(program.warps[0].empty());
  ASSERT_EQ(program.warps[1].size(), 3U);
  const Operation& arrive = program.warps[1][0].operation;
  EXPECT_EQ(arrive.op, Op::kMbarrierArrive);
  EXPECT_EQ(arrive.lanes, 1);
  const auto& arrival = arrive.as<operands::Mbarrier>();
  EXPECT_EQ(arrival.address, 1024U + 8);
  EXPECT_EQ(arrival.count, 1U);
  EXPECT_EQ(arrival.bytes, 48U);
  EXPECT_EQ(arrive.flags, event_flag::kExpectTx | event_flag::kRemote);
  EXPECT_EQ(arrive.ordering.semantics, Semantics::kRelease);
  EXPECT_EQ(arrive.ordering.scope, Scope::kCluster);
  EXPECT_STREQ(arrive.site.file, "p.txt");
  EXPECT_EQ(arrive.site.line, 6U);
  const Operation& wait = program.warps[1][1].operation;
  EXPECT_EQ(wait.lanes, 32);
  EXPECT_EQ(wait.as<operands::Mbarrier>().phase, 3U);
  EXPECT_EQ(wait.flags, event_flag::kExactPhase);
  const auto& copy = program.warps[1][2].operation.as<operands::Copy>();
  EXPECT_EQ(copy.global, program.buffer_address(0) + 16);
  EXPECT_EQ(copy.barrier, 1024U);
  EXPECT_EQ(copy.bytes, 32U);
  EXPECT_EQ(copy.mask.bits, 1U);
}

TEST(ProgramText, RepeatIsUnrolledWithItsVariable) {
  const Program rolled = parse(R"(
barriers full 2
warps 4
warps 1-2:
  repeat 3 {
    mbarrier.wait [full[%i % 2]], phase %i / 2
    repeat 2 j { st.shared [shared+2048+16*%i+4*%j], %warp }
  }
  repeat 0 { bar.sync 7, 64 }
)");
  const Program flat = parse(R"(
barriers full 2
warps 4
warp 1:
  mbarrier.wait [full[0]], phase 0; st.shared [shared+2048], 1; st.shared [shared+2052], 1
  mbarrier.wait [full[1]], phase 0; st.shared [shared+2064], 1; st.shared [shared+2068], 1
  mbarrier.wait [full[0]], phase 1; st.shared [shared+2080], 1; st.shared [shared+2084], 1
warp 2:
  mbarrier.wait [full[0]], phase 0; st.shared [shared+2048], 2; st.shared [shared+2052], 2
  mbarrier.wait [full[1]], phase 0; st.shared [shared+2064], 2; st.shared [shared+2068], 2
  mbarrier.wait [full[0]], phase 1; st.shared [shared+2080], 2; st.shared [shared+2084], 2
)");
  EXPECT_EQ(text_of(rolled), text_of(flat));
}

TEST(ProgramText, ALabelInARepeatIsOneOfEachPass) {
  const Program program = parse(R"(
barriers bar 1
warp 0:
  repeat 2 {
    again: mbarrier.try_wait r0, [bar], phase %i
    @r0 == 0 bra again
    @r0 == 5 bra end
  }
  bar.warp.sync
  end:
)");
  ASSERT_EQ(program.warps[0].size(), 7U);
  EXPECT_EQ(program.warps[0][1].target, 0U);
  EXPECT_EQ(program.warps[0][2].target, 7U);
  EXPECT_EQ(program.warps[0][4].target, 3U);
  EXPECT_EQ(program.warps[0][5].target, 7U);
}

struct Wrong {
  const char* text;
  const char* error;
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.error;
}

class ProgramTextError : public testing::TestWithParam<Wrong> {};

TEST_P(ProgramTextError, NamesLineAndColumn) {
  EXPECT_THAT(error_of(GetParam().text), HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    All,
    ProgramTextError,
    testing::Values(
        Wrong{"", "p.txt:1:1: expected 'warp', found the end of the text"},
        Wrong{"frob 3\n", "p.txt:1:1: expected a line of the header"},
        Wrong{"warps 2\nwarp 2:\n", "p.txt:2:6: expected a warp of the CTA below 2, found '2'"},
        Wrong{"warp 0:\n  mbarier.init [x], 1\n",
              "p.txt:2:3: expected an operation: mbarrier.init"},
        Wrong{"warp 0:\n  mbarrier.init [x], 1\n",
              "p.txt:2:18: expected a place: shared, global, tmem, found 'x'"},
        Wrong{"barriers b 1\nwarp 0:\n  mbarrier.init [b]\n",
              "p.txt:3:20: expected ',', found the end of the line"},
        Wrong{"barriers b 1\nwarp 0:\n  mbarrier.init [b[1]], 1\n",
              "p.txt:3:20: expected an index from 0 to 0, found '1'"},
        Wrong{"barriers b 1\nwarp 0:\n  mbarrier.init [b], 1 2\n",
              "p.txt:3:24: expected the end of the line, found '2'"},
        Wrong{"barriers b 1\nwarp 0:\n  mbarrier.wait [b], 1\n",
              "p.txt:3:22: expected 'phase' or 'parity', found '1'"},
        Wrong{"barriers b 1\nwarp 0:\n  mbarrier.arrive.relaxed [b]\n",
              "p.txt:3:3: expected no '.relaxed' behind 'mbarrier.arrive'"},
        Wrong{"input s 64\nbarriers b 1\nwarp 0:\n"
              "  cp.async.bulk.shared.global [b], [s], 16, [b]\n",
              "p.txt:4:3: expected 'elect' or 'lane N'"},
        Wrong{"barriers b 1\nwarp 0:\n  ld.shared r16, [b]\n",
              "p.txt:3:13: expected a number below 16 behind 'r'"},
        Wrong{"warp 0:\n  bra nowhere\n", "p.txt:2:7: expected a label of this warp"},
        Wrong{"warp 0:\n  a: bar.warp.sync\n  a: bar.warp.sync\n",
              "p.txt:3:3: expected a label that is not taken"},
        Wrong{"warp 0:\n  repeat 2 {\n  bar.warp.sync\n",
              "p.txt:4:1: expected '}', found the end of the text"},
        Wrong{"warp 0:\n  repeat 2 { repeat 2 { bar.warp.sync } }\n",
              "p.txt:2:23: expected the name of a variable: %i is taken"},
        Wrong{"warp 0:\n  bar.sync %k, 64\n",
              "p.txt:2:13: expected one of %cluster, %cta, %warp, found 'k'"},
        Wrong{"warp 0:\n  bar.sync 1/0, 64\n", "p.txt:2:14: expected a divisor above 0"},
        Wrong{"warp 0:\n  bar.sync 12ab, 64\n", "p.txt:2:12: expected a whole number"},
        Wrong{"warp 0:\n  bar.sync $1\n", "p.txt:2:12: expected a word, a number or a mark"},
        Wrong{"warp 0:\n  repeat 1000 a { repeat 1000 b { repeat 1000 c { } } }\n",
              "expected at most 1048576 lines, unrolled"},
        Wrong{"warp 0:\n  repeat 1000000 { bar.warp.sync }\n",
              "expected at most 262144 operations of the program"},
        Wrong{"tile t 3 x 100000\nwarp 0:\n", "p.txt:1:18: expected less shared memory"},
        Wrong{"cluster 16\nclusters 1024\nwarps 32\nwarp 0:\n",
              "expected at most 4096 warps of the grid, not 524288"},
        Wrong{"input a f32 16777216 x 16777216\nwarp 0:\n", "bytes of global memory"},
        Wrong{"input a 64\ninitial [a+62], 1\nwarp 0:\n",
              "p.txt:2:9: expected a whole word of a buffer"},
        Wrong{"input a 64\nmap m over b box 1 x 1\nwarp 0:\n",
              "p.txt:2:12: expected a buffer's name, found 'b'"},
        Wrong{"input a 64\nmap m over a box 8 x 64 swizzle 48\nwarp 0:\n",
              "p.txt:2:33: expected a swizzle: 0, 32, 64 or 128, or 129, which keeps 32 together, "
              "found '48'"},
        Wrong{"input a 64\nmap m over a box 8 x 64 dimension extent 8 stride 64 box 8\nwarp 0:\n",
              "p.txt:2:5: a tensor map reaches beyond its buffer"},
        Wrong{"warp 0:\n  elect tcgen05.mma [tmem column 0], 0, 0, n128, bf16, bf16\n",
              "p.txt:2:44: expected a shape: m128n16, found 'n128'"},
        Wrong{
            "warp 0:\n  wgmma.mma_async f0, 0, 0, m64n8, bf16\n  wgmma.mma_async f1, 0, 0, m64n16, "
            "bf16\n",
            "p.txt:3: a program's wgmmas have one shape"},
        Wrong{"warp 0:\n  wgmma.mma_async.sp f0, 0, 0, m64n8, bf16, f0, selector 0\n",
              "p.txt:2: metadata is no accumulator"},
        Wrong{"tile t 4096\nwarp 0:\n  st.shared.rows [t], f0, row 0, column 17, bytes 128, f32, "
              "swizzle 0, registers 16\n",
              "p.txt:3: the columns reach beyond the rows, and beyond shared memory"}));

}  // namespace
}  // namespace warptwin::sim::text_test
