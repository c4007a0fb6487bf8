// A ring in PTX, and every way to get it wrong: the same verdicts as of a kernel's text.

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/run/npy.hpp"
#include "sim/run/proof/prove.hpp"
#include "sim/run/ptx_entry.hpp"

namespace warptwin::sim::launch_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string read(const std::string& name) {
  std::ifstream in{std::string{WARPTWIN_TESTS} + "/sim/ptx/machine/" + name};
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

std::string write(const std::string& name, const std::string& text) {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  std::string path = testing::TempDir() + info->name() + "." + name;
  std::replace(
      path.begin() + static_cast<std::ptrdiff_t>(testing::TempDir().size()), path.end(), '/', '_');
  std::ofstream{path} << text;
  return path;
}

// With the first `from` as `to`; it has to be there.
std::string edited(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

ScenarioEntry entry(const std::string& ptx, const std::string& launch) {
  return entry_of_launch_file(write("ptx", ptx), write("json", launch), {});
}

ProofResult proof_of(const std::string& ptx, const std::string& launch = read("ring.json")) {
  const ScenarioEntry scenario = entry(ptx, launch);
  ProofOptions options;
  options.run.moves_data = false;
  return prove(scenario, ParameterSet{scenario.parameters}, options);
}

std::vector<std::string> ids_of(const ProofResult& proof) {
  std::vector<std::string> ids;
  for (const Finding& finding : proof.run.findings) {
    ids.push_back(finding.info->id);
  }
  for (const Refutation& refutation : proof.refutations) {
    ids.push_back(refutation.finding.info->id);
  }
  return ids;
}

TEST(PtxLaunch, RingIsProvedAndRestsOnNothing) {
  const ProofResult proof = proof_of(read("ring.ptx"));
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
  EXPECT_THAT(proof.strength(), Not(HasSubstr("it rests on this")));
}

TEST(PtxLaunch, RingAddsOneToEachWord) {
  const std::string launch = edited(read("ring.json"),
                                    "\"shape\": [5, 32], \"use\": \"control\"",
                                    "\"shape\": [1, 8], \"use\": \"control\", "
                                    "\"contents\": [7, 8, 9, 10, 11, 12, 13, 14]");
  const ScenarioEntry scenario = entry(
      edited(
          edited(read("ring.ptx"), "_, [%r9], 128", "_, [%r9], 32"), "[%rd3], 128", "[%rd3], 32"),
      edited(launch, "{\"value\": 5}", "{\"value\": 1}"));
  RunOptions run;
  std::vector<std::uint32_t> seen;
  run.engine = [&](Gpu& gpu, const WarpBody& body) {
    const auto scheduler = make_scheduler(ScheduleSpec{});
    const RunStats stats = run_functional(gpu, body, *scheduler, EngineLimits{});
    for (std::uint64_t at = 1U << 20; at < (1U << 20) + (1U << 16); at += 4) {
      if (const std::byte* bytes = gpu.memory().at(at, 4); bytes != nullptr) {
        std::memcpy(&seen.emplace_back(), bytes, 4);
      }
    }
    return stats;
  };
  const RunResult result = simulate(scenario, ParameterSet{scenario.parameters}, run);
  EXPECT_EQ(result.end, Ending::kDone);
  const std::vector<std::uint32_t> expected{8, 9, 10, 11, 12, 13, 14, 15};
  EXPECT_NE(std::search(seen.begin(), seen.end(), expected.begin(), expected.end()), seen.end());
}

// The consumer does not wait, which the run shows, and goes `rounds` times round a loop each lap.
struct Busy {
  ProofResult proof;
  std::uint64_t instructions;  // of threads, in all runs
};
Busy busy_proof(std::uint32_t rounds) {
  const std::string ptx = edited(edited(read("ring.ptx"), "  @%p6 bra TAKE;\n  bra FILLED;\n", ""),
                                 "TAKE:\n",
                                 "TAKE:\n  mov.u32 %r20, 0;\nBUSY:\n  add.u32 %r20, %r20, 1;\n"
                                 "  setp.lt.u32 %p7, %r20, " +
                                     std::to_string(rounds) + ";\n  @%p7 bra BUSY;\n");
  const ScenarioEntry scenario = entry(ptx, read("ring.json"));
  ProofOptions options;
  options.run.moves_data = false;
  ProofResult proof = prove(scenario, ParameterSet{scenario.parameters}, options);
  return {std::move(proof), scenario.thread_instructions()};
}

// Schedules that show further conditions are looked for as long as that is little work.
TEST(PtxLaunch, WhatARunShowsIsSaidSoon) {
  const Busy quick = busy_proof(1);
  EXPECT_EQ(quick.proof.verdict, ProofVerdict::kRefuted);
  EXPECT_EQ(quick.proof.conditions_not_kept, 0U);
  constexpr std::uint32_t kRounds = 100'000;
  const Busy slow = busy_proof(kRounds);
  EXPECT_EQ(slow.proof.verdict, ProofVerdict::kRefuted);
  EXPECT_THAT(ids_of(slow.proof), Contains("MBAR_TRYWAIT_UNCHECKED"));
  EXPECT_LT(slow.proof.refutations.size(), quick.proof.refutations.size());
  EXPECT_GT(slow.proof.conditions_not_kept, 0U);
  constexpr std::uint64_t kOneRun = std::uint64_t{5} * 3 * kRounds * 32;
  EXPECT_LT(slow.instructions, 20 * kOneRun);
}

struct Wrong {
  const char* name;
  const char* from;
  const char* to;
  const char* id;
};
void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.name;
}

class PtxWrongRing : public testing::TestWithParam<Wrong> {};

TEST_P(PtxWrongRing, IsFound) {
  const ProofResult proof = proof_of(edited(read("ring.ptx"), GetParam().from, GetParam().to));
  EXPECT_NE(proof.verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_of(proof), Contains(GetParam().id));
}

INSTANTIATE_TEST_SUITE_P(
    Each,
    PtxWrongRing,
    testing::Values(
        Wrong{"OneArrivalTooMany", "[empty], 32", "[empty], 33", "DEADLOCK"},
        Wrong{"OneArrivalTooFew", "[empty+8], 32", "[empty+8], 31", "MBAR_OVERARRIVE"},
        Wrong{"HalfTheBytes", "_, [%r9], 128", "_, [%r9], 64", "DEADLOCK"},
        Wrong{
            "ProducerStartsAtParityZero", "%r7, %r7, 1;\n  and", "%r7, %r7, 0;\n  and", "DEADLOCK"},
        Wrong{"NoSyncAfterInit", "  bar.sync 0;\n", "", "MBAR_INIT_RACE"},
        Wrong{"ConsumerDoesNotWait", "@%p6 bra TAKE", "bra TAKE", "MBAR_TRYWAIT_UNCHECKED"},
        Wrong{"NobodyFrees", "  mbarrier.arrive.shared::cta.b64 _, [%r8];\n", "", "DEADLOCK"},
        Wrong{"ProducerDoesNotWait", "  @!%p5 bra FREE;\n", "", "MBAR_PHASE_UNOBSERVED"},
        Wrong{"NoProxyFence", "  fence.proxy.async.shared::cta;\n", "", "PROXY_FENCE_MISSING_WAR"},
        Wrong{"StorePastTheEnd", "[%rd6], %r14", "[%rd6+1024], %r14", "WORD_OOB"},
        Wrong{"MisalignedLoad", "%r14, [%r10]", "%r14, [%r10+2]", "WORD_MISALIGNED"},
        Wrong{"OddBytes", "[%rd3], 128", "[%rd3], 120", "BULK_SIZE_ALIGN"}),
    [](const auto& each) { return std::string{each.param.name}; });

TEST(PtxLaunch, BranchOnARegisterThatNobodyWroteIsRefusedByItsLine) {
  const std::string text =
      edited(read("ring.ptx"), "setp.ge.u32 %p4, %r4, %r3", "setp.ge.u32 %p4, %r4, %r20");
  try {
    proof_of(text);
    FAIL() << "a branch on an unwritten register was taken";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("nobody has written"));
    EXPECT_THAT(error.what(), HasSubstr("warp 0, lane 0"));
  }
}

