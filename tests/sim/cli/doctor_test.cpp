#include "sim/cli/doctor.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warptwin::sim::doctor_test {
namespace {

// A machine that answers what stands in the table.
Probe probe_of(const std::map<std::string, std::string>& answers) {
  const auto answer = [answers](const std::string& asked) -> std::optional<std::string> {
    for (const auto& [begin, text] : answers) {
      if (asked.find(begin) != std::string::npos) {
        return text;
      }
    }
    return std::nullopt;
  };
  return {answer, answer};
}

Examined find(const std::vector<Examined>& all, const std::string& what) {
  for (const Examined& one : all) {
    if (one.what == what) {
      return one;
    }
  }
  ADD_FAILURE() << "nothing is said of " << what;
  return {};
}

TEST(DoctorTest, WhatIsMissingSaysWhatItWouldGiveAndWhatToGet) {
  const std::vector<Examined> all = examine(probe_of({}), "/nowhere/warptwin-hw");
  EXPECT_EQ(all.size(), 16U);
  for (const Examined& one : all) {
    EXPECT_FALSE(one.there) << one.what;
    EXPECT_EQ(one.version, "") << one.what;
    EXPECT_NE(one.gives, "") << one.what;
    EXPECT_NE(one.needed, "") << one.what;
  }
}

TEST(DoctorTest, VersionsAreReadAndHeldAgainstTheLeast) {
  const Probe probe = probe_of({{"g++ -dumpfullversion", "12.2.0\n"},
                                {"cmake --version", "cmake version 3.9.1\n\nCMake suite"},
                                {"nvcc --version", "nvcc: x\nCuda release 12.10, V12.10.1\n"},
                                {"boost/version.hpp", "#define BOOST_LIB_VERSION \"1_74\"\n"},
                                {"nvidia-smi", "NVIDIA H100, 9.0, 570.1\nNVIDIA H100, 9.0, 570.1"},
                                {"ninja", "no version"}});
  const std::vector<Examined> all = examine(probe, "hw");
  EXPECT_TRUE(find(all, "g++").there);
  EXPECT_EQ(find(all, "g++").version, "12.2");
  EXPECT_FALSE(find(all, "cmake").there);
  EXPECT_EQ(find(all, "cmake").version, "3.9");
  EXPECT_TRUE(find(all, "nvcc").there);
  EXPECT_EQ(find(all, "nvcc").version, "12.10");
  EXPECT_TRUE(find(all, "Boost").there);
  EXPECT_EQ(find(all, "GPU and driver").version, "NVIDIA H100, 9.0, 570.1");
  EXPECT_FALSE(find(all, "ninja").there);
}

TEST(DoctorTest, ThisMachineIsAsked) {
  const Probe probe = this_machine();
  EXPECT_EQ(probe.run("echo one"), "one\n");
  EXPECT_EQ(probe.run("no_such_program_here"), std::nullopt);
  EXPECT_EQ(probe.run("false"), std::nullopt);
  EXPECT_EQ(probe.header("no_such_folder/a.h"), std::nullopt);
  // What compiled this test is there.
  EXPECT_TRUE(find(examine(probe, "hw"), "cmake").there);
}

TEST(DoctorTest, TheSelfTestPasses) {
  const SelfTest test = test_self();
  EXPECT_GT(test.programs, 300U);
  EXPECT_THAT(test.wrong, ::testing::IsEmpty());
}

}  // namespace
}  // namespace warptwin::sim::doctor_test
