/// The verdicts of the proof on drawn programs, beside the oracles', for as long as one likes.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/report/catalogue.hpp"

#include "sim/program/text.hpp"
#include "tests/oracle/random_program.hpp"
#include "tests/oracle/verdict.hpp"

namespace {

using namespace warptwin::sim;

struct Arguments {
  std::uint64_t seed = 1;
  std::uint64_t programs = 10'000;
  std::uint64_t first = 0;    // number of the first program
  std::uint64_t seconds = 0;  // no more programs after so many; 0: no limit
  std::uint32_t jobs = 1;
  std::uint32_t edits = 3;
  bool lanes = false;  // edits are mostly of who in a warp acts
  std::uint32_t examples = 1;
  Construct only = Construct::kCount;
  std::string file;
  VerdictOptions verdict;
  bool shrink = true;
  bool texts = false;  // say each before it is judged
};

constexpr const char* kUsage =
    "usage: verdict_fuzz [--seed N] [--programs N] [--first N] [--seconds N] [--jobs N]\n"
    "                    [--edits N] [--lanes] [--only CONSTRUCT]\n"
    "                    [--oracle r|v|both] [--interleavings N] [--states N] [--examples N]\n"
    "                    [--strict] [--no-shrink] [--texts] [--program FILE]\n\n"
    "Draws programs, proves each, and asks the oracles. Prints how they agree, and of each kind\n"
    "of disagreement the first examples as text. By --lanes edits mostly change who in a warp\n"
    "acts. Exit 1 when there is a wrong proof, a wrong refusal or an internal error.\n";

bool parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--strict") {
      arguments.verdict.strict = true;
      continue;
    }
    if (name == "--lanes") {
      arguments.lanes = true;
      continue;
    }
    if (name == "--texts") {
      arguments.texts = true;
      continue;
    }
    if (name == "--no-shrink") {
      arguments.shrink = false;
      continue;
    }
    if (i + 1 >= argc) {
      return false;
    }
    const char* value = argv[++i];
    const std::uint64_t number = std::strtoull(value, nullptr, 10);
    if (name == "--seed") {
      arguments.seed = number;
    } else if (name == "--programs") {
      arguments.programs = number;
    } else if (name == "--seconds") {
      arguments.seconds = number;
    } else if (name == "--first") {
      arguments.first = number;
    } else if (name == "--jobs") {
      arguments.jobs = static_cast<std::uint32_t>(number);
    } else if (name == "--edits") {
      arguments.edits = static_cast<std::uint32_t>(number);
    } else if (name == "--examples") {
      arguments.examples = static_cast<std::uint32_t>(number);
    } else if (name == "--interleavings") {
      arguments.verdict.interleavings = static_cast<std::uint32_t>(number);
    } else if (name == "--states") {
      arguments.verdict.states_max = number;
    } else if (name == "--oracle") {
      const std::string which = value;
      if (which != "r" && which != "v" && which != "both") {
        return false;
      }
      arguments.verdict.relation = which != "v";
      arguments.verdict.values = which != "r";
    } else if (name == "--program") {
      arguments.file = value;
    } else if (name == "--only") {
      for (unsigned c = 0; c < static_cast<unsigned>(Construct::kCount); ++c) {
        if (std::strcmp(value, name_of(static_cast<Construct>(c))) == 0) {
          arguments.only = static_cast<Construct>(c);
        }
      }
      if (arguments.only == Construct::kCount) {
        return false;
      }
    } else {
      return false;
    }
  }
  return arguments.jobs > 0;
}

struct Failure {
  std::uint64_t count = 0;
  std::uint64_t without_edits = 0;
  std::vector<std::uint64_t> seeds;  // the first ones
};

