#include "sim/trace/trace_file.hpp"

#include <algorithm>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/trace/op_facts.hpp"

namespace warptwin::sim::trace_file_test {
namespace {

using ::testing::HasSubstr;

// A launch of two warps, with an operation of every kind that is traced.
Trace sample() {
  Trace trace;
  trace.source = "simulator";
  trace.machine = "round-robin";
  trace.scenario = "ring";
  trace.parameters = "stages=2";
  trace.ending = "done";
  trace.emulated = {"tensor memory"};
  trace.roles = {{"producer", 1}, {"consumer", 1}};
  trace.warps.resize(2);
  trace.warps[1].overwritten = 7;
  trace.warps[1].lost = 2;
  std::uint32_t number = 0;
  for (unsigned i = 0; i < static_cast<unsigned>(Op::kCount); ++i) {
    if (has_trait(static_cast<Op>(i), op_trait::kTraced)) {
      TraceOp op;
      op.time = 1000 * ++number;
      op.op = static_cast<Op>(i);
      op.lanes = 32;
      op.flags = number % 2 == 0 ? event_flag::kExactPhase : 0;
      op.object = trace.name("ring.full[" + std::to_string(number % 3) + "]");
      op.wanted = number % 5 == 0 ? ~0U : number;
      op.site = trace.name("scenarios/ring.hpp:" + std::to_string(number));
      op.address = 16 * (number % 5);
      op.data = number % 7;
      WarpTrace& warp = trace.warps[number % 2];
      const auto at = static_cast<std::uint32_t>(warp.ops.size());
      if (at % 3 == 0) {
        warp.after.push_back({at, 1, number});
        warp.after.push_back({at, 0, 2 * number});
      }
      if (op.op == Op::kTensorStore || op.op == Op::kTensorLoad) {
        const char* const tensor = op.op == Op::kTensorStore ? "d" : "a";
        warp.boxes.push_back({at, trace.name(tensor), 64, 2, 8, 32});
      }
      if (op.op == Op::kMbarrierWait) {
        warp.tokens.push_back({at, 0, trace.name("ring.tile[1]"), 1024, 4096, 0xFFFFFFFF});
        warp.tokens.push_back({at, 0, 0, 0, 16, 1});
      }
      warp.ops.push_back(op);
    }
  }
  trace.clock = TraceClock::kCycles;
  trace.ordered = true;
  trace.seed = 42;
  trace.outputs.push_back(
      {"d", ElementType::kBf16, 2, 3, 16, 128, 1.5, {0, -1, 2.5F, 1e9F, -0.0F, 7}});
  trace.outputs.push_back({"count", ElementType::kF32, 1, 1, 16, 0, 0, {0.1F}});
  return trace;
}

std::string text_of(const Trace& trace) {
  std::ostringstream out;
  write_trace(trace, out);
  return out.str();
}

Trace read(const std::string& text) {
  std::istringstream in{text};
  return read_trace(in);
}

// What reading says; empty if it succeeds.
std::string refusal(const std::string& text) {
  try {
    read(text);
    return "";
  } catch (const TraceError& error) {
    return error.what();
  }
}

TEST(TraceFileTest, WhatWasWrittenIsRead) {
  const Trace trace = sample();
  const std::string text = text_of(trace);
  const Trace again = read(text);
  EXPECT_EQ(text_of(again), text);
  EXPECT_EQ(again.warps[1].overwritten, 7U);
  EXPECT_EQ(again.warps[1].lost, 2U);
  EXPECT_TRUE(again.ordered);
  EXPECT_EQ(again.clock, TraceClock::kCycles);
  EXPECT_EQ(again.seed, 42U);
  EXPECT_EQ(again.outputs[0].at(0, 2), 2.5F);
  EXPECT_EQ(again.outputs[1].values, std::vector<float>{0.1F});
  EXPECT_EQ(again.warps[1].after.size(), trace.warps[1].after.size());
  ASSERT_EQ(again.warps[0].tokens.size() + again.warps[1].tokens.size(), 2U);
  EXPECT_TRUE(again.has_tokens());
  for (std::size_t warp = 0; warp < 2; ++warp) {
    for (std::size_t i = 0; i < again.warps[warp].tokens.size(); ++i) {
      const TraceToken& one = again.warps[warp].tokens[i];
      const TraceToken& written = trace.warps[warp].tokens[i];
      EXPECT_EQ(again.warps[warp].ops[one.at].op, Op::kMbarrierWait);
      EXPECT_EQ(again.names[one.object], trace.names[written.object]);
      EXPECT_EQ(one.address, written.address);
      EXPECT_EQ(one.bytes, written.bytes);
      EXPECT_EQ(one.data, written.data);
    }
  }
  EXPECT_EQ(again.warp_name(1), "cta 0 warp 1 (consumer)");
  EXPECT_EQ(again.warps[0].ops.size(), trace.warps[0].ops.size());
  EXPECT_EQ(again.names[again.warps[0].ops[0].object], trace.names[trace.warps[0].ops[0].object]);
}

// A row of an output that is not there, too short, or no number.
TEST(TraceFileTest, ValuesAreWhole) {
  const std::string text = text_of(sample());
  const std::size_t row = text.find("{\"output\":0,\"row\":1");
  ASSERT_NE(row, std::string::npos);
  std::string missing = text;
  missing.erase(row, text.find('\n', row) + 1 - row);
  EXPECT_THAT(refusal(missing), HasSubstr("rows of 'd' are missing"));
  std::string shorter = text;
  shorter.erase(text.find("\"values\":\"", row) + 10, 4);
  EXPECT_THAT(refusal(shorter), HasSubstr("too short"));
  std::string letters = text;
  letters[text.find("\"values\":\"", row) + 10] = 'x';
  EXPECT_THAT(refusal(letters), HasSubstr("hexadecimal"));
}

// Traces of the time before they said what their clocks are, and had values.
TEST(TraceFileTest, OlderTracesAreRead) {
  std::string text = text_of(sample());
  for (const char* key : {"\"clock\":\"cycles\",", "\"ordered\":true,", ",\"seed\":42"}) {
    ASSERT_NE(text.find(key), std::string::npos) << key;
    text.erase(text.find(key), std::string{key}.size());
  }
  const Trace again = read(text);
  EXPECT_FALSE(again.ordered);
  EXPECT_EQ(again.seed, 0U);
  EXPECT_EQ(again.clock, TraceClock::kSteps);
  text.replace(text.find("simulator"), 9, "hardware");
  EXPECT_EQ(read(text).clock, TraceClock::kCycles);
}

// In the first version a checksum was another function of the bytes.
TEST(TraceFileTest, ChecksumsOfTheFirstVersionAreLeftOut) {
  std::string text = text_of(sample());
  const auto with_data = [](const Trace& trace) {
    const std::vector<TraceOp>& ops = trace.warps[0].ops;
    return std::count_if(ops.begin(), ops.end(), [](const TraceOp& op) { return op.data != 0; });
  };
  EXPECT_GT(with_data(read(text)), 0);
  text.replace(text.find("\"warptwin_trace\":2"), 18, "\"warptwin_trace\":1");
  EXPECT_EQ(with_data(read(text)), 0);
}

TEST(TraceFileTest, WhatAWaitSawIsWhole) {
  const std::string text = text_of(sample());
  const std::string saw = "[\"ring.tile[1]\",0,1024,4096,4294967295]";
  ASSERT_NE(text.find(saw), std::string::npos);
  const auto with = [&](const char* other) {
    std::string bent = text;
    return refusal(bent.replace(bent.find(saw), saw.size(), other));
  };
  EXPECT_THAT(with("[\"ring.tile[1]\",0,1024,4096]"), HasSubstr("'saw' must be a list of [place"));
  EXPECT_THAT(with("[1,0,1024,4096,7]"), HasSubstr("'saw' must be a list of [place"));
  EXPECT_THAT(with("[\"ring.tile[1]\",1,1024,4096,7]"), HasSubstr("'saw' must be a whole number"));
  EXPECT_THAT(with("[\"ring.tile[1]\",0,1024,-4,7]"), HasSubstr("'saw' must be a whole number"));
}

TEST(TraceFileTest, EveryTruncationIsRefused) {
  const std::string text = text_of(sample());
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_NE(refusal(text.substr(0, length)), "") << length;
  }
  EXPECT_THAT(refusal(text.substr(0, text.rfind("{\"operations"))), HasSubstr("cut off"));
}

TEST(TraceFileTest, RefusalsNameTheLine) {
  Trace trace = sample();
  trace.outputs.clear();
  const std::string head = text_of(trace);
  const std::string first = head.substr(0, head.find('\n') + 1);
  EXPECT_THAT(refusal("{}\n"), HasSubstr("line 1: this is no warptwin trace"));
  EXPECT_THAT(refusal("\x7f"
                      "ELF\n"),
              HasSubstr("no warptwin trace"));
  EXPECT_THAT(refusal(first + "{\"warp\":9,\"op\":\"fence\",\"time\":1,\"lanes\":1}\n"),
              HasSubstr("line 2: 'warp' must be a whole number, at most 1"));
  EXPECT_THAT(refusal(first + "{\"warp\":0,\"op\":\"jump\",\"time\":1,\"lanes\":1}\n"),
              HasSubstr("there is no operation 'jump'"));
  EXPECT_THAT(refusal(first + "{\"operations\":3}\n"), HasSubstr("should have 3"));
  EXPECT_THAT(refusal(first + "{\"operations\":0}\nmore"), HasSubstr("something follows"));
  std::string newer = first;
  newer.replace(newer.find("\"warptwin_trace\":2"), 18, "\"warptwin_trace\":3");
  EXPECT_THAT(refusal(newer), HasSubstr("version 3, and this reads versions 1 to 2"));
}

TEST(TraceFileTest, GarbageEndsInAMessage) {
  const std::string text = text_of(sample());
  std::mt19937 random{1};
  for (int i = 0; i < 20000; ++i) {
    std::string bent = text;
    const std::size_t changes = 1 + random() % 4;
    for (std::size_t change = 0; change < changes; ++change) {
      const std::size_t at = random() % bent.size();
      switch (random() % 3) {
        case 0:
          bent[at] = static_cast<char>(random());
          break;
        case 1:
          bent.erase(at, random() % 40);
          break;
        default:
          bent.insert(at, bent.substr(random() % bent.size(), random() % 40));
      }
      if (bent.empty()) {
        break;
      }
    }
    static_cast<void>(refusal(bent));
  }
  EXPECT_NE(refusal(std::string(std::size_t{3} << 20, '[')), "");  // no line is that long
  for (const char* deep : {"[[[[[[[[", "{\"warptwin_trace\":1e999}", "{\"warptwin_trace\":-1}"}) {
    EXPECT_NE(refusal(std::string{deep} + "\n"), "") << deep;
  }
}

}  // namespace
}  // namespace warptwin::sim::trace_file_test
