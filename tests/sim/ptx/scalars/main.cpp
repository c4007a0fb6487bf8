// Every scalar instruction on a GPU and in sim/ptx/lanes; docs/ptx.md says how to run it.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>

#include <boost/program_options.hpp>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/scalars/batch.hpp"
#include "tests/sim/ptx/scalars/compare.hpp"
#include "tests/sim/ptx/scalars/driver.hpp"
#include "tests/sim/ptx/scalars/golden.hpp"
#include "tests/sim/ptx/scalars/inputs.hpp"
#include "tests/sim/ptx/scalars/simulate.hpp"

namespace warptwin::ptx::scalars {

namespace {

namespace po = boost::program_options;

enum Exit { kClean = 0, kFinding = 1, kUsage = 2, kInternal = 3, kNoGpu = 4 };

struct Options {
  std::size_t cases = 256;
  std::size_t golden_cases = 32;
  std::string only;
  std::string golden;
  std::string emit;
  bool only_simulate = false;
};

std::optional<Options> options_of(int count, const char* const* words) {
  Options options;
  po::options_description all{
      "warptwin-ptx-scalars: every scalar instruction on a GPU and in sim/ptx/lanes"};
  auto add = all.add_options();
  add("help", "print this");
  add("cases", po::value(&options.cases)->default_value(256), "cases of an instruction");
  add("only", po::value(&options.only), "only instructions whose key has this text in it");
  add("golden", po::value(&options.golden), "write what the GPU wrote to this file");
  add("golden-cases",
      po::value(&options.golden_cases)->default_value(32),
      "cases of an instruction in that file; twice as many of one with one source");
  add("only-simulate", po::bool_switch(&options.only_simulate), "no GPU: run each kernel here");
  add("emit", po::value(&options.emit), "write the modules to this folder, and run nothing");
  po::variables_map values;
  po::store(po::parse_command_line(count, words, all), values);
  po::notify(values);
  if (values.count("help") != 0) {
    std::cout << all;
    return std::nullopt;
  }
  if (options.cases == 0 || (!options.golden.empty() && options.golden_cases * 2 > options.cases)) {
    throw ConfigError("--cases has to be at least 1, and twice --golden-cases");
  }
  if (options.only_simulate && !options.golden.empty()) {
    throw ConfigError("--golden holds what a GPU wrote; leave out --only-simulate");
  }
  return options;
}

/// What came of one instruction.
struct Tally {
  std::map<Verdict, std::size_t> counts;
  std::map<Verdict, std::string> first;  // of each verdict the first case
};

std::string hexadecimal(const Words& words) {
  std::string text;
  for (const std::uint64_t word : words) {
    char digits[24];
    std::snprintf(digits,
                  sizeof digits,
                  "%s%llx",
                  text.empty() ? "" : ",",
                  static_cast<unsigned long long>(word));
    text += digits;
  }
  return text;
}

Tally tally_of(const Specimen& specimen,
               const std::vector<Words>& cases,
               const std::vector<Words>& gpu,
               const std::vector<Words>& sim) {
  Tally tally;
  for (std::size_t index = 0; index < cases.size(); ++index) {
    const Verdict verdict = compare(specimen, cases[index], gpu[index], sim[index]);
    if (++tally.counts[verdict] == 1) {
      tally.first[verdict] = hexadecimal(cases[index]) + " -> gpu " + hexadecimal(gpu[index]) +
                             ", sim " + hexadecimal(sim[index]);
    }
  }
  return tally;
}

class Measurement {
 public:
  Measurement(const Options& options, Gpu& gpu) : options_{options}, gpu_{gpu} {}

  void batch(std::vector<const Specimen*> specimens) {
    while (!specimens.empty()) {
      const Batch batch = batch_of(specimens);
      try {
        gpu_.load(batch.text);
      } catch (const Refused& refusal) {
        drop_refused(specimens, batch, refusal.what());
        continue;
      }
      for (std::size_t index = 0; index < specimens.size(); ++index) {
        measure(*specimens[index], "k" + std::to_string(index));
      }
      return;
    }
  }

  int report() const {
    print(Verdict::kDiffers, "differ");
    print(Verdict::kOtherNan, "give another NaN");
    print(Verdict::kWithin, "are approximations, within their documented error");
    print(Verdict::kUndefined, "have cases without a defined result, which are left out");
    std::printf("\n%zu instructions are skipped: the driver's compiler refuses them\n",
                skipped_.size());
    for (const auto& [key, reason] : skipped_) {
      std::printf("  %s: %s\n", key.c_str(), reason.c_str());
    }
    const std::size_t differing = count_of(Verdict::kDiffers);
    std::printf("\n%zu instructions measured, %zu differ, %zu give another NaN\n",
                tallies_.size(),
                differing,
                count_of(Verdict::kOtherNan));
    return differing == 0 ? kClean : kFinding;
  }
  const std::vector<GoldenRow>& golden() const { return golden_; }

 private:
  void measure(const Specimen& specimen, const std::string& name) {
    const auto cases = inputs_of(specimen, options_.cases);
    const auto results = gpu_.run(specimen, name, cases);
    tallies_.emplace_back(specimen.key,
                          tally_of(specimen, cases, results, simulate(specimen, cases)));
    const std::size_t wanted = options_.golden_cases * (specimen.sources.size() == 1 ? 2 : 1);
    const std::size_t kept = std::min(wanted, cases.size());
    const auto end = static_cast<std::ptrdiff_t>(kept);
    golden_.push_back({specimen.key,
                       hash_of({cases.begin(), cases.begin() + end}),
                       {results.begin(), results.begin() + end}});
  }