TEST(PtxLaunch, InstructionsThatAreNotThereAreNamed) {
  const std::string text =
      edited(read("ring.ptx"), "  bar.sync 0;\n", "  bar.sync 0;\n  membar.proxy.alias;\n");
  EXPECT_THROW(proof_of(text), ConfigError);
}

TEST(PtxLaunch, LanesOfAWarpThatPartTakeTurnsAndTheVerdictSaysSo) {
  // Both sides of the branch use the machine before they are together again.
  const std::string text = edited(read("ring.ptx"),
                                  "READY:\n",
                                  "READY:\n"
                                  "  and.b32 %r21, %r1, 1;\n"
                                  "  setp.eq.u32 %p7, %r21, 0;\n"
                                  "  @%p7 bra EVEN;\n"
                                  "  fence.acq_rel.cta;\n"
                                  "  bra BOTH;\n"
                                  "EVEN:\n"
                                  "  fence.acq_rel.cta;\n"
                                  "BOTH:\n");
  const ProofResult proof = proof_of(text);
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
  EXPECT_THAT(proof.strength(), HasSubstr("lanes of one warp took turns as in this run"));
}

TEST(PtxLaunch, WaitsByTheStateOfAnArrival) {
  const std::string launch = edited(read("meeting.json"), "\"grid\": 2", "\"grid\": 1");
  EXPECT_EQ(proof_of(read("meeting.ptx"), launch).verdict, ProofVerdict::kProved);
  const ProofResult unwaited =
      proof_of(edited(read("meeting.ptx"), "  @!%p2 bra WRITTEN;\n", ""), launch);
  EXPECT_NE(unwaited.verdict, ProofVerdict::kProved);
  EXPECT_FALSE(ids_of(unwaited).empty());
  const ProofResult overwritten =
      proof_of(edited(read("meeting.ptx"), "  @!%p2 bra READ;\n", ""), launch);
  EXPECT_NE(overwritten.verdict, ProofVerdict::kProved);
  EXPECT_FALSE(ids_of(overwritten).empty());
}

