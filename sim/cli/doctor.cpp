#include "sim/cli/doctor.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string_view>
#include <sys/wait.h>
#include <tuple>

#include "sim/micro/programs.hpp"
#include "sim/run/pattern.hpp"

namespace warptwin::sim {

namespace {

// A program that says its version, or a header that does.
struct Wanted {
  const char* what;
  const char* ask;      // a command, or a header
  const char* pattern;  // whose groups are the parts of the version
  unsigned major = 0;   // at least
  unsigned minor = 0;
  const char* gives;
  const char* needed;
};

constexpr const char* kOwnScenarios = "scenarios of your own (find_package, warptwin_add_command)";

constexpr Wanted kPrograms[] = {
    {"g++",
     "g++ -dumpfullversion",
     R"(([0-9]+)\.([0-9]+))",
     12,
     0,
     kOwnScenarios,
     "GCC 12 or later"},
    {"clang++",
     "clang++ --version",
     R"(version ([0-9]+)\.([0-9]+))",
     14,
     0,
     "the tests of text that must not compile",
     "Clang 14 or later"},
    {"cmake",
     "cmake --version",
     R"(version ([0-9]+)\.([0-9]+))",
     3,
     25,
     kOwnScenarios,
     "CMake 3.25"},
    {"ninja",
     "ninja --version",
     R"(([0-9]+)\.([0-9]+))",
     1,
     10,
     "the presets and scripts",
     "ninja-build"},
    {"nvcc",
     "nvcc --version",
     R"(release ([0-9]+)\.([0-9]+))",
     12,
     8,
     "programs for a GPU (NAME-hw), and the census of their instructions",
     "CUDA 12.8 or later, and its nvcc on the path"},
};

constexpr Wanted kHeaders[] = {
    {"Boost",
     "boost/version.hpp",
     R"re(BOOST_LIB_VERSION "([0-9]+)_([0-9]+))re",
     1,
     74,
     kOwnScenarios,
     "libboost-fiber-dev libboost-context-dev libboost-program-options-dev"},
    {"nlohmann-json",
     "nlohmann/json.hpp",
     R"(version ([0-9]+)\.([0-9]+))",
     3,
     0,
     kOwnScenarios,
     "nlohmann-json3-dev"},
    {"SystemC",
     "sysc/kernel/sc_ver.h",
     R"(SC_VERSION_MAJOR +([0-9]+).*SC_VERSION_MINOR +([0-9]+))",
     2,
     3,
     kOwnScenarios,
     "libsystemc-dev"},
    {"Eigen",
     "eigen3/Eigen/src/Core/util/Macros.h",
     R"(EIGEN_WORLD_VERSION +([0-9]+).*EIGEN_MAJOR_VERSION +([0-9]+))",
     3,
     3,
     "building warptwin itself",
     "libeigen3-dev"},
    {"LZ4",
     "lz4.h",
     R"(LZ4_VERSION_MAJOR +([0-9]+).*LZ4_VERSION_MINOR +([0-9]+))",
     1,
     7,
     kOwnScenarios,
     "liblz4-dev"},
    {"zlib", "zlib.h", R"(ZLIB_VERSION "([0-9]+)\.([0-9]+))", 1, 2, kOwnScenarios, "zlib1g-dev"},
    {"Zstd",
     "zstd.h",
     R"(ZSTD_VERSION_MAJOR +([0-9]+).*ZSTD_VERSION_MINOR +([0-9]+))",
     1,
     3,
     kOwnScenarios,
     "libzstd-dev"},
    {"muParser",
     "muParserDef.h",
     R"(ParserVersion = [^"]*"([0-9]+)\.([0-9]+))",
     2,
     3,
     kOwnScenarios,
     "libmuparser-dev"},
    {"mimalloc",
     "mimalloc.h",
     R"(MI_MALLOC_VERSION ([0-9])([0-9]))",
     2,
     0,
     kOwnScenarios,
     "libmimalloc-dev"},
};

Examined examine_one(const Wanted& wanted, const std::optional<std::string>& said) {
  Examined one{wanted.what, false, "", wanted.gives, wanted.needed};
  const auto found = said ? groups_of(wanted.pattern, *said) : std::vector<std::string>{};
  if (found.empty()) {
    return one;
  }
  one.version = found[1] + "." + found[2];
  const auto number = [&](std::size_t group) {
    return static_cast<unsigned>(std::stoul(found[group].substr(0, 8)));
  };
  one.there = std::tuple{number(1), number(2)} >= std::tuple{wanted.major, wanted.minor};
  return one;
}

std::string line_of(std::string text) {
  text.erase(std::min(text.find('\n'), text.size()));
  return text;
}

// A driver that hangs is not waited for.
Examined gpu_of(const Probe& probe) {
  const auto said = probe.run(
      "timeout 10 nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv,noheader");
  const std::string first = said ? line_of(*said) : "";
  return {"GPU and driver",
          !first.empty(),
          first,
          "runs on hardware: NAME-hw, run --on hw",
          "a Hopper or Blackwell GPU, and a driver with nvidia-smi"};
}

Examined hw_of(const Probe& probe, const std::string& hw_command) {
  const bool there = probe.run("'" + hw_command + "' list").has_value();
  return {"this command's program for a GPU",
          there,
          there ? hw_command : "",
          "run --on hw",
          "the target of its name with -hw, built with nvcc: " + hw_command};
}

}  // namespace

Probe this_machine() {
  Probe probe;
  probe.run = [](const std::string& command) -> std::optional<std::string> {
    std::FILE* const pipe = popen(("{ " + command + "; } 2> /dev/null").c_str(), "r");
    if (pipe == nullptr) {
      return std::nullopt;
    }
    std::string text;
    std::array<char, 4096> piece;
    for (std::size_t count = 0; (count = fread(piece.data(), 1, piece.size(), pipe)) != 0;) {
      text.append(piece.data(), count);
    }
    const int status = pclose(pipe);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? std::optional{text} : std::nullopt;
  };
  probe.header = [](const std::string& path) -> std::optional<std::string> {
    for (const char* folder : {"/usr/local/include/", "/usr/include/"}) {
      std::ifstream file{folder + path, std::ios::binary};
      if (file) {
        return std::string{std::istreambuf_iterator<char>{file}, {}};
      }
    }
    return std::nullopt;
  };
  return probe;
}

std::vector<Examined> examine(const Probe& probe, const std::string& hw_command) {
  std::vector<Examined> all;
  for (const Wanted& wanted : kPrograms) {
    all.push_back(examine_one(wanted, probe.run(wanted.ask)));
  }
  for (const Wanted& wanted : kHeaders) {
    all.push_back(examine_one(wanted, probe.header(wanted.ask)));
  }
  all.push_back(gpu_of(probe));
  all.push_back(hw_of(probe, hw_command));
  return all;
}

SelfTest test_self() {
  SelfTest result;
  const std::span<const MicroProgram> all = micro_programs();
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const bool wrong : {true, false}) {
      const std::vector<Finding> findings = run_micro(all[i], wrong);
      const bool shown = std::any_of(findings.begin(), findings.end(), [&](const Finding& one) {
        return std::string_view{one.info->id} == all[i].id;
      });
      ++result.programs;
      if (shown != wrong) {
        result.wrong.push_back(micro_name(i) + (wrong ? ": the wrong program is not found"
                                                      : ": found in the right program"));
      }
    }
  }
  return result;
}

}  // namespace warptwin::sim
