#include "sim/cli/ptx_command.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

#include <gmock/gmock.h>

#include "sim/cli/command.hpp"
#include "sim/report/json.hpp"
#include "sim/run/npy.hpp"
#include "sim/run/ptx_entry.hpp"
#include "sim/run/replay_line.hpp"

namespace warptwin::sim::ptx_command_test {
namespace {

using testing::HasSubstr;

constexpr char kModule[] =
    ".version 9.0\n.target sm_100a\n.address_size 64\n"
    ".func helper() { ret; }\n"
    ".entry k(.param .u64 p) {\n.reg .b32 %r<3>;\n.reg .pred %p1;\n.loc 1 7 3\n"
    "setp.eq.s32 %p1, %r1, 0;\n@%p1 bra L;\nadd.s32 %r1, %r1, -1;\nL: ret;\n}\n"
    ".file 1 \"user.cu\"\n";

class PtxCommand : public testing::Test {
 protected:
  PtxCommand() { std::filesystem::create_directories(folder_); }
  ~PtxCommand() override { std::filesystem::remove_all(folder_); }
  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = at(name);
    std::ofstream{path} << text;
    return path;
  }
  int run(const std::vector<std::string>& arguments) {
    out_.str("");
    err_.str("");
    return static_cast<int>(run_command(arguments, {}, out_, err_));
  }
  std::ostringstream out_;
  std::ostringstream err_;