TEST(PtxLaunch, CtasThatStoreToTheSameWordsRace) {
  const ProofResult proof = proof_of(read("meeting.ptx"), read("meeting.json"));
  EXPECT_NE(proof.verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_of(proof), Contains("GMEM_RACE"));
}

TEST(PtxLaunch, LanesComeTogetherAtBarriersThatAreNotAlignedAlone) {
  const auto parted = [](const std::string& odd, const std::string& even) {
    return proof_of(edited(read("ring.ptx"),
                           "READY:\n  bar.sync 0;\n",
                           "READY:\n"
                           "  and.b32 %r21, %r1, 1;\n"
                           "  setp.eq.u32 %p7, %r21, 0;\n"
                           "  @%p7 bra EVEN;\n" +
                               odd +
                               "  bra BOTH;\n"
                               "EVEN:\n" +
                               even + "BOTH:\n"));
  };
  EXPECT_EQ(parted("  barrier.sync 0;\n", "  barrier.sync 0;\n").verdict, ProofVerdict::kProved);
  // Two barriers, and one that is aligned: not all lanes of the warp come to it.
  EXPECT_NE(parted("  barrier.sync 1;\n", "  barrier.sync 2;\n").verdict, ProofVerdict::kProved);
  EXPECT_NE(parted("  bar.sync 0;\n", "  bar.sync 0;\n").verdict, ProofVerdict::kProved);
}

// A poll that two words end is no wait for the first of them.
TEST(PtxLaunch, PollForOneOfTwoWordsDoesNotWaitForTheFirst) {
  const auto polling = [](const std::string& also) {
    return proof_of(edited(read("ring.ptx"),
                           "  ld.param.u64 %rd1, [in];\n",
                           "  ld.param.u64 %rd1, [in];\n"
                           "POLL:\n"
                           "  ld.acquire.gpu.global.u32 %r20, [%rd1];\n"
                           "  setp.eq.u32 %p6, %r20, 5;\n" +
                               also + "  @!%p6 bra POLL;\n"));
  };
  // The word is 0 and stays so.
  EXPECT_THAT(ids_of(polling("")), Contains("DEADLOCK"));
  EXPECT_THAT(ids_of(polling("  setp.eq.or.u32 %p6, %r20, 0, %p6;\n")),
              testing::Not(Contains("DEADLOCK")));
}

// All lanes write a tile, and lane 0 stores it.
TEST(PtxLaunch, OneLaneDoesNotHandOverWhatOthersWrote) {
  const auto stored = [](const std::string& meet) {
    std::string text = edited(read("ring.ptx"),
                              "  .shared .align 8 .b64 full[2];\n",
                              "  .shared .align 8 .b64 full[2];\n"
                              "  .shared .align 128 .b8 own[128];\n");
    text = edited(text,
                  "CONSUMER:\n",
                  "CONSUMER:\n"
                  "  and.b32 %r12, %r1, 31;\n"
                  "  shl.b32 %r13, %r12, 2;\n"
                  "  mov.u32 %r10, own;\n"
                  "  add.u32 %r11, %r10, %r13;\n"
                  "  st.shared.u32 [%r11], %r1;\n"
                  "  fence.proxy.async.shared::cta;\n" +
                      meet +
                      "  setp.ne.u32 %p7, %r12, 0;\n"
                      "  @%p7 bra STORED;\n"
                      "  ld.param.u64 %rd4, [out];\n"
                      "  cp.async.bulk.global.shared::cta.bulk_group [%rd4+512], [%r10], 128;\n"
                      "  cp.async.bulk.commit_group;\n"
                      "  cp.async.bulk.wait_group 0;\n"
                      "STORED:\n"
                      "  bar.warp.sync 0xffffffff;\n");
    return proof_of(text, edited(read("ring.json"), "{\"value\": 5}", "{\"value\": 4}"));
  };
  const ProofResult met = stored("  bar.warp.sync 0xffffffff;\n");
  EXPECT_EQ(met.verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_of(met), testing::IsEmpty());
  const ProofResult proof = stored("");
  EXPECT_NE(proof.verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_of(proof), Contains("WARP_LANES_NOT_RELEASED"));
}

