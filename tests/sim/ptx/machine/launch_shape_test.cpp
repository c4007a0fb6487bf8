// What a launch may ask of a kernel and of a chip.

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/run/ptx_entry.hpp"
#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::launch_shape_test {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

OneKernel directed(const std::string& directives, std::uint32_t cluster) {
  return {.body = "", .ctas = cluster, .cluster = cluster, .directives = directives};
}

TEST(PtxLaunchShape, ClustersAreAsLargeAsTheKernelAllows) {
  EXPECT_NO_THROW(entry_of(directed(".maxclusterrank 4\n", 4)));
  EXPECT_THAT([] { entry_of(directed(".maxclusterrank 2\n", 4)); },
              ThrowsMessage<ConfigError>(
                  HasSubstr("k takes clusters of at most 2 CTAs (.maxclusterrank), not 4")));
}

TEST(PtxLaunchShape, AKernelMayAskForAClusterThatIsSaid) {
  EXPECT_NO_THROW(entry_of(directed(".explicitcluster\n", 2)));
  EXPECT_NO_THROW(entry_of(directed(".explicitcluster\n.reqnctapercluster 1, 1, 1\n", 1)));
  EXPECT_THAT([] { entry_of(directed(".explicitcluster\n", 1)); },
              ThrowsMessage<ConfigError>(HasSubstr("(.explicitcluster): give 'cluster', be it 1")));
}

constexpr const char* kAsks = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out) DIRECTIVE {
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  mov.pred %p1, %is_explicit_cluster;
  selp.b32 %r1, 1, 0, %p1;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

std::string write(const std::string& name, const std::string& text) {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  std::string path = testing::TempDir() + info->name() + "." + name;
  std::ofstream{path} << text;
  return path;
}

// Of a launch that expects `explicit`, with `more` keys.
ScenarioEntry launched(const std::string& more,
                       const std::string& is_explicit,
                       const std::string& directive = "") {
  std::string text = kAsks;
  text.replace(text.find("DIRECTIVE"), 9, directive);
  return entry_of_launch_file(
      write("ptx", text),
      write("json",
            R"({"grid": 1, "block": 1, )" + more +
                R"("buffers": {"out": {"type": "u32", "shape": [4],
                                        "use": "output", "expected": [)" +
                is_explicit + R"(, 0, 0, 0]}}, "parameters": [{"buffer": "out"}]})"),
      {});
}

TEST(PtxLaunchShape, AClusterOfOneCtaIsExplicitWhereTheLaunchSaysIt) {
  for (const auto& [more, is_explicit] : {std::pair{"", "0"}, {R"("cluster": 1, )", "1"}}) {
    const ScenarioEntry entry = launched(more, is_explicit);
    EXPECT_TRUE(simulate(entry, ParameterSet{entry.parameters}, RunOptions{}).clean(true)) << more;
  }
  EXPECT_NO_THROW(launched(R"("cluster": 1, )", "1", ".explicitcluster"));
  EXPECT_THROW(launched("", "0", ".explicitcluster"), ConfigError);
}

TEST(PtxLaunchChip, IsOneThatRunsTheKernel) {
  EXPECT_NO_THROW(launched(R"("chip": "h200", )", "0"));
  EXPECT_THAT([] { launched(R"("chip": "b200", )", "0"); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr(".json.chip: "), HasSubstr("sm_90a, which b200 does not run"))));
  EXPECT_THAT([] { launched(R"("chip": "h900", )", "0"); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr(".json.chip: there is no chip 'h900'"), HasSubstr("b200"))));
  EXPECT_THAT([] { launched(R"("chip": 200, )", "0"); },
              ThrowsMessage<ConfigError>(HasSubstr("a text is expected")));
}

TEST(PtxLaunchChip, MayBeAFileBesideTheLaunch) {
  const std::string path = write("chip", R"({"name": "mine", "summary": "ours", "base": "h200"})");
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::string launch = write("named.json", R"({"chip": ")" + name + R"("})");
  EXPECT_EQ(chip_of_launch_file(launch), path);
  EXPECT_EQ(chip_of_launch_file(write("none.json", "{}")), "");
  EXPECT_NO_THROW(launched(R"("chip": ")" + name + R"(", )", "0"));
  write("chip", "{}");
  EXPECT_THROW(launched(R"("chip": ")" + name + R"(", )", "0"), ConfigError);
}

}  // namespace warptwin::sim::launch_shape_test