struct Totals {
  std::uint64_t programs = 0;
  std::map<std::string, std::uint64_t> verdicts;
  std::map<std::string, std::uint64_t> agreements;
  std::uint64_t unknown = 0;
  std::uint64_t every = 0;  // V saw all interleavings, or one that is wrong
  std::uint64_t wrong = 0;  // by the oracles
  std::map<std::string, std::array<std::uint64_t, 3>> constructs;  // programs, wrong, proved
  std::map<std::string, std::uint64_t> ids;                        // that decided
  std::map<std::string, std::uint64_t> found;  // that decided or came with one that did
  std::map<std::string, Failure> failures;

  void add(const RandomProgram& drawn,
           std::uint64_t seed,
           const ToolAnswer& tool,
           const OracleAnswer& oracle) {
    const Agreement agreement = agreement_of(tool, oracle);
    ++programs;
    ++verdicts[name_of(tool.verdict)];
    ++agreements[name_of(agreement)];
    unknown += oracle.known ? 0 : 1;
    wrong += oracle.wrong ? 1 : 0;
    every += oracle.every || oracle.wrong ? 1 : 0;
    for (const Construct construct : drawn.constructs) {
      auto& of = constructs[name_of(construct)];
      ++of[0];
      of[1] += oracle.wrong ? 1 : 0;
      of[2] += tool.verdict == Verdict::kProved ? 1 : 0;
    }
    if (tool.verdict == Verdict::kDefect) {
      ++ids[tool.id];
      for (const std::string& id : tool.ids) {
        ++found[id];
      }
    }
    if (agreement != Agreement::kAgrees) {
      Failure& failure = failures[class_of(agreement, tool, oracle)];
      ++failure.count;
      failure.without_edits += drawn.edits.empty() ? 1 : 0;
      failure.seeds.push_back(seed);
      std::sort(failure.seeds.begin(), failure.seeds.end());
      constexpr std::size_t kKept = 16;
      failure.seeds.resize(std::min(failure.seeds.size(), kKept));
    }
  }
};

RandomProgramOptions drawing(const Arguments& arguments) {
  RandomProgramOptions options;
  options.edits_max = arguments.edits;
  options.lanes = arguments.lanes;
  options.only = arguments.only;
  return options;
}

Totals fuzz(const Arguments& arguments) {
  Totals totals;
  std::mutex mutex;
  std::atomic<std::uint64_t> next{0};
  const auto begin = std::chrono::steady_clock::now();
  const auto in_time = [&] {
    return arguments.seconds == 0 ||
           std::chrono::steady_clock::now() - begin < std::chrono::seconds{arguments.seconds};
  };
  const auto work = [&] {
    for (std::uint64_t i = next++; i < arguments.programs && in_time(); i = next++) {
      const std::uint64_t seed = arguments.seed * 1'000'000'000 + arguments.first + i;
      RandomProgram drawn;
      ToolAnswer tool;
      OracleAnswer oracle;
      try {
        drawn = random_program(seed, drawing(arguments));
        if (arguments.texts) {
          std::fprintf(stderr, "%s", text_of(drawn.program).c_str());
        }
        tool = ask_tool(drawn.program, arguments.verdict);
        oracle = ask_oracles_of(drawn.program, tool, arguments.verdict);
      } catch (const std::exception& error) {
        tool = {Verdict::kInternal, "exception", error.what()};
      }
      const std::lock_guard lock{mutex};
      totals.add(drawn, seed, tool, oracle);
    }
  };
  std::vector<std::thread> threads;
  for (std::uint32_t i = 1; i < arguments.jobs; ++i) {
    threads.emplace_back(work);
  }
  work();
  for (std::thread& thread : threads) {
    thread.join();
  }
  return totals;
}