  // Where the log names no line, of more than one kernel half are tried at a time.
  void drop_refused(std::vector<const Specimen*>& specimens,
                    const Batch& made,
                    const std::string& log) {
    std::vector<bool> refused(specimens.size());
    for (const std::size_t line : lines_named(log)) {
      refused[made.kernel_at(line)] = true;
    }
    if (specimens.size() == 1) {
      refused[0] = true;
    }
    if (std::find(refused.begin(), refused.end(), true) == refused.end()) {
      const auto middle = specimens.begin() + static_cast<std::ptrdiff_t>(specimens.size() / 2);
      batch({specimens.begin(), middle});
      specimens.erase(specimens.begin(), middle);
      return;
    }
    std::vector<const Specimen*> left;
    for (std::size_t index = 0; index < specimens.size(); ++index) {
      if (refused[index]) {
        skipped_[specimens[index]->key] = message_for(made, index, log);
      } else {
        left.push_back(specimens[index]);
      }
    }
    specimens = std::move(left);
  }

  // The first line of the log about a kernel.
  static std::string message_for(const Batch& made, std::size_t kernel, const std::string& log) {
    for (std::size_t begin = 0; begin < log.size();) {
      const std::size_t end = std::min(log.find('\n', begin), log.size());
      const std::string line = log.substr(begin, end - begin);
      const auto named = lines_named(line);
      if (!named.empty() && made.kernel_at(named[0]) == kernel) {
        const std::size_t text = line.find("; ");
        return text == std::string::npos ? line : line.substr(text + 2);
      }
      begin = end + 1;
    }
    return log.substr(0, log.find('\n'));
  }

  std::size_t count_of(Verdict verdict) const {
    return static_cast<std::size_t>(
        std::count_if(tallies_.begin(), tallies_.end(), [&](const auto& row) {
          return row.second.counts.contains(verdict);
        }));
  }

  void print(Verdict verdict, const char* text) const {
    std::printf("\n%zu instructions %s\n", count_of(verdict), text);
    for (const auto& [key, tally] : tallies_) {
      if (const auto found = tally.counts.find(verdict); found != tally.counts.end()) {
        std::printf("  %-36s %4zu of %zu: %s\n",
                    key.c_str(),
                    found->second,
                    options_.cases,
                    tally.first.at(verdict).c_str());
      }
    }
  }

  const Options& options_;
  Gpu& gpu_;
  std::vector<std::pair<std::string, Tally>> tallies_;
  std::map<std::string, std::string> skipped_;
  std::vector<GoldenRow> golden_;
};

std::vector<std::vector<const Specimen*>> batches_of(const std::vector<Specimen>& all,
                                                     const std::string& only) {
  std::vector<std::vector<const Specimen*>> batches;
  for (const Specimen& specimen : all) {
    if (specimen.key.find(only) == std::string::npos) {
      continue;
    }
    if (batches.empty() || batches.back().size() == kBatch) {
      batches.emplace_back();
    }
    batches.back().push_back(&specimen);
  }
  if (batches.empty()) {
    throw ConfigError("no instruction has '" + only + "' in its key; keys are as add.rn.f32/2");
  }
  return batches;
}

int run(const Options& options) {
  const std::vector<Specimen> all = specimens();
  const auto batches = batches_of(all, options.only);
  if (!options.emit.empty()) {
    for (std::size_t index = 0; index < batches.size(); ++index) {
      const auto path =
          std::filesystem::path{options.emit} / ("scalars" + std::to_string(index) + ".ptx");
      if (!(std::ofstream{path} << batch_of(batches[index]).text).flush()) {
        throw ConfigError(path.string() + " cannot be written; give a folder that there is");
      }
    }
    return kClean;
  }
  if (options.only_simulate) {
    std::size_t count = 0;
    for (const auto& batch : batches) {
      for (const Specimen* specimen : batch) {
        simulate(*specimen, inputs_of(*specimen, options.cases));
        ++count;
      }
    }
    std::printf("%zu instructions run in sim/ptx/lanes, %zu cases each\n", count, options.cases);
    return kClean;
  }
  Gpu gpu;
  std::printf("%s\n", gpu.name().c_str());
  Measurement measurement{options, gpu};
  for (const auto& batch : batches) {
    measurement.batch(batch);
  }
  if (!options.golden.empty()) {
    write_golden(options.golden, measurement.golden());
  }
  return measurement.report();
}

int main_of(int count, const char* const* words) {
  try {
    const auto options = options_of(count, words);
    return options ? run(*options) : kClean;
  } catch (const NoDevice& error) {
    std::cerr << "warptwin-ptx-scalars: " << error.what() << "; --only-simulate needs none\n";
    return kNoGpu;
  } catch (const ConfigError& error) {
    std::cerr << "warptwin-ptx-scalars: " << error.what() << "\n";
    return kUsage;
  } catch (const po::error& error) {
    std::cerr << "warptwin-ptx-scalars: " << error.what() << "; --help lists the options\n";
    return kUsage;
  } catch (const std::exception& error) {
    std::cerr << "warptwin-ptx-scalars: " << error.what() << "\n";
    return kInternal;
  }
}

}  // namespace

}  // namespace warptwin::ptx::scalars

int main(int count, char** words) {
  return warptwin::ptx::scalars::main_of(count, words);
}
