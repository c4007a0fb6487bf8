#include "sim/cli/ptx_command.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "sim/cli/command.hpp"
#include "sim/report/json.hpp"

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
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "/ptx_command_" + name;
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
                                 ".reg .b64 %rd<2>;\nst.bulk.weak.shared::cta [%rd0], %rd1, 0;\n}");
  EXPECT_EQ(run({"ptx", "coverage", file}), 2);
  EXPECT_THAT(out_.str(), HasSubstr("it is read and not executed"));
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

}  // namespace
}  // namespace warptwin::sim::ptx_command_test