// Each error that may be reported: how often it decided, how often it was found at all.
void print_ids(const Totals& totals) {
  std::string missing;
  std::uint32_t errors = 0;
  std::printf("errors: decided the verdict, found\n");
  for (const warptwin::DiagnosticInfo& info : warptwin::catalogue()) {
    if (info.practical < warptwin::Severity::kError) {
      continue;
    }
    ++errors;
    const auto decided = totals.ids.find(info.id);
    const auto found = totals.found.find(info.id);
    if (found == totals.found.end()) {
      missing += std::string{"  "} + info.id + "\n";
      continue;
    }
    std::printf("  %-34s %8llu %8llu\n",
                info.id,
                static_cast<unsigned long long>(decided == totals.ids.end() ? 0 : decided->second),
                static_cast<unsigned long long>(found->second));
  }
  std::printf(
      "%zu of %u errors found; not found:\n%s", totals.found.size(), errors, missing.c_str());
  for (const NotDrawn& one : not_drawn()) {
    std::printf("%s is not drawn, because %s\n", one.id, one.why);
  }
}

void print_counts(const Totals& totals) {
  std::printf(
      "%llu programs, %llu wrong by the oracles, %llu without an answer of theirs; "
      "%llu wrong, or seen in every interleaving\n",
      static_cast<unsigned long long>(totals.programs),
      static_cast<unsigned long long>(totals.wrong),
      static_cast<unsigned long long>(totals.unknown),
      static_cast<unsigned long long>(totals.every));
  for (const auto& [name, count] : totals.verdicts) {
    std::printf("  %-16s %10llu\n", name.c_str(), static_cast<unsigned long long>(count));
  }
  std::printf("agreement\n");
  for (const auto& [name, count] : totals.agreements) {
    std::printf("  %-16s %10llu\n", name.c_str(), static_cast<unsigned long long>(count));
  }
  std::printf("constructs: programs, wrong, proved\n");
  for (const auto& [name, counts] : totals.constructs) {
    std::printf("  %-18s %8llu %8llu %8llu\n",
                name.c_str(),
                static_cast<unsigned long long>(counts[0]),
                static_cast<unsigned long long>(counts[1]),
                static_cast<unsigned long long>(counts[2]));
  }
  print_ids(totals);
}

// The program, the verdict and the findings.
void print_program(const Program& printed, const VerdictOptions& options) {
  const Program program = parse_program(text_of(printed), printed.name);  // lines as printed
  const ToolAnswer tool = ask_tool(program, options);
  const OracleAnswer oracle = ask_oracles_of(program, tool, options);
  std::printf("%s", text_of(program).c_str());
  std::printf("# proof: %s %s %s\n", name_of(tool.verdict), tool.id.c_str(), tool.text.c_str());
  std::string text = oracle.text.empty() ? "nothing\n" : oracle.text;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    std::printf("# oracle: %s\n", text.substr(at, end - at).c_str());
    at = end + 1;
  }
}

void print_failures(const Totals& totals, const Arguments& arguments) {
  for (const auto& [name, failure] : totals.failures) {
    std::printf("\n=== %s: %llu programs, %llu without edits\n",
                name.c_str(),
                static_cast<unsigned long long>(failure.count),
                static_cast<unsigned long long>(failure.without_edits));
    for (std::size_t i = 0; i < failure.seeds.size() && i < arguments.examples; ++i) {
      const RandomProgram drawn = random_program(failure.seeds[i], drawing(arguments));
      std::printf("# seed %llu", static_cast<unsigned long long>(failure.seeds[i]));
      for (const std::string& edit : drawn.edits) {
        std::printf("; %s", edit.c_str());
      }
      std::printf("\n");
      print_program(
          arguments.shrink ? shrunk(drawn.program, name, arguments.verdict) : drawn.program,
          arguments.verdict);
    }
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  try {
    if (!arguments.file.empty()) {
      print_program(read_program(arguments.file), arguments.verdict);
      return 0;
    }
    const Totals totals = fuzz(arguments);
    print_counts(totals);
    std::fflush(stdout);
    print_failures(totals, arguments);
    const bool fails = totals.agreements.contains(name_of(Agreement::kWrongProof)) ||
                       totals.agreements.contains(name_of(Agreement::kWrongRefusal)) ||
                       totals.agreements.contains(name_of(Agreement::kInternal));
    return fails ? 1 : 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "verdict_fuzz: %s\n", error.what());
    return 3;
  }
}
