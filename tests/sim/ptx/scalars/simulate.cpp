#include "tests/sim/ptx/scalars/simulate.hpp"

#include <algorithm>
#include <stdexcept>

#include "tests/sim/ptx/lanes/warp.hpp"
#include "tests/sim/ptx/scalars/compare.hpp"

namespace warptwin::ptx::scalars {

namespace {

constexpr std::uint64_t kIn = 0x100000;
constexpr std::uint64_t kOut = 0x200000;

std::uint64_t word_at(const TestWarp& warp, std::uint64_t address) {
  return warp.word(address) | std::uint64_t{warp.word(address + 4)} << 32;
}

void simulate_warp(const Specimen& specimen,
                   const std::string& text,
                   const Words* cases,
                   std::size_t count,
                   std::vector<Words>& results) {
  TestWarp warp{text};
  warp.parameters["in"] = kIn;
  warp.parameters["out"] = kOut;
  for (std::uint64_t byte = 0; byte < kOutputBytes * kLanes; ++byte) {
    warp.memory[kOut + byte] = 0;
  }
  for (std::size_t lane = 0; lane < count; ++lane) {
    for (std::size_t source = 0; source < specimen.sources.size(); ++source) {
      const std::uint64_t at = kIn + lane * input_bytes(specimen) + source * 8;
      for (std::uint32_t byte = 0; byte < 8; ++byte) {
        warp.memory[at + byte] = static_cast<std::uint8_t>(cases[lane][source] >> (byte * 8));
      }
    }
  }
  warp.run(static_cast<Mask>(low_bits(static_cast<std::uint32_t>(count))));
  if (warp.stops.size() != 1 || warp.stops[0].kind != Stop::Kind::kLeft) {
    throw std::runtime_error(specimen.key + " does not run to its end in sim/ptx/lanes" +
                             (warp.stops.empty() ? "" : ": " + warp.stops[0].text));
  }
  const std::string written = specimen.type == Type::kB128 ? "d0" : "d";
  for (std::size_t lane = 0; lane < count; ++lane) {
    if (warp.reg(written).poison[lane] != 0 && defined(specimen, cases[lane])) {
      throw std::runtime_error(specimen.key + " writes what is unknown from what is known");
    }
    Words& words = results.emplace_back();
    for (std::size_t result = 0; result < specimen.results; ++result) {
      words.push_back(word_at(warp, kOut + lane * kOutputBytes + result * 8));
    }
  }
}

}  // namespace

std::vector<Words> simulate(const Specimen& specimen, const std::vector<Words>& cases) {
  const std::string text = kernel_text(specimen, "k");
  std::vector<Words> results;
  for (std::size_t begin = 0; begin < cases.size(); begin += kLanes) {
    const std::size_t count = std::min<std::size_t>(kLanes, cases.size() - begin);
    simulate_warp(specimen, text, &cases[begin], count, results);
  }
  return results;
}

}  // namespace warptwin::ptx::scalars
