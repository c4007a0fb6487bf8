#include "sim/run/npy.hpp"

#include <filesystem>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

namespace warptwin::sim::npy_test {
namespace {

std::string path(const char* name) {
  return ::testing::TempDir() + "warptwin_npy_" + name;
}

std::string bytes_of_file(const std::string& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

void write_bytes(const std::string& file, const std::string& bytes) {
  std::ofstream{file, std::ios::binary} << bytes;
}

TEST(NpyTest, AMatrixComesBackAsItWas) {
  const std::string file = path("back.npy");
  write_npy(file, {2, 3, {1, 2, 3, 4, 5, -6.5F}});
  const NpyMatrix back = read_npy(file);
  EXPECT_EQ(back.rows, 2U);
  EXPECT_EQ(back.columns, 3U);
  EXPECT_EQ(back.values, (std::vector<float>{1, 2, 3, 4, 5, -6.5F}));
}

TEST(NpyTest, TruncatedAndPaddedFilesAreRefused) {
  const std::string file = path("cut.npy");
  write_npy(file, {2, 3, {1, 2, 3, 4, 5, 6}});
  const std::string whole = bytes_of_file(file);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_bytes(file, whole.substr(0, size));
    EXPECT_THROW(read_npy(file), ConfigError) << size;
  }
  write_bytes(file, whole + "x");
  EXPECT_THROW(read_npy(file), ConfigError);
}

TEST(NpyTest, DamagedFilesAreReadOrRefused) {
  const std::string file = path("damaged.npy");
  write_npy(file, {2, 3, {1, 2, 3, 4, 5, 6}});
  const std::string whole = bytes_of_file(file);
  std::mt19937 random{7};
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = whole;
    for (int n = 0; n < 1 + i % 3; ++n) {
      damaged[random() % 90] = static_cast<char>(random());
    }
    write_bytes(file, damaged);
    try {
      read_npy(file);
    } catch (const ConfigError&) {
    }
  }
}

TEST(NpyTest, TheMessageNamesTheFileAndSaysWhatToDo) {
  try {
    read_npy("/nowhere/a.npy");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string{error.what()}.find("/nowhere/a.npy"), std::string::npos);
    EXPECT_NE(std::string{error.what()}.find("make-input"), std::string::npos);
  }
  EXPECT_THROW(write_npy("/nowhere/a.npy", {1, 1, {1}}), ConfigError);
}

}  // namespace
}  // namespace warptwin::sim::npy_test