// Each lane takes the word of its neighbour.
TEST(PtxLaunch, LanesThatTouchOneWordMeetInBetween) {
  const auto turned = [](const std::string& meet, const std::string& offset) {
    std::string text = edited(read("ring.ptx"),
                              "  .shared .align 8 .b64 full[2];\n",
                              "  .shared .align 8 .b64 full[2];\n"
                              "  .shared .align 128 .b8 own[128];\n");
    text = edited(text,
                  "CONSUMER:\n",
                  "CONSUMER:\n"
                  "  and.b32 %r12, %r1, 31;\n"
                  "  shl.b32 %r13, %r12, 2;\n"
                  "  mov.u32 %r10, own;\n"
                  "  add.u32 %r11, %r10, %r13;\n"
                  "  st.shared.u32 [%r11], %r1;\n" +
                      meet + "  xor.b32 %r13, %r13, " + offset +
                      ";\n"
                      "  add.u32 %r11, %r10, %r13;\n"
                      "  ld.shared.u32 %r14, [%r11];\n");
    return proof_of(text);
  };
  EXPECT_EQ(turned("  bar.warp.sync 0xffffffff;\n", "4").verdict, ProofVerdict::kProved);
  EXPECT_EQ(turned("", "0").verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_of(turned("", "4")), Contains("WARP_LANE_RACE"));
}

// Halves of a warp name themselves; nobody names others only.
TEST(PtxLaunch, LanesThatNameOtherMembersGoApart) {
  const auto halves = [](const std::string& shift, const std::string& what) {
    return edited(read("ring.ptx"),
                  "READY:\n",
                  "READY:\n"
                  "  and.b32 %r21, %r1, 16;\n"
                  "  mov.u32 %r22, 0xffff;\n"
                  "  shl.b32 %r22, %r22, " +
                      shift + ";\n  " + what + ";\n");
  };
  for (const char* what : {"bar.warp.sync %r22", "shfl.sync.idx.b32 %r23, %r1, 0, 31, %r22"}) {
    EXPECT_EQ(proof_of(halves("%r21", what)).verdict, ProofVerdict::kProved) << what;
    EXPECT_THROW(proof_of(halves("0", what)), ConfigError) << what;
  }
}

struct BadLaunch {
  const char* name;
  const char* from;
  const char* to;
  const char* says;
};
void PrintTo(const BadLaunch& bad, std::ostream* out) {
  *out << bad.name;
}

class PtxBadLaunch : public testing::TestWithParam<BadLaunch> {};

TEST_P(PtxBadLaunch, IsRefusedWithItsPlace) {
  try {
    entry(read("ring.ptx"), edited(read("ring.json"), GetParam().from, GetParam().to));
    FAIL() << "taken";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().says));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each,
    PtxBadLaunch,
    testing::Values(
        BadLaunch{"NoJson", "\"grid\": 1", "\"grid\" 1", "parse error"},
        BadLaunch{"NoGrid", "\"grid\": 1,", "", "'grid' is missing"},
        BadLaunch{"ZeroGrid", "\"grid\": 1", "\"grid\": 0", "no extent is 0"},
        BadLaunch{"GridNoNumber", "\"grid\": 1", "\"grid\": \"many\"", "a list is expected"},
        BadLaunch{"WrongBlock", "\"block\": 64", "\"block\": 32", ".reqntid"},
        BadLaunch{
            "UnknownKey", "\"block\": 64", "\"block\": 64, \"blok\": 1", "there is no 'blok'"},
        BadLaunch{"UnknownKernel", "\"ring\"", "\"rong\"", "rong"},
        BadLaunch{"UnknownType", "\"f32\"", "\"f33\"", "no element type"},
        BadLaunch{"HugeBuffer", "[5, 32]", "[4000000000, 4000000000]", "1 to 2^32 bytes"},
        BadLaunch{
            "UnknownBuffer", "{\"buffer\": \"in\"}", "{\"buffer\": \"on\"}", "no buffer 'on'"},
        BadLaunch{"MissingParameter", ", {\"value\": 5}", "", "takes 3 parameters, not 2"},
        BadLaunch{"TextForANumber", "{\"value\": 5}", "{\"value\": \"5\"}", "a number is expected"},
        BadLaunch{
            "MapForAPointer", "{\"buffer\": \"in\"}", "{\"map\": \"in\"}", "8 bytes, not 128"},
        BadLaunch{
            "ClusterDoesNotFit", "\"block\"", "\"cluster\": 2, \"block\"", "not made of clusters"}),
    [](const auto& each) { return std::string{each.param.name}; });

TEST(PtxLaunch, FirstLaunchOfAKernelIsOne) {
  const std::string ptx = write("ptx", read("ring.ptx"));
  const std::string launch = write("json", first_launch_of(ptx, ""));
  const ScenarioEntry scenario = entry_of_launch_file(ptx, launch, {});
  const ProofResult proof = prove(scenario, ParameterSet{scenario.parameters}, ProofOptions{});
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved);  // of no lap at all
}

// A kernel that follows an address in memory to a buffer of a file.
constexpr const char* kFollow = R"(.version 8.0
.target sm_90
.address_size 64
.visible .global .align 8 .u64 place;
.visible .entry follow()
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.global.u64 %rd1, [place];
  ld.global.u32 %r1, [%rd1];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd1+4], %r1;
  ret;
}
)";