 private:
  std::string folder_ = testing::TempDir() + "ptx_command" + std::to_string(getpid());
};

TEST_F(PtxCommand, CoverageOfWhatIsAllThereIsClean) {
  EXPECT_EQ(run({"ptx", "coverage", write("whole.ptx", kModule)}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("5 instructions in 2 functions; none is missing"));
}

TEST_F(PtxCommand, CoverageNamesWhatIsMissing) {
  const std::string file =
      write("gap.ptx",
            ".version 9.0\n.target sm_100a\n.entry k() { .reg .b32 a;\nfrob.b32 a;\nfrob.b32 a; }");
  EXPECT_EQ(run({"ptx", "coverage", file}), 2);
  EXPECT_THAT(out_.str(),
              HasSubstr("frob.b32, 2 times, first in " + file + ":4: there is no frob"));
  EXPECT_EQ(run({"ptx", "coverage", file, "--json"}), 2);
  const Json report = Json::parse(out_.str());
  EXPECT_EQ(report["exit"], 2);
  EXPECT_EQ(report["files"][0]["missing"][0]["count"], 2);
}

// The table has its form, and the machine does nothing for it.
TEST_F(PtxCommand, CoverageNamesWhatIsReadAndNotExecuted) {
  const std::string file = write("unexecuted.ptx",
                                 ".version 9.0\n.target sm_100a\n.address_size 64\n.entry k() {\n"
                                 ".reg .b32 %r<2>;\ntcgen05.shift.cta_group::1.down [%r0];\n}");
  EXPECT_EQ(run({"ptx", "coverage", file}), 2);
  EXPECT_THAT(out_.str(), HasSubstr("it is read and not executed"));
}

std::string kernel_of(const std::string& instruction) {
  return ".version 9.0\n.target sm_100a\n.address_size 64\n.entry k() {\n.reg .b32 %r<9>;\n"
         ".reg .b64 %rd<5>;\n.reg .b16 %h<3>;\n.reg .f32 %f<5>;\n.reg .pred %p1;\n"
         ".shared .align 128 .b8 tile[1024];\nmov.u32 %r1, tile;\nmov.u64 %rd1, 0x100000000;\n" +
         instruction + "\nret;\n}";
}

struct Form {
  const char* instruction;
  const char* reason;
};

// Whatever their operands are: what coverage says beforehand is what ends the run.
TEST_F(PtxCommand, CoverageNamesWhatIsRefusedByItsMnemonic) {
  const std::string launch =
      write("one.json", R"({"kernel": "k", "grid": 1, "block": 32, "parameters": []})");
  for (const auto& [instruction, reason] : {
           Form{"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r2, %r3}, [%r1];",
                "m8n8 of b16"},
           Form{"atom.global.add.noftz.f16 %h1, [%rd1], %h2;", "atomics of 16 bits"},
           Form{"atom.shared.acquire.cta.exch.b32 %r2, [%r1], %r1;", "atomics of shared memory"},
           Form{"ld.acquire.cta.shared.u32 %r2, [%r1];", "accesses of shared memory"},
           Form{"st.release.cta.shared.u32 [%r1], %r1;", "accesses of shared memory"},
           Form{"tcgen05.cp.cta_group::1.4x256b [%r1], %rd1;", "this shape of tcgen05.cp"},
           Form{"tcgen05.cp.cta_group::1.64x128b.warpx2::02_13 [%r1], %rd1;", "this shape"},
           Form{"tcgen05.ld.sync.aligned.16x64b.x2.pack::16b.b32 {%r2, %r3}, [%r1];",
                "32x32b only"},
           Form{"tcgen05.mma.cta_group::1.ashift.kind::f16 [%r1], [%r1], %rd1, %r2, %p1;", "kind"},
           Form{"wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%r1, %r2, %r3, %r4}, "
                "%rd1, "
                "%rd2, 1;",
                "takes no .and"},
           Form{"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 "
                "[%r1], %r2, [%r1];",
                ".inc and .dec"},
           Form{"fence.acquire.sync_restrict::shared::cluster.cluster;", "sync_restrict"},
           Form{"cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w"
                ".mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r2, %r2}], [%r1], {%h1, %h2};",
                "im2col::w"},
       }) {
    const std::string file = write("refused.ptx", kernel_of(instruction));
    EXPECT_EQ(run({"ptx", "coverage", file}), 2) << instruction;
    EXPECT_THAT(out_.str(), HasSubstr(reason));
    EXPECT_EQ(run({"ptx", "run", file, "--launch", launch}), 2) << instruction;
    const std::string text = instruction;
    EXPECT_THAT(err_.str(), HasSubstr(text.substr(0, text.find_first_of(" ;"))));
  }
  for (const char* instruction :
       {"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r2, %r3}, [%r1];",
        "atom.global.add.u64 %rd2, [%rd1], %rd1;",
        "atom.acq_rel.gpu.global.cas.b32 %r2, [%rd1], %r1, %r2;",
        "atom.relaxed.cta.shared.add.u32 %r2, [%r1], %r1;",
        "ld.volatile.shared.u64 %rd2, [%r1];",
        "ld.acquire.gpu.global.u32 %r2, [%rd1];",
        "ld.acquire.gpu.u64 %rd2, [%rd1];",
        "tcgen05.cp.cta_group::1.128x256b.b8x16.b6x16_p32 [%r1], %rd1;",
        "tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 {%r2, %r3}, [%r1];",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], "
        "%r2, [%r1];",
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1], %r2, [%r1];"}) {
    EXPECT_EQ(run({"ptx", "coverage", write("there.ptx", kernel_of(instruction))}), 0)
        << instruction << out_.str();
  }
}

TEST_F(PtxCommand, ExplainSaysWhatExplainDoes) {
  EXPECT_EQ(run({"explain", "TMEM_WAR"}), 0);
  const std::string said = out_.str();
  EXPECT_THAT(said, HasSubstr("TMEM_WAR"));
  EXPECT_EQ(run({"ptx", "explain", "TMEM_WAR"}), 0);
  EXPECT_EQ(out_.str(), said);
  EXPECT_EQ(run({"ptx", "explain", "TMEM_PEACE"}), 2);
  EXPECT_EQ(run({"ptx", "explain"}), 2);
}

TEST_F(PtxCommand, ShowPrintsTheListing) {
  const std::string file = write("show.ptx", kModule);
  EXPECT_EQ(run({"ptx", "show", file, "--kernel", "k"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("kernel k (" + file + ":5): 4 instructions"));
  EXPECT_THAT(out_.str(), HasSubstr("@%p1 bra @3"));
  EXPECT_THAT(out_.str(), HasSubstr("10  user.cu:7  joins at @3"));
  EXPECT_THAT(out_.str(), testing::Not(HasSubstr("helper")));
}

TEST_F(PtxCommand, HelpHasTheOptionsOfWhatJudgesALaunch) {
  EXPECT_EQ(run({"ptx", "--help"}), 0);
  for (const char* option : {"--kernel", "--junit", "--sarif", "--baseline", "--for-all", "--to"}) {
    EXPECT_THAT(out_.str(), HasSubstr(option));
  }
  EXPECT_EQ(run({"ptx", "check", "--help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("--sarif"));
  EXPECT_THAT(out_.str(), testing::Not(HasSubstr("--for-all")));
  EXPECT_EQ(run({"prove", "--help"}), 0);
  EXPECT_THAT(out_.str(), testing::Not(HasSubstr("COMMAND --help")));
}

TEST_F(PtxCommand, WrongUseSaysWhatToDo) {
  const std::string file = write("use.ptx", kModule);
  EXPECT_EQ(run({"ptx"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("'ptx' takes 'coverage FILE... [--json]'"));
  EXPECT_EQ(run({"ptx", "show", file, "--kernel", "nobody"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("has no function 'nobody'; it has helper, k"));
  EXPECT_EQ(run({"ptx", "coverage", "/nowhere.ptx"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("cannot read '/nowhere.ptx'"));
  EXPECT_EQ(run({"ptx", "coverage", write("bad.ptx", "hello")}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("bad.ptx:1:1: expected '.version'"));
}

// A warp that adds up, for Hopper and for whoever takes it.
std::string timed_module(const std::string& target, const std::string& body) {
  return ".version 8.7\n.target " + target +
         "\n.address_size 64\n.visible .entry k(.param .u64 in)\n.maxntid 32, 1, 1\n{\n"
         "  .reg .pred %p<3>;\n  .reg .b32 %r<4>;\n  .reg .b64 %rd<3>;\n"
         "  ld.param.u64 %rd1, [in];\n  mov.u32 %r1, 0;\n" +
         body + "  ret;\n}\n";
}

constexpr char kTimedLaunch[] =
    R"({"grid": 1, "block": 32, "parameters": [{"buffer": "in"}],
        "buffers": {"in": {"type": "f32", "shape": [1, 32], "use": "input"}}})";

constexpr char kCounts[] = "L: add.s32 %r1, %r1, 1;\n  setp.lt.s32 %p1, %r1, 100;\n  @%p1 bra L;\n";

TEST_F(PtxCommand, TimeSaysCyclesAndWhereRegistersComeFrom) {
  const std::string file = write("timed.ptx", timed_module("sm_90a", kCounts));
  const std::string launch = write("said.json", kTimedLaunch);
  const std::vector<std::string> command = {
      "ptx", "time", file, "--launch", launch, "--chip", "h100", "--registers", "40"};
  EXPECT_EQ(run(command), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("k on h100\n"));
  EXPECT_THAT(out_.str(), HasSubstr(" cycles, "));
  EXPECT_THAT(out_.str(), HasSubstr("registers: 40 a thread, --registers\n"));
  EXPECT_THAT(out_.str(), HasSubstr("clean in this one run"));
  std::vector<std::string> json = command;
  json.insert(json.end(), {"--json", "--flops", "1e9", "--no-check"});
  EXPECT_EQ(run(json), 0) << err_.str();
  const Json report = Json::parse(out_.str());
  EXPECT_GT(report["cycles"].get<double>(), 900);  // three instructions a turn, each waited for
  EXPECT_EQ(report["registers"]["a_thread"], 40);
  EXPECT_FALSE(report["moved_data"].get<bool>());
  EXPECT_NEAR(
      report["tflops"].get<double>(), 1e9 / report["microseconds"].get<double>() / 1e6, 1e-9);
}

// A name that C++ mangled is printed as the program has it; one of C is as it was, though `f` would
// be a type if it were mangled. What selects, as in JSON and in a suppression, is the file's.
TEST_F(PtxCommand, NamesArePrintedAsTheProgramHasThem) {
  const auto judged = [&](const std::string& name, const std::vector<std::string>& words) {
    std::string text = timed_module("sm_90a", kCounts);
    text.replace(text.find(" k("), 3, " " + name + "(");
    const std::string file = write("named.ptx", text);
    std::vector<std::string> all = {
        "ptx", words[0], file, "--launch", write("named.json", kTimedLaunch)};
    all.insert(all.end(), words.begin() + 1, words.end());
    EXPECT_EQ(run(all), 0) << err_.str();
    return out_.str();
  };
  const std::string mangled = "_Z5scalePKf";
  EXPECT_THAT(judged(mangled, {"check"}), HasSubstr("scale(float const*): proved"));
  EXPECT_THAT(judged(mangled, {"prove"}), HasSubstr("scale(float const*): proved"));
  EXPECT_THAT(judged(mangled, {"run"}), HasSubstr("scale(float const*)\nschedule "));
  EXPECT_THAT(judged(mangled, {"explore"}), HasSubstr("scale(float const*)\n"));
  EXPECT_THAT(judged(mangled, {"time", "--chip", "h100", "--registers", "40"}),
              HasSubstr("scale(float const*) on h100\n"));
  EXPECT_EQ(Json::parse(judged(mangled, {"check", "--json"}))["scenario"], mangled);
  EXPECT_THAT(judged("f", {"check"}), testing::StartsWith("f: proved"));
  EXPECT_THAT(judged("_Z9cut", {"check"}), testing::StartsWith("_Z9cut: proved"));
}

TEST_F(PtxCommand, ShowSaysBothNames) {
  std::string text = kModule;
  text.replace(text.find(" k("), 3, " _Z5scalePKf(");
  const std::string file = write("both.ptx", text);
  EXPECT_EQ(run({"ptx", "show", file, "--kernel", "_Z5scalePKf"}), 0);
  EXPECT_THAT(out_.str(),
              HasSubstr("kernel _Z5scalePKf (" + file + ":5): scale(float const*), 4 instr"));
}

TEST_F(PtxCommand, TimeTakesTheChipOfTheLaunch) {
  const std::string file = write("chips.ptx", timed_module("sm_90a", kCounts));
  std::string launch = kTimedLaunch;
  launch.replace(0, 1, R"({"chip": "h200", )");
  std::vector<std::string> command = {
      "ptx", "time", file, "--launch", write("chips.json", launch), "--registers", "40"};
  EXPECT_EQ(run(command), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("k on h200\n"));
  command.insert(command.end(), {"--chip", "h100"});
  EXPECT_EQ(run(command), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("k on h100\n"));
}

TEST_F(PtxCommand, TimeWhereDataDecidesMovesData) {
  const std::string file = write("decided.ptx",
                                 timed_module("sm_90a",
                                              "  ld.global.u32 %r2, [%rd1];\n"
                                              "  setp.eq.s32 %p1, %r2, 0;\n  @%p1 bra L;\n"
                                              "  add.s32 %r1, %r1, 1;\nL:\n"));
  EXPECT_EQ(run({"ptx",
                 "time",
                 file,
                 "--launch",
                 write("decided.json", kTimedLaunch),
                 "--chip",
                 "h100",
                 "--registers",
                 "40"}),
            0)
      << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("data decides what it does, so the run moved data: "));
}

TEST_F(PtxCommand, TimeRefusesWhatItCannotTime) {
  const std::string launch = write("refused.json", kTimedLaunch);
  const auto said = [&](const std::string& target, const std::vector<std::string>& more) {
    const std::string file = write("refused.ptx", timed_module(target, kCounts));
    std::vector<std::string> command = {"ptx", "time", file, "--launch", launch};
    command.insert(command.end(), more.begin(), more.end());
    EXPECT_EQ(run(command), 2);
    return err_.str();
  };
  EXPECT_THAT(said("sm_90a", {}),
              HasSubstr("is for sm_90a, which b200 does not run: use --chip "
                        "h100 or --chip h200, or compile it for sm_100a"));
  EXPECT_THAT(said("sm_100a", {"--chip", "h100"}), HasSubstr("--chip b200, gb200 or b300"));
  EXPECT_THAT(said("sm_100", {"--chip", "h100"}), HasSubstr("which h100 does not run"));
  EXPECT_THAT(said("sm_90a", {"--chip", "h100", "--flops", "many"}), HasSubstr("--flops takes"));
  EXPECT_THAT(said("sm_90a", {"--chip", "h100", "--registers", "256"}), HasSubstr("registers"));
  EXPECT_EQ(run({"time", "--launch", launch}), 2);
  EXPECT_EQ(run({"time", "--ptx", "/nowhere.ptx"}), 2);
}

TEST_F(PtxCommand, TimeOfALoopWithoutAnEndSaysWhere) {
  const std::string file =
      write("endless.ptx", timed_module("sm_90a", "L: add.s32 %r1, %r1, 1;\n  bra L;\n"));
  EXPECT_EQ(run({"ptx",
                 "time",
                 file,
                 "--launch",
                 write("timed.json", kTimedLaunch),
                 "--chip",
                 "h100",
                 "--registers",
                 "40"}),
            2);
  EXPECT_THAT(err_.str(),
              HasSubstr("a loop without an operation of the machine does not end; it goes "
                        "round in lines 12 to 13 of the PTX"));
}

// A loop in a loop: it goes round in both.
TEST_F(PtxCommand, AnEndlessLoopHasItsLinesAndThoseOfTheSource) {
  const std::string body =
      "  .loc 1 6 1\nOUT: mov.u32 %r2, 0;\nIN: add.s32 %r2, %r2, 1;\n  setp.lt.s32 %p1, %r2, 3;\n"
      "  .loc 1 7 1\n  @%p1 bra IN;\n  .loc 1 8 1\n  bra OUT;\n";
  const std::string file =
      write("nested.ptx", timed_module("sm_90a", body) + ".file 1 \"/home/me/kernels/a.cu\"\n");
  EXPECT_EQ(run({"ptx", "run", file, "--launch", write("nested.json", kTimedLaunch)}), 1);
  EXPECT_THAT(out_.str(),
              HasSubstr("LIVELOCK_SPIN: a warp goes round in a loop that nothing ends"));
  EXPECT_THAT(out_.str(),
              HasSubstr("loop     lines 13 to 19 of the PTX, at kernels/a.cu:6, kernels/a.cu:7, "
                        "kernels/a.cu:8"));
}

// Warps that meet for ever, each time with another number.
constexpr char kEndless[] = "L: add.s32 %r1, %r1, 1;\n  bar.sync 0;\n  bra L;\n";

TEST_F(PtxCommand, EveryCommandEndsAtItsTimeLimit) {
  const std::string file = write("meets.ptx", timed_module("sm_90a", kEndless));
  const std::string launch = write("meets.json", kTimedLaunch);
  for (const char* command : {"run", "check", "prove", "explore", "replay", "trace", "time"}) {
    std::vector<std::string> words = {
        "ptx", command, file, "--launch", launch, "--max-steps", "1000000000000"};
    words.insert(words.end(), {"--time-limit", "1"});
    if (std::string{command} == "trace") {
      words.insert(words.end(), {"--to", at("meets.trace")});
    }
    if (std::string{command} == "replay") {
      const ScenarioEntry entry = entry_of_launch_file(file, launch, {});
      words.insert(words.end(), {"--schedule", fingerprint(entry, ParameterSet{{}}) + "-in-turn"});
    }
    if (std::string{command} == "time") {
      words.insert(words.end(), {"--chip", "h100", "--registers", "40"});
    }
    EXPECT_EQ(run(words), 5) << command << "\n" << out_.str() << err_.str();
    EXPECT_EQ(out_.str(), file + ": incomplete: stopped by --time-limit 1 (seconds of CPU)\n");
  }
}

TEST_F(PtxCommand, AStoppedCommandIsAVerdictOfItsReports) {
  const std::string file = write("reported.ptx", timed_module("sm_90a", kEndless));
  const std::string junit = at("reported.xml");
  EXPECT_EQ(run({"ptx",
                 "prove",
                 file,
                 "--launch",
                 write("reported.json", kTimedLaunch),
                 "--max-steps",
                 "1000000000000",
                 "--time-limit",
                 "1",
                 "--json",
                 "--junit",
                 junit}),
            5);
  const Json report = Json::parse(out_.str());
  EXPECT_EQ(report["verdict"], "stopped");
  EXPECT_EQ(report["exit"], 5);
  std::ostringstream text;
  text << std::ifstream{junit}.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("stopped by --time-limit 1"));
}

// Reading a file is within the limits too.
TEST_F(PtxCommand, WhatOnlyReadsHasLimitsToo) {
  const std::string file = write("limited.ptx", kModule);
  for (const char* command : {"coverage", "show", "init"}) {
    EXPECT_EQ(run({"ptx", command, file}), 0) << err_.str();
    const std::string plain = out_.str();
    EXPECT_EQ(run({"ptx", command, file, "--time-limit", "100", "--memory-limit", "100000"}), 0);
    EXPECT_EQ(out_.str(), plain);
    EXPECT_EQ(run({"ptx", command, file, "--memory-limit", "much"}), 2);
    EXPECT_THAT(err_.str(), HasSubstr("--memory-limit takes a whole number"));
  }
  // 12 MB of text, whose instructions take more than a GB.
  std::string much;
  for (int i = 0; i < 300'000; ++i) {
    much += "add.s32 %r1, %r1, %r2;\nxor.b32 %r1, %r1, 1;";
  }
  EXPECT_EQ(run({"ptx",
                 "coverage",
                 write("much.ptx", timed_module("sm_90a", much)),
                 "--memory-limit",
                 "200"}),
            5)
      << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("incomplete: stopped by --memory-limit 200 (MiB)"));
  EXPECT_EQ(run({"ptx", "coverage", write("bad.ptx", "hello"), "--time-limit", "9"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("bad.ptx:1:1: expected '.version'"));
}

// What the first lane finds in the buffer decides how often it goes round.
constexpr char kByData[] =
    "  ld.global.u32 %r2, [%rd1];\nL: add.s32 %r1, %r1, 1;\n  setp.lt.s32 %p1, %r1, %r2;\n"
    "  @%p1 bra L;\n";

constexpr char kDataLaunch[] =
    R"({"grid": 1, "block": 32, "parameters": [{"buffer": "in"}],
        "buffers": {"in": {"type": "u32", "shape": [1, 32], "use": "input", "contents": 3}}})";

TEST_F(PtxCommand, ControlOnlyIsNeverWithData) {
  const std::string data = write("by_data.ptx", timed_module("sm_90a", kByData));
  const std::string launch = write("by_data.json", kDataLaunch);
  EXPECT_EQ(run({"ptx", "prove", data, "--launch", launch}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("data decides what it does"));
  for (const char* command : {"prove", "check"}) {
    EXPECT_EQ(run({"ptx", command, data, "--launch", launch, "--control-only"}), 2) << command;
    EXPECT_THAT(err_.str(), HasSubstr("without --control-only it is proved with its data"));
  }
  EXPECT_EQ(run({"ptx", "run", data, "--launch", launch, "--control-only"}), 2);
  const std::string none = write("no_data.ptx", timed_module("sm_90a", kCounts));
  EXPECT_EQ(run({"ptx", "check", none, "--launch", launch, "--control-only"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("values not compared: --control-only moves none"));
  EXPECT_EQ(run({"ptx", "check", none, "--launch", launch}), 0);
  EXPECT_THAT(out_.str(), testing::Not(HasSubstr("values not compared")));
}

// A launch of all kinds of parameters, over a kernel that does nothing.
constexpr char kManyParameters[] =
    ".version 8.7\n.target sm_90a\n.address_size 64\n.global .align 4 .b8 table[64];\n"
    ".visible .entry many(.param .align 64 .b8 m[128], .param .u64 p, .param .f32 f, .param .s32 i,"
    " .param .align 8 .b8 s[16])\n{\n  .shared .align 8 .b64 full[2];\n"
    "  .shared .align 128 .b8 tile[256];\n  ret;\n}\n";

constexpr char kManyLaunch[] = R"({"grid": [4, 2], "block": 64, "cluster": 2,
  "dynamic_shared_bytes": 1024,
  "buffers": {"in": {"type": "bf16", "shape": [128, 64]},
              "out": {"type": "i32", "shape": [1, 4], "use": "output", "expected": [1, -2, 3, 4]}},
  "maps": {"in_map": {"buffer": "in", "box": [64, 64], "swizzle": 128}},
  "parameters": [{"map": "in_map"}, {"buffer": "out", "offset": 8}, {"value": 0.5}, {"value": -7},
                 {"fields": [{"type": "i32", "value": 5}, {"buffer": "in"}]}]})";

TEST_F(PtxCommand, ShowTellsALaunch) {
  const std::string file = write("many.ptx", kManyParameters);
  const std::string launch = write("many.json", kManyLaunch);
  EXPECT_EQ(run({"ptx", "show", file, "--launch", launch}), 0) << err_.str();
  for (const char* said : {"4 x 2 x 1 CTAs, in clusters of 2 x 1 x 1",
                           "64 x 1 x 1 threads, 2 warps",
                           "1024 dynamic from shared+0x",
                           "+0, 128 bytes: the map in_map",
                           "+128, 8 bytes: the address of out + 8",
                           "4 bytes: 0.5",
                           "4 bytes: -7",
                           "16 bytes: 05000000000000000000000000000000; at +8 the address of in",
                           "bf16 128 x 64, 16384 bytes, input: drawn",
                           "i32 1 x 4, 16 bytes, output: zeros; ends with 1, -2, 3, 4",
                           "in, 128 x 64: boxes of 64 x 64, swizzle 128, 8192 bytes a copy",
                           "64 bytes\n"}) {
    EXPECT_THAT(out_.str(), HasSubstr(said));
  }
  EXPECT_EQ(run({"ptx", "show", file, "--launch", launch, "--json"}), 0);
  const Json json = Json::parse(out_.str());
  EXPECT_EQ(json["cluster"], Json({2, 1, 1}));
  EXPECT_EQ(json["parameters"][3]["value"], "-7");
  EXPECT_EQ(json["maps"][0]["bytes"], 8192);
  EXPECT_EQ(run({"ptx", "show", file, "--launch", launch, "--kernel", "many"}), 2);
  EXPECT_EQ(run({"ptx", "init", file, "--launch", launch}), 2);
  // The directives hold here too.
  const std::string clusters =
      write("clusters.json", R"({"grid": 3, "block": 32, "cluster": 2, "parameters": []})");
  const std::string plain =
      write("plain.ptx", ".version 8.7\n.target sm_90a\n.address_size 64\n.entry k() { ret; }\n");
  EXPECT_EQ(run({"ptx", "show", plain, "--launch", clusters}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("is not made of clusters"));
}

// Two warps: the first arrives at one mbarrier, and waits for ever for another.
constexpr char kNamed[] =
    ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry waits()\n.reqntid 64\n{\n"
    "  .reg .pred %p<3>;\n  .reg .b32 %r<4>;\n  .shared .align 8 .b64 bars[4];\n"
    "  mov.u32 %r1, %tid.x;\n  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra READY;\n"
    "  mbarrier.init.shared::cta.b64 [bars+16], 1;\n"
    "READY:\n  bar.sync 0;\n  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra END;\n"
    "WAIT:\n  mbarrier.try_wait.parity.shared::cta.b64 %p2, [bars+16], 0;\n  @!%p2 bra WAIT;\n"
    "END:\n  ret;\n}\n";

TEST_F(PtxCommand, NamesOfAUserAreInFindingsAndReplayLines) {
  const std::string file = write("waits.ptx", kNamed);
  const std::string launch = write("waits.json", R"({"grid": 1, "block": 64, "parameters": []})");
  EXPECT_EQ(run({"ptx", "check", file, "--launch", launch}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("shared+0x410 of cta 0"));
  const std::string names = write("names.json",
                                  R"({"shared": {"input.full": {"at": "bars", "count": 2},
                     "input.empty": {"at": "shared+0x410", "count": 2}},
          "roles": [{"role": "producer", "warps": 1}, {"role": "consumer", "warps": 1}]})");
  EXPECT_EQ(run({"ptx", "check", file, "--launch", launch, "--names", names}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("DEADLOCK"));
  EXPECT_THAT(out_.str(), HasSubstr("object   input.empty[0] of cta 0"));
  EXPECT_THAT(out_.str(), HasSubstr("producer"));
  EXPECT_THAT(out_.str(), HasSubstr(" --names " + names));
  EXPECT_EQ(run({"ptx", "show", file, "--launch", launch, "--names", names}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("shared+0x410, 2 of 8 bytes"));
}

constexpr char kDoubles[] =
    ".version 8.7\n.target sm_90a\n.address_size 64\n"
    ".visible .entry scaled(.param .u64 in, .param .u64 out, .param .f64 factor)\n.reqntid 2\n{\n"
    "  .reg .b32 %r<2>;\n  .reg .b64 %rd<4>;\n  .reg .f64 %fd<4>;\n  ld.param.u64 %rd1, [in];\n"
    "  ld.param.u64 %rd2, [out];\n  ld.param.f64 %fd1, [factor];\n  mov.u32 %r1, %tid.x;\n"
    "  mul.wide.u32 %rd3, %r1, 8;\n  add.u64 %rd1, %rd1, %rd3;\n  add.u64 %rd2, %rd2, %rd3;\n"
    "  ld.global.f64 %fd2, [%rd1];\n  mul.rn.f64 %fd3, %fd2, %fd1;\n"
    "  st.global.f64 [%rd2], %fd3;\n  ret;\n}\n";

// What differs is less than a float tells.
TEST_F(PtxCommand, BuffersOfDoublesKeepEachBit) {
  const std::string file = write("doubles.ptx", kDoubles);
  const auto launch = [&](const std::string& expected) {
    return write("doubles.json",
                 R"({"grid": 1, "block": 2, "buffers": {
          "in": {"type": "f64", "shape": [1, 2], "contents": [0.1, 3]},
          "out": {"type": "f64", "shape": [1, 2], "use": "output", "expected": )" +
                     expected + R"(}},
          "parameters": [{"buffer": "in"}, {"buffer": "out"},
                         {"fields": [{"type": "f64", "value": 2.0}]}]})");
  };
  const std::string out = at("doubles.npy");
  EXPECT_EQ(run({"ptx", "run", file, "--launch", launch("[0.2, 6]"), "--out", "out=" + out}), 0)
      << out_.str() << err_.str();
  const std::vector<std::byte> bytes = read_npy_elements(out, ElementType::kF64, 1, 2);
  double stored[2] = {};
  ASSERT_EQ(bytes.size(), sizeof stored);
  std::memcpy(stored, bytes.data(), sizeof stored);
  EXPECT_EQ(stored[0], 0.2);
  EXPECT_EQ(stored[1], 6.0);
  EXPECT_EQ(run({"ptx", "run", file, "--launch", launch("[0.2000000001, 6]")}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("RESULT_WRONG"));
  EXPECT_EQ(run({"ptx",
                 "run",
                 file,
                 "--launch",
                 launch(R"([0.2000000001, 6], "tolerance": {"absolute": 1e-9})")}),
            0);
}

// One of two warps comes to a barrier of both.
constexpr char kHandsOver[] =
    ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry hands_over()\n.reqntid 64\n"
    "{\n  .reg .pred %p<2>;\n  .reg .b32 %r<2>;\n  mov.u32 %r1, %tid.x;\n"
    "  setp.ge.u32 %p1, %r1, 32;\n  @%p1 bra END;\n  bar.sync 3, 64;\nEND:\n  ret;\n}\n";

TEST_F(PtxCommand, NamedBarriersHaveTheNamesOfAUser) {
  const std::string file = write("hands_over.ptx", kHandsOver);
  const std::string launch =
      write("hands_over.json", R"({"grid": 1, "block": 64, "parameters": []})");
  EXPECT_EQ(run({"ptx", "check", file, "--launch", launch}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("waits at named barrier 3 of cta 0: 32 of 64 threads"));
  const std::string names =
      write("barriers.json", R"({"named_barriers": {"hand_over": 3, "other": 2}})");
  EXPECT_EQ(run({"ptx", "check", file, "--launch", launch, "--names", names}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("waits at hand_over (named barrier 3) of cta 0: 32 of 64"));
  EXPECT_EQ(run({"ptx", "show", file, "--launch", launch, "--names", names}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("hand_over"));
}

// Two CTAs take a lock that nobody releases.
constexpr char kLocked[] =
    ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry locked(.param .u64 out)\n"
    ".reqntid 1\n{\n  .reg .pred %p<2>;\n  .reg .b32 %r<3>;\n  .reg .b64 %rd<2>;\n"
    "  ld.param.u64 %rd1, [out];\nLOCK:\n  .loc 1 7 3\n"
    "  atom.acquire.gpu.global.cas.b32 %r1, [%rd1], 0, 1;\n  setp.ne.u32 %p1, %r1, 0;\n"
    "  .loc 1 8 3\n  @%p1 bra LOCK;\n  ret;\n}\n.file 1 \"/home/me/kernels/main.cu\"\n";

TEST_F(PtxCommand, ALivelockNamesTheLinesOfItsLoop) {
  const std::string file = write("locked.ptx", kLocked);
  const std::string launch = write("locked.json",
                                   R"({"grid": 2, "block": 1, "parameters": [{"buffer": "out"}],
          "buffers": {"out": {"type": "u32", "shape": [1, 4], "use": "control"}}})");
  EXPECT_EQ(run({"ptx", "run", file, "--launch", launch}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("LIVELOCK_SPIN"));
  EXPECT_THAT(out_.str(),
              HasSubstr("loop     lines 13 to 16 of the PTX, at kernels/main.cu:7, "
                        "kernels/main.cu:8"));
  EXPECT_EQ(run({"ptx", "run", file, "--launch", launch, "--json"}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("\"loop\": \"lines 13 to 16 of the PTX, at "));
}

TEST_F(PtxCommand, NamesOfNothingAreRefused) {
  const std::string file = write("waits.ptx", kNamed);
  const std::string launch = write("waits.json", R"({"grid": 1, "block": 64, "parameters": []})");
  for (const auto& [text, said] : std::vector<std::pair<std::string, std::string>>{
           {R"({"shared": {"a": {"at": "nobody"}}})", "has no shared variable 'nobody'"},
           {R"({"shared": {"a": {"at": "shared+0x"}}})", "an address as reports have it"},
           {R"({"shared": {"a": {"at": "bars", "count": 5}}})", "beyond the CTA's shared memory"},
           {R"({"shared": {"a": {"at": "shared+0x0"}}})", "beyond the CTA's shared memory"},
           {R"({"shared": {"a": {"at": "bars"}, "b": {"at": "bars"}}})", "it overlaps 'a'"},
           {R"({"shared": {"a b": {"at": "bars"}}})", "neither blanks nor brackets"},
           {R"({"shared": {"a": {"at": "bars", "count": 0}}})", "neither count nor bytes is 0"},
           {R"({"shared": []})", "an object is expected"},
           {R"({"named_barriers": {"a": 16}})", "a number from 0 to 15"},
           {R"({"named_barriers": {"a": 1, "b": 1}})", "it overlaps 'a'"},
           {R"({"named_barriers": {"a b": 1}})", "neither blanks nor brackets"},
           {R"({"roles": [{"role": "cook", "warps": 1}]})", "'cook' is no role; there are load"},
           {R"({"roles": [{"role": "mma", "warps": 3}]})", "a number from 0 to 2"},
           {R"({"roles": [{"role": "mma", "warps": 2}, {"role": "load", "warps": 1}]})",
            "a CTA has 2 warps"},
           {R"({"barriers": {}})", "there is no 'barriers'"},
           {"[", "expected JSON"}}) {
    const std::string names = write("wrong_names.json", text);
    EXPECT_EQ(run({"ptx", "check", file, "--launch", launch, "--names", names}), 2) << text;
    EXPECT_THAT(err_.str(), HasSubstr(said));
  }
  EXPECT_EQ(run({"check", "gemm", "--names", "x"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--names FILE goes with --launch FILE"));
}

// A store that nothing orders, in a function that was inlined twice.
constexpr char kInlined[] =
    ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry inlined(.param .u64 out)\n"
    ".reqntid 64\n{\n  .reg .b32 %r<3>;\n  .reg .b64 %rd<2>;\n  ld.param.u64 %rd1, [out];\n"
    "  mov.u32 %r1, %tid.x;\n  .loc 1 7 3\n  .loc 2 40 3, function_name L0, inlined_at 1 7 3\n"
    "  st.global.u32 [%rd1], %r1;\n  .loc 1 9 3\n"
    "  .loc 2 40 3, function_name L0, inlined_at 1 9 3\n  st.global.u32 [%rd1+4], %r1;\n  .loc 1 "
    "10 1\n  ret;\n}\n"
    ".file 1 \"/home/me/kernels/main.cu\"\n.file 2 \"/home/me/kernels/store.hpp\"\n";

TEST_F(PtxCommand, AFindingSaysThePtxLineAndWhereItWasInlined) {
  const std::string file = write("inlined.ptx", kInlined);
  const std::string launch = write("inlined.json", R"({"grid": 1, "block": 64,
      "buffers": {"out": {"type": "u32", "shape": [1, 32], "use": "control"}},
      "parameters": [{"buffer": "out"}]})");
  EXPECT_EQ(run({"ptx", "check", file, "--launch", launch}), 1) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("  line     kernels/store.hpp:40\n  ptx      "));
  EXPECT_THAT(out_.str(), HasSubstr("/inlined.ptx:13, 16\n"));
  EXPECT_THAT(out_.str(), HasSubstr("  inlined  at kernels/main.cu:7; or at kernels/main.cu:9\n"));
  EXPECT_EQ(run({"ptx", "check", file, "--launch", launch, "--json"}), 1);
  const Json json = Json::parse(out_.str());
  EXPECT_EQ(json["findings"][0]["ptx"]["lines"], Json({13, 16}));
  EXPECT_EQ(json["findings"][0]["ptx"]["inlined_at"],
            Json({"kernels/main.cu:7", "kernels/main.cu:9"}));
}

// Where the line is the PTX's own nothing is added.
TEST_F(PtxCommand, AFindingWithoutASourceLineIsOfThePtx) {
  const std::string file = write("waits.ptx", kNamed);
  const std::string launch = write("waits.json", R"({"grid": 1, "block": 64, "parameters": []})");
  EXPECT_EQ(run({"ptx", "check", file, "--launch", launch, "--json"}), 1);
  EXPECT_FALSE(Json::parse(out_.str())["findings"][0].contains("ptx"));
}

// Of two CTAs of a thread each: what it stores for its tile is `value`, and %r1 the number of tiles
// so far, its own included.
std::string claiming(const std::string& value) {
  return ".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
         "  .reg .pred %p<4>;\n  .reg .b32 %r<9>;\n  .reg .b64 %rd<4>;\n  .reg .b128 %q;\n"
         "  .shared .align 16 .b8 tile[32];\n  ld.param.u64 %rd1, [out];\n"
         "  mov.u32 %r1, 0;\n  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, 0;\n"
         "  mbarrier.init.shared.b64 [tile+16], 1;\n  fence.mbarrier_init.release.cluster;\n"
         "NEXT:\n  add.u32 %r1, %r1, 1;\n"
         "  mbarrier.arrive.expect_tx.shared.b64 _, [tile+16], 16;\n"
         "  clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128"
         " [tile], [tile+16];\n  mul.wide.u32 %rd2, %r2, 16;\n  add.u64 %rd2, %rd2, %rd1;\n"
         "  st.global.u32 [%rd2], " +
         value +
         ";\nWAIT:\n  mbarrier.try_wait.parity.shared.b64 %p1, [tile+16], %r3;\n"
         "  @!%p1 bra WAIT;\n  xor.b32 %r3, %r3, 1;\n  ld.shared.b128 %q, [tile];\n"
         "  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q;\n"
         "  @%p2 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r2, %q;\n"
         "  fence.proxy.async.shared::cta;\n  @%p2 bra NEXT;\n  ret;\n}\n";
}

// Where each CTA computes its own tile alone both are right.
TEST_F(PtxCommand, ValuesOfTilesThatAreClaimedAreCompared) {
  const std::string launch =
      write("claims.json",
            R"({"grid": 2, "block": 1, "buffers": {"out": {"type": "i32", "shape": [2, 4],
            "use": "output", "contents": 0, "expected": [1, 0, 0, 0, 1, 0, 0, 0]}},
            "parameters": [{"buffer": "out"}]})");
  EXPECT_EQ(run({"ptx", "check", write("right.ptx", claiming("1")), "--launch", launch}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("proved"));
  EXPECT_EQ(run({"ptx", "check", write("wrong.ptx", claiming("%r1")), "--launch", launch}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("RESULT_WRONG: out is 2 for 1"));
  EXPECT_THAT(out_.str(), HasSubstr("round-robin+tiles:2"));
}

}  // namespace
}  // namespace warptwin::sim::ptx_command_test
