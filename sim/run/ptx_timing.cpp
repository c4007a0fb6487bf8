#include "sim/run/ptx_timing.hpp"

#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace warptwin::sim {

namespace {

// "sm_90a": 90 and 'a'. 0 where it is no such name.
std::pair<std::uint32_t, char> architecture_of(const std::string& target) {
  if (!target.starts_with("sm_")) {
    return {0, '\0'};
  }
  std::uint32_t number = 0;
  std::size_t at = 3;
  for (; at < target.size() && std::isdigit(static_cast<unsigned char>(target[at])) != 0; ++at) {
    number = 10 * number + static_cast<std::uint32_t>(target[at] - '0');
  }
  return {number, at < target.size() ? target[at] : '\0'};
}

constexpr std::uint32_t kHopper = 90;

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) {
    text += c == '\'' ? std::string{"'\\''"} : std::string{c};
  }
  return text + "'";
}

// Of a shell's command line, both streams; empty where it fails.
std::string printed_by(const std::string& command) {
  std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) {
    return {};
  }
  std::string text;
  std::array<char, 4096> part;
  for (std::size_t size = 0; (size = std::fread(part.data(), 1, part.size(), pipe)) != 0;) {
    text.append(part.data(), size);
  }
  return pclose(pipe) == 0 ? text : std::string{};
}

std::string ptxas() {
  if (const char* named = std::getenv("WARPTWIN_PTXAS"); named != nullptr) {
    return named;
  }
  const char* const usual = "/usr/local/cuda/bin/ptxas";
  return std::filesystem::exists(usual) ? usual : "ptxas";
}

}  // namespace

void check_target(const PtxFacts& kernel, const Chip& chip) {
  const auto [number, suffix] = architecture_of(kernel.target);
  const bool hopper = chip.has_wgmma();
  // Machine code of 'a' runs on one architecture, that of 'f' on its family.
  const bool fits =
      suffix == '\0' ? number <= (hopper ? kHopper : number) : (number == kHopper) == hopper;
  if (!fits) {
    throw ConfigError(kernel.file + " is for " + kernel.target + ", which " + chip.name +
                      " does not run: use --chip " +
                      (number == kHopper ? "h100 or --chip h200" : "b200, gb200 or b300") +
                      ", or compile it for " + (hopper ? "sm_90a" : "sm_100a"));
  }
}

std::uint32_t registers_printed(const std::string& printed, const std::string& kernel) {
  const std::size_t entry = printed.find("'" + kernel + "'");
  const std::size_t used = entry == std::string::npos ? entry : printed.find("Used ", entry);
  if (used == std::string::npos) {
    return 0;
  }
  return static_cast<std::uint32_t>(std::strtoul(printed.c_str() + used + 5, nullptr, 10));
}

KernelRegisters registers_of(const PtxFacts& kernel, std::uint32_t asked) {
  if (asked != 0) {
    return {asked, "--registers"};
  }
  const std::string printed =
      printed_by(quoted(ptxas()) + " -v --gpu-name " + quoted(kernel.target) + " -o /dev/null " +
                 quoted(kernel.file));
  if (const std::uint32_t count = registers_printed(printed, kernel.kernel); count != 0) {
    return {count, "ptxas -v for " + kernel.target};
  }
  if (kernel.registers != 0) {
    return {kernel.registers, ".maxnreg"};
  }
  return {0, "nobody says: there is no ptxas for " + kernel.target + "; --registers N does"};
}

ScenarioEntry with_registers(ScenarioEntry entry, std::uint32_t count) {
  entry.workload = [workload = entry.workload, count](const ParameterSet& parameters) {
    Workload changed = workload(parameters);
    changed.registers_per_thread = count;
    return changed;
  };
  return entry;
}

}  // namespace warptwin::sim