constexpr const char* kFollowLaunch = R"({
  "kernel": "follow", "grid": 1, "block": 1,
  "buffers": {
    "place": {"type": "u8", "shape": [1, 8], "use": "control", "address": 35184372088832,
              "contents": "PLACE"},
    "words": {"type": "u8", "shape": [1, 8], "use": "control", "address": 35184372090880,
              "contents": "WORDS"}
  },
  "variables": {"place": 35184372088832},
  "parameters": []
})";

std::string follow_launch() {
  const std::string place = write("place.npy", "");
  const std::string words = write("words.npy", "");
  const std::uint64_t address = 35184372090880;
  const std::uint32_t contents[] = {41, 0};
  write_npy_bytes(place, std::as_bytes(std::span{&address, 1}));
  write_npy_bytes(words, std::as_bytes(std::span{contents}));
  return edited(edited(kFollowLaunch, "PLACE", place), "WORDS", words);
}

TEST(PtxLaunch, BuffersStandAtTheirAddresses) {
  const ScenarioEntry scenario = entry(kFollow, follow_launch());
  std::uint32_t words[2] = {};
  RunOptions run;
  run.at_end = [&](GlobalMemory& memory, std::span<const GlobalAddress> addresses) {
    EXPECT_EQ(addresses[1].value, 35184372090880U);
    std::memcpy(words, memory.at(addresses[1].value, sizeof words), sizeof words);
  };
  const RunResult result = simulate(scenario, ParameterSet{scenario.parameters}, run);
  EXPECT_EQ(result.end, Ending::kDone);
  EXPECT_EQ(words[0], 41U);
  EXPECT_EQ(words[1], 42U);
}

TEST(PtxLaunch, PlacesThatCannotBeAreRefused) {
  const std::string launch = follow_launch();
  const struct {
    const char* from;
    const char* to;
    const char* why;
  } rows[] = {
      {"35184372090880", "35184372088836", "it overlaps buffer 'place'"},
      {"35184372090880", "35184372090881", "a multiple of 4"},
      {"35184372090880", "4096", "from 2^32 on"},
      {"{\"place\": 35184372088832}", "{\"place\": 35184372088836}", "has its 8 bytes"},
      {"{\"place\": 35184372088832}", "{\"other\": 35184372088832}", "no variable 'other'"},
      {"\"shape\": [1, 8]", "\"shape\": [1, 12]", "12 bytes of uint8"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT([&] { entry(kFollow, edited(launch, row.from, row.to)); },
                testing::ThrowsMessage<ConfigError>(HasSubstr(row.why)))
        << row.to;
  }
}

constexpr const char* kNegate = R"(
.version 8.7
.target sm_90a
.address_size 64
.visible .entry negate(.param .u64 in, .param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<7>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, SIZE;
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  ld.global.TYPE %rd4, [%rd1];
  neg.s64 %rd5, %rd4;
  st.global.TYPE [%rd2], %rd5;
  ret;
}
)";

// What is stored of a list, where each number is negated.
std::vector<std::byte> negated(const std::string& type,
                               const std::string& size,
                               const std::string& contents) {
  const std::string letter = type[0] == 'i' ? "s" : "u";
  std::string ptx = edited(kNegate, "SIZE", size);
  ptx = edited(edited(ptx, "TYPE", letter + type.substr(1)), "TYPE", letter + type.substr(1));
  const std::string launch =
      R"({"grid": 1, "block": 2, "buffers": {
      "in": {"type": ")" +
      type + R"(", "shape": [1, 2], "contents": )" + contents + R"(},
      "out": {"type": ")" +
      type + R"(", "shape": [1, 2], "use": "output"}},
      "parameters": [{"buffer": "in"}, {"buffer": "out"}]})";
  const ScenarioEntry scenario = entry(ptx, launch);
  const RunResult result = simulate(scenario, ParameterSet{scenario.parameters}, RunOptions{});
  return result.tensors.at(1).bytes;
}

template <class T>
std::vector<T> numbers_of(const std::vector<std::byte>& bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

TEST(PtxLaunch, BuffersOfWholeNumbersKeepEachBit) {
  EXPECT_THAT(numbers_of<std::int8_t>(negated("i8", "1", "[-128, 5]")), ElementsAre(-128, -5));
  EXPECT_THAT(numbers_of<std::int16_t>(negated("i16", "2", "[-300, 5]")), ElementsAre(300, -5));
  EXPECT_THAT(numbers_of<std::uint16_t>(negated("u16", "2", "[1, 65535]")), ElementsAre(65535, 1));
  EXPECT_THAT(numbers_of<std::int32_t>(negated("i32", "4", "[16777217, -2147483647]")),
              ElementsAre(-16777217, 2147483647));
  EXPECT_THAT(numbers_of<std::uint32_t>(negated("u32", "4", "[4294967295, 0]")), ElementsAre(1, 0));
  EXPECT_THAT(numbers_of<std::int64_t>(negated("i64", "8", "[9007199254740993, -1]")),
              ElementsAre(-9007199254740993, 1));
  EXPECT_THAT(numbers_of<std::uint64_t>(negated("u64", "8", "[18446744073709551615, 2]")),
              ElementsAre(1, ~std::uint64_t{1}));
}

// The run of a launch that negates `in`, whose output says more.
RunResult negated_as(const std::string& type, const std::string& in, const std::string& out) {
  const std::string letter = type[0] == 'i' ? "s" : "u";
  std::string ptx = edited(kNegate, "SIZE", type.substr(1) == "64" ? "8" : "4");
  ptx = edited(edited(ptx, "TYPE", letter + type.substr(1)), "TYPE", letter + type.substr(1));
  const std::string launch = R"({"grid": 1, "block": 2, "buffers": {
      "in": {"type": ")" + type +
                             R"(", "shape": [1, 2], "contents": )" + in +
                             R"(}, "out": {"type": ")" + type +
                             R"(", "shape": [1, 2], "use": "output", )" + out +
                             R"(}}, "parameters": [{"buffer": "in"}, {"buffer": "out"}]})";
  const ScenarioEntry scenario = entry(ptx, launch);
  return simulate(scenario, ParameterSet{scenario.parameters}, RunOptions{});
}

