#include "sim/cli/new_repository.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

namespace warptwin::sim::new_repository_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

fs::path fresh(const std::string& name) {
  const fs::path path = fs::path{testing::TempDir()} / "new_repository" / name;
  fs::remove_all(path);
  return path;
}

TEST(NewRepositoryTest, NamesAreMadeForCMake) {
  EXPECT_EQ(project_name_of("kernels"), "kernels");
  EXPECT_EQ(project_name_of("/a/my-kernels v2/"), "my_kernels_v2");
  EXPECT_EQ(project_name_of("test"), "my_test");
  EXPECT_EQ(project_name_of("warptwin"), "my_warptwin");
  EXPECT_THROW(project_name_of("/"), ConfigError);
  EXPECT_THROW(project_name_of("2_kernels"), ConfigError);
}

TEST(NewRepositoryTest, EveryFileNamesTheProjectAndNothingIsLeftToFillIn) {
  const fs::path path = fresh("my-kernels");
  const std::vector<std::string> files = write_repository(path);
  for (const char* wanted : {"CMakeLists.txt",
                             "README.md",
                             ".gitignore",
                             ".github/workflows/warptwin.yml",
                             ".gitlab-ci.yml",
                             "ci/check",
                             "ci/install-warptwin",
                             "kernels/first_ring.hpp",
                             "kernels/broken/first_ring_twice_freed.hpp"}) {
    EXPECT_THAT(files, Contains(wanted));
    const std::string text = read(path / wanted);
    EXPECT_NE(text, "") << wanted;
    EXPECT_THAT(text, Not(HasSubstr("@PROJECT@"))) << wanted;
    EXPECT_THAT(text, Not(HasSubstr("producer_consumer\""))) << wanted;
  }
  EXPECT_THAT(read(path / "CMakeLists.txt"), HasSubstr("project(my_kernels LANGUAGES CXX)"));
  const auto executable = fs::status(path / "ci/check").permissions() & fs::perms::owner_exec;
  EXPECT_NE(executable, fs::perms::none);
}

TEST(NewRepositoryTest, NothingIsOverwritten) {
  const fs::path path = fresh("taken");
  fs::create_directories(path);
  write_repository(path);  // an empty folder will do
  const std::string text = read(path / "README.md");
  EXPECT_THROW(write_repository(path), ConfigError);
  EXPECT_EQ(read(path / "README.md"), text);
  EXPECT_THROW(write_repository(path / "README.md"), ConfigError);
  EXPECT_THROW(write_repository("/proc/kernels"), ConfigError);
}

}  // namespace
}  // namespace warptwin::sim::new_repository_test
