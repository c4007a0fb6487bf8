#include "sim/report/source_path.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace warptwin::sim::source_path_test {
namespace {

TEST(SourcePathTest, WhatIsBelowTheRootLosesIt) {
  EXPECT_EQ(path_from("/repo/rings/ring.hpp", "/repo"), "rings/ring.hpp");
  EXPECT_EQ(path_from("/repo/build/../rings/ring.hpp", "/repo/"), "rings/ring.hpp");
  EXPECT_EQ(path_from("/other/ring.hpp", "/repo"), "/other/ring.hpp");
  EXPECT_EQ(path_from("/repository/ring.hpp", "/repo"), "/repository/ring.hpp");
}

TEST(SourcePathTest, ARelativePathLosesItsWayUp) {
  EXPECT_EQ(path_from("../../rings/ring.hpp", "/repo"), "rings/ring.hpp");
  EXPECT_EQ(path_from("rings/ring.hpp", "/repo"), "rings/ring.hpp");
}

TEST(SourcePathTest, WhatWasCompiledElsewhereIsFoundByItsEnd) {
  const std::filesystem::path root = std::filesystem::path{testing::TempDir()} / "source_path";
  std::filesystem::create_directories(root / "rings");
  std::ofstream{root / "rings" / "ring.hpp"} << "\n";
  EXPECT_EQ(path_from("/image/src/rings/ring.hpp", root), "rings/ring.hpp");
  EXPECT_EQ(path_from("../src/rings/ring.hpp", root), "rings/ring.hpp");
  EXPECT_EQ(path_from("/image/src/rings/lost.hpp", root), "/image/src/rings/lost.hpp");
}

TEST(SourcePathTest, AUriEscapesWhatIsNotPlain) {
  EXPECT_EQ(uri_of("a b/c%d#e:f.hpp"), "a%20b/c%25d%23e%3Af.hpp");
  EXPECT_EQ(uri_of("/usr/a.hpp"), "file:///usr/a.hpp");
}

}  // namespace
}  // namespace warptwin::sim::source_path_test