TEST(PtxLaunch, OutputsAreHeldToWhatIsExpected) {
  const RunResult right = negated_as("i32", "[7, -9]", R"("expected": [-7, 9])");
  ASSERT_EQ(right.comparisons.size(), 1U);
  EXPECT_TRUE(right.comparisons[0].agrees());
  EXPECT_TRUE(right.clean(true));
  const RunResult wrong = negated_as("i32", "[7, -9]", R"("expected": [-7, 8])");
  ASSERT_EQ(wrong.findings.size(), 1U);
  EXPECT_STREQ(wrong.findings[0].info->id, "RESULT_WRONG");
  EXPECT_THAT(wrong.findings[0].message, HasSubstr("out is 9 for 8 at (0, 1)"));
  EXPECT_THAT(negated_as("i32", "[7, -9]", R"("from_grid_before": false)").comparisons,
              testing::IsEmpty());
}

TEST(PtxLaunch, WholeNumbersThatAreOneFloatDiffer) {
  const char* kIn = "[9007199254740993, 0]";
  EXPECT_TRUE(negated_as("i64", kIn, R"("expected": [-9007199254740993, 0])").clean(true));
  EXPECT_FALSE(negated_as("i64", kIn, R"("expected": [-9007199254740992, 0])").clean(true));
  EXPECT_TRUE(
      negated_as("i64", kIn, R"("expected": [-9007199254740992, 0], "tolerance": {"absolute": 1})")
          .clean(true));
}

TEST(PtxLaunch, ATolerancesBoundIsTheLastThatPasses) {
  const auto clean = [](const std::string& more) {
    return negated_as("i32", "100", R"("expected": -90, "tolerance": )" + more).clean(true);
  };
  EXPECT_TRUE(clean(R"({"absolute": 10})"));
  EXPECT_FALSE(clean(R"({"absolute": 9})"));
  EXPECT_TRUE(clean(R"({"relative": 0.1, "absolute": 1})"));
  EXPECT_FALSE(clean(R"({"relative": 0.1})"));
}

TEST(PtxLaunch, ContentsAreOneNumberAFileOrDrawn) {
  EXPECT_THAT(numbers_of<std::int32_t>(negated("i32", "4", "7")), ElementsAre(-7, -7));
  const char* kDrawn = R"({"random": {"seed": 3, "least": -5, "most": 40}})";
  const auto drawn = numbers_of<std::int32_t>(negated("i32", "4", kDrawn));
  EXPECT_THAT(drawn, testing::Each(testing::AllOf(testing::Ge(-40), testing::Le(5))));
  EXPECT_EQ(numbers_of<std::int32_t>(negated("i32", "4", kDrawn)), drawn);
  EXPECT_NE(numbers_of<std::int32_t>(negated("i32", "4", edited(kDrawn, "3", "4"))), drawn);
  const std::string file = write("in.npy", "");
  const std::int32_t numbers[] = {70000, -3};
  write_npy_elements(file, 1, 2, ElementType::kI32, std::as_bytes(std::span{numbers}));
  EXPECT_THAT(numbers_of<std::int32_t>(negated("i32", "4", '"' + file + '"')),
              ElementsAre(-70000, 3));
  EXPECT_THAT([&] { negated("u32", "4", '"' + file + '"'); },
              testing::ThrowsMessage<ConfigError>(HasSubstr("save '<u4' of shape (1, 2)")));
}

// struct { int a; int* out; short b; float c; }
constexpr const char* kOfAStructure = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .align 8 .b8 s[24]) {
  .reg .b32 %r<9>;
  .reg .b16 %h<2>;
  .reg .f32 %f<2>;
  .reg .b64 %rd<3>;
  ld.param.b32 %r1, [s];
  ld.param.u64 %rd1, [s+8];
  ld.param.s16 %h1, [s+16];
  ld.param.f32 %f1, [s+20];
  cvt.s32.s16 %r2, %h1;
  cvt.rni.s32.f32 %r3, %f1;
  add.s32 %r4, %r1, %r2;
  add.s32 %r5, %r4, %r3;
  cvta.to.global.u64 %rd2, %rd1;
  st.global.b32 [%rd2], %r5;
  ret;
}
)";

