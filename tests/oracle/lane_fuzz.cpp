/// The verdicts of the proof on drawn kernels in PTX, beside all interleavings of their lanes.

#include <chrono>
#include <iostream>
#include <map>
#include <string>

#include <boost/program_options.hpp>

#include "tests/oracle/lane_verdict.hpp"

namespace {

namespace lanes = warptwin::lanes;
namespace options = boost::program_options;

struct Arguments {
  std::uint64_t seed = 1;
  std::uint64_t programs = 1000;
  std::uint64_t seconds = 0;
  std::uint64_t states = 100'000;
  std::uint32_t edits = 3;
  std::uint32_t examples = 1;
  bool one = false;
  lanes::Drawn drawn;
};

int fuzz(const Arguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  lanes::Totals totals;
  std::map<lanes::Agreement, std::uint32_t> shown;
  for (std::uint64_t i = 0; i < arguments.programs; ++i) {
    if (arguments.seconds != 0 &&
        std::chrono::steady_clock::now() - begin > std::chrono::seconds{arguments.seconds}) {
      break;
    }
    const lanes::Judged judged =
        lanes::judge(arguments.seed + i, arguments.edits, arguments.states, arguments.drawn);
    totals.add(judged);
    const bool shows =
        lanes::is_fault(judged.agreement) && shown[judged.agreement]++ < arguments.examples;
    if (arguments.one || shows) {
      const lanes::Judged said = shows ? lanes::shrunk(judged, arguments.states) : judged;
      std::cout << "seed " << arguments.seed + i << ", " << lanes::words_of(said) << "\n"
                << lanes::listing_of(said.program)
                << (arguments.one ? lanes::ptx_of(said.program) : "") << "\n";
    }
  }
  std::cout << totals.text();
  return totals.faults() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  options::options_description described{
      "usage: lane_fuzz [OPTION]...\n\n"
      "Draws kernels in PTX whose lanes part, proves each, and executes all interleavings of\n"
      "their lanes. Prints how both agree. Exit 1 where a proof is wrong, or after an internal\n"
      "error"};
  described.add_options()("help,h", "this text")(
      "seed", options::value(&arguments.seed), "of the first kernel; the next one has the next")(
      "programs", options::value(&arguments.programs), "how many")(
      "seconds", options::value(&arguments.seconds), "no more after so many; 0: no limit")(
      "states", options::value(&arguments.states), "of one kernel, at most")(
      "edits", options::value(&arguments.edits), "at most, of a kernel")(
      "examples", options::value(&arguments.examples), "of each kind of disagreement")(
      "asks",
      options::bool_switch(&arguments.drawn.asks),
      "at their ends lanes ask which of them is the last to add to a word")(
      "counted",
      options::bool_switch(&arguments.drawn.counted),
      "st.async, red.async and cp.async that mbarriers count, and atomics by max and or")(
      "one", options::bool_switch(&arguments.one), "print each kernel and what is said of it");
  try {
    options::variables_map given;
    options::store(options::parse_command_line(argc, argv, described), given);
    options::notify(given);
    if (given.count("help") != 0) {
      std::cout << described;
      return 0;
    }
  } catch (const options::error& error) {
    std::cerr << "lane_fuzz: " << error.what() << "; see --help\n";
    return 2;
  }
  return fuzz(arguments);
}