RunResult run_of_fields(const std::string& fields) {
  const std::string launch = R"({"grid": 1, "block": 1, "buffers": {
      "out": {"type": "i32", "shape": [4], "use": "output", "expected": [0, 89, 0, 0]}},
      "parameters": [{"fields": [)" +
                             fields + "]}]}";
  const ScenarioEntry scenario = entry(kOfAStructure, launch);
  return simulate(scenario, ParameterSet{scenario.parameters}, RunOptions{});
}

TEST(PtxLaunch, AStructureIsLaidOutAsCppDoes) {
  EXPECT_TRUE(run_of_fields(R"({"type": "i32", "value": 100}, {"buffer": "out", "added": 4},
                               {"type": "i16", "value": -13}, {"type": "f32", "value": 2})")
                  .clean(true));
  EXPECT_TRUE(run_of_fields(R"({"type": "i32", "value": 100}, {"buffer": "out", "added": 4},
                               {"type": "f32", "value": -11, "offset": 20})")
                  .clean(true));
}

TEST(PtxLaunch, StructuresThatDoNotFitAreRefusedWithTheirPlace) {
  const std::pair<const char*, const char*> kRows[] = {
      {R"({"buffer": "out"}, {"buffer": "out"}, {"buffer": "out"}, {"type": "u8", "value": 1})",
       "fields[3]: it ends behind the parameter's 24 bytes"},
      {R"({"buffer": "out"}, {"type": "i32", "value": 1, "offset": 4})",
       "fields[1]: it begins before the field in front of it ends, at byte 8"},
      {R"({"type": "i8", "value": 200})", "fields[0].value: a whole number of i8"},
      {R"({"type": "f4e2m1", "value": 1})", "fields[0].type: it has no address of its own"},
      {R"({"value": 1})", "'type' is missing"}};
  for (const auto& row : kRows) {
    EXPECT_THAT([&] { run_of_fields(row.first); },
                testing::ThrowsMessage<ConfigError>(HasSubstr(row.second)))
        << row.first;
  }
}

TEST(PtxLaunch, AStructureMayHoldADouble) {
  std::string ptx = edited(kOfAStructure,
                           "ld.param.b32 %r1, [s];",
                           "ld.param.f64 %fd1, [s];\n  cvt.rni.s32.f64 %r1, %fd1;");
  ptx = edited(ptx, ".reg .f32 %f<2>;", ".reg .f32 %f<2>;\n  .reg .f64 %fd<2>;");
  const auto run_of = [&](const std::string& first) {
    const std::string launch = R"({"grid": 1, "block": 1, "buffers": {
        "out": {"type": "i32", "shape": [4], "use": "output", "expected": [0, 100, 0, 0]}},
        "parameters": [{"fields": [)" +
                               first + R"(, {"buffer": "out", "added": 4}]}]})";
    const ScenarioEntry scenario = entry(ptx, launch);
    return simulate(scenario, ParameterSet{scenario.parameters}, RunOptions{});
  };
  EXPECT_TRUE(run_of(R"({"type": "f64", "value": 99.75})").clean(true));
  EXPECT_THAT([&] { run_of(R"({"type": "f64", "value": "x"})"); },
              testing::ThrowsMessage<ConfigError>(HasSubstr("fields[0].value: a number")));
}

// Loads one box of a map and stores its 16 words.
constexpr const char* kOfABox = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out) {
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<5>;
  .shared .align 128 .b8 tile[64];
  .shared .align 8 .b64 bar;
  ld.param.u64 %rd1, [out];
  mov.b64 %rd2, map;
  cvta.param.u64 %rd3, %rd2;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra WAIT;
  mbarrier.init.shared.b64 [bar], 1;
  fence.proxy.async.shared::cta;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;
  cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes
    [tile], [%rd3, {4, 1, 1}], [bar];
WAIT:
  bar.warp.sync 0xffffffff;
TRY:
  mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;
  @!%p1 bra TRY;
  mov.u32 %r2, tile;
  mad.lo.u32 %r3, %r1, 4, %r2;
  ld.shared.b32 %r4, [%r3];
  mul.wide.u32 %rd4, %r1, 4;
  add.u64 %rd4, %rd1, %rd4;
  st.global.b32 [%rd4], %r4;
  ret;
}
)";

RunResult run_of_box(const std::string& map) {
  // Two planes of three rows of eight, rows 64 bytes apart: element (p, r, c) is 100p + 10r + c.
  std::string contents;
  for (int plane = 0; plane < 2; ++plane) {
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 16; ++column) {
        contents += (contents.empty() ? "" : ", ") +
                    std::to_string(column < 8 ? 100 * plane + 10 * row + column : -1);
      }
    }
  }
  const std::string launch = R"({"grid": 1, "block": 16, "buffers": {
      "in": {"type": "i32", "shape": [6, 16], "use": "input", "contents": [)" +
                             contents + R"(]},
      "out": {"type": "i32", "shape": [16], "use": "output",
              "expected": [114, 115, 116, 117, 124, 125, 126, 127, 0, 0, 0, 0, 0, 0, 0, 0]}},
      "maps": {"m": {"buffer": "in", )" +
                             map + R"(}},
      "parameters": [{"map": "m"}, {"buffer": "out"}]})";
  const ScenarioEntry scenario = entry(kOfABox, launch);
  return simulate(scenario, ParameterSet{scenario.parameters}, RunOptions{});
}

TEST(PtxLaunch, AMapHasUpToFiveDimensions) {
  EXPECT_TRUE(run_of_box(R"("box": [2, 2, 4], "dimensions": [
                            {"extent": 2, "stride_bytes": 192},
                            {"extent": 3, "stride_bytes": 64}])")
                  .clean(true));
  const std::pair<const char*, const char*> kRows[] = {
      {R"("box": [2, 2, 4], "dimensions": [{"extent": 2, "stride_bytes": 192}])",
       "maps.m.box: a number for each dimension"},
      {R"("box": [2, 2, 4])", "maps.m.box: rows and columns"},
      {R"("box": [2, 4], "dimensions": [{"extent": 3, "stride_bytes": 192}])",
       "maps.m.dimensions[0]: it reaches beyond the 384 bytes of buffer 'in'"},
      {R"("box": [2, 4], "dimensions": [{"extent": 2, "stride_bytes": 4}])",
       "maps.m.dimensions[0].stride_bytes: a multiple of 16"},
      {R"("box": [2, 0], "dimensions": [{"extent": 2, "stride_bytes": 64}])",
       "maps.m.box[1]: 1 to"},
      {R"("box": [256, 256, 256], "dimensions": [{"extent": 1, "stride_bytes": 0},
          {"extent": 1, "stride_bytes": 0}])",
       "maps.m.box: it has more elements"}};
  for (const auto& row : kRows) {
    EXPECT_THAT([&] { run_of_box(row.first); },
                testing::ThrowsMessage<ConfigError>(HasSubstr(row.second)))
        << row.first;
  }
}

TEST(PtxLaunch, ElementsThatShareAByteFillIt) {
  const auto run_of = [](const std::string& shape, const std::string& contents) {
    const std::string launch = R"({"grid": 1, "block": 1, "buffers": {
        "out": {"type": "i32", "shape": [4], "use": "output", "expected": [0, 3, 0, 0]},
        "in": {"type": "f4e2m1", "shape": )" +
                               shape + R"(, "contents": )" + contents + R"(}},
        "parameters": [{"fields": [{"type": "i32", "value": 3}, {"buffer": "out", "added": 4}]}]})";
    const ScenarioEntry scenario = entry(kOfAStructure, launch);
    return simulate(scenario, ParameterSet{scenario.parameters}, RunOptions{});
  };
  EXPECT_TRUE(run_of("[2, 4]", "[1, 2, 3, 4, 1, 2, 3, 4]").clean(true));
  EXPECT_TRUE(run_of("[2, 4]", "0.5").clean(true));
  EXPECT_THAT([&] { run_of("[2, 3]", "[1, 2, 3, 1, 2, 3]"); },
              testing::ThrowsMessage<ConfigError>(HasSubstr(
                  "buffers.in.shape: a row of f4e2m1 has a multiple of 2 columns, not 3")));
}

TEST(PtxLaunch, WhatIsExpectedIsRefusedWithItsPlace) {
  const std::pair<const char*, const char*> kRows[] = {
      {R"("expected": [1])", "buffers.out.expected: 2 numbers"},
      {R"("tolerance": {"relative": 1})", "buffers.out.tolerance: it is of what is expected"},
      {R"("expected": 1, "tolerance": {"relative": -1})", "buffers.out.tolerance.relative"},
      {R"("expected": {"random": {"seed": 1, "least": 2, "most": 1}})",
       "buffers.out.expected.random.most: it is below"}};
  for (const auto& row : kRows) {
    EXPECT_THAT([&] { negated_as("i32", "0", row.first); },
                testing::ThrowsMessage<ConfigError>(HasSubstr(row.second)))
        << row.first;
  }
}

TEST(PtxLaunch, NumbersThatATypeDoesNotHaveAreRefused) {
  const std::pair<const char*, const char*> kRows[] = {{"i8", "[128, 0]"},
                                                       {"i8", "[-129, 0]"},
                                                       {"u16", "[-1, 0]"},
                                                       {"i32", "[1.5, 0]"},
                                                       {"i64", "[9223372036854775808, 0]"}};
  for (const auto& row : kRows) {
    EXPECT_THAT([&] { negated(row.first, "1", row.second); },
                testing::ThrowsMessage<ConfigError>(HasSubstr("buffers.in.contents[0]")))
        << row.first << row.second;
  }
}

}  // namespace warptwin::sim::launch_test
