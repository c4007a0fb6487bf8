#include "sim/cli/option_table.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "sim/cli/commands/commands.hpp"

namespace warptwin::sim::cli {

static constexpr const char* kUsage = R"(warptwin: a digital twin of warp-specialised GPU kernels

usage: warptwin COMMAND [SCENARIO] [OPTIONS]
       warptwin run|check|explore|prove|mutate|replay --program FILE [OPTIONS]
)";

static constexpr const char* kExitCodes =
    "exit codes: 0 clean, 1 a finding, 2 usage or configuration, 3 internal, 4 device, "
    "5 incomplete\n(not proved, not decided, or a bound was hit)\n";

static constexpr Command kCommands[] = {
    {"list",
     list,
     {{"list", "the scenarios; with a name, its parameters; with --diagnostics, those"}},
     "json diagnostics rules"},
    {"explain",
     explain_command,
     {{"explain ID", "a diagnostic: what it means, the smallest program that shows it"}},
     "json"},
    {"show",
     show,
     {{"show SCENARIO",
       "what a launch takes of an SM: shared memory, tensor memory, threads, waves"}},
     "json set sms"},
    {"run",
     run,
     {{"run SCENARIO",
       "one execution: computes, checks, compares with a reference; with --on,\none on each of "
       "several engines, which are compared"}},
     "json program ptx launch names set in out on chip clock l2 strategy seed profile rule without "
     "strict max-steps "
     "control-only timing-only time-limit memory-limit resident-ctas suppress baseline "
     "write-baseline junit "
     "sarif annotations "
     "source-root perfetto chrome html picture window ctas"},
    {"check",
     check_command,
     {{"check SCENARIO",
       "proves it, compares its values with a reference, and tries schedules where\nthe proof "
       "cannot tell; --all checks every scenario"}},
     "json program ptx launch names set seed profile rule without strict max-steps random pct "
     "depth data "
     "control-only keep-going "
     "all jobs time-limit memory-limit resident-ctas suppress baseline write-baseline junit sarif "
     "annotations source-root html picture window ctas"},
    {"explore",
     explore_command,
     {{"explore SCENARIO",
       "every interleaving of the barrier protocol of one run, by search: a second\nopinion on the "
       "proof; data, memory order and allocation are not searched"}},
     "json program ptx launch names set profile rule without seed max-steps max-states full "
     "deviations "
     "control-only max-schedules time-limit memory-limit resident-ctas suppress baseline "
     "write-baseline junit "
     "sarif annotations "
     "source-root"},
    {"prove",
     prove_command,
     {{"prove SCENARIO", "every interleaving, from one execution; a schedule for what is broken"}},
     "json program ptx launch names set for-all control-only profile rule without strict max-steps "
     "time-limit "
     "memory-limit resident-ctas seed "
     "suppress "
     "baseline write-baseline junit sarif annotations source-root html picture window "
     "ctas"},
    {"replay",
     replay,
     {{"replay SCENARIO", "one execution again, from the replay line of a finding"}},
     "json program ptx launch names set in out schedule seed profile rule without strict max-steps "
     "control-only timing-only time-limit memory-limit "
     "resident-ctas sms suppress baseline write-baseline junit sarif annotations source-root "
     "perfetto chrome html picture window ctas"},
    {"extract",
     extract_command,
     {{"extract SCENARIO", "what its warps do in one execution, as a program's text"}},
     "set seed profile rule max-steps resident-ctas"},
    {"mutate",
     mutate_command,
     {{"mutate SCENARIO", "every small change of it, proved: which are found, which do no harm"}},
     "json program set limit mutant seed profile rule without max-steps resident-ctas"},
    {"time",
     time_command,
     {{"time SCENARIO", "one execution in time on a chip: cycles, who waits for what, what binds"}},
     "json ptx launch names set chip clock l2 flops registers no-check check-all path time-limit "
     "memory-limit profile rule without strict max-steps "
     "resident-ctas ctas-per-sm seed perfetto chrome html picture window ctas"},
    {"chip",
     chip_command,
     {{"chip show CHIP", "a chip's constants, with units and sources; CHIP is a name or a file"}},
     "json",
     "show"},
    {"validate",
     validate_command,
     {{"validate", "predictions beside measurements, from a file of rows"}},
     "json rows chip"},
    {"calibrate",
     calibrate_command,
     {{"calibrate", "fits free constants of a chip to a file of rows"}},
     "json rows chip free write-chip"},
    {"sweep",
     sweep_command,
     {{"sweep SCENARIO", "time over values of parameters and of a chip's constants, on all cores"}},
     "json sweep-set where columns by top table plot x lines chip clock l2 jobs-of-sweep "
     "time-limit memory-limit profile rule without max-steps resident-ctas ctas-per-sm seed"},
    {"tune",
     tune_command,
     {{"tune SCENARIO", "the fastest configuration of a problem that is proved, from a few runs"}},
     "json sweep-set where problem runs header chip clock l2 jobs-of-sweep time-limit memory-limit "
     "profile rule without max-steps resident-ctas ctas-per-sm seed"},
    {"trace",
     trace_command,
     {{"trace SCENARIO", "one execution, written down for compare"}},
     "program ptx launch names set to on values chip clock l2 strategy schedule seed profile rule "
     "without strict max-steps time-limit memory-limit "
     "resident-ctas perfetto chrome html picture window ctas"},
    {"compare",
     compare_command,
     {{"compare A B", "two traces, of the simulator or a GPU: where they differ first"}},
     "json perfetto chrome html picture window ctas",
     nullptr,
     true},
    {"decode",
     decode_command,
     {{"decode WORD...", "raw mbarrier words of a GPU: phase, arrivals, bytes"}},
     "json name",
     nullptr,
     true},
    {"ptx",
     ptx_command,
     {{"ptx coverage FILE...", "which instructions of a PTX file the simulator does not have"},
      {"ptx show FILE", "a PTX file decoded, with the user's lines; with --launch, the launch"},
      {"ptx init FILE", "a first launch file for a kernel, to be filled in"},
      {"ptx explain ID", "what a finding means, as explain does"},
      {"ptx COMMAND FILE --launch L.json",
       "run, check, prove, explore, replay, trace or time a PTX kernel"}},
     "json kernel launch names time-limit memory-limit",
     nullptr,
     true},
    {"cuda",
     cuda_command,
     {{"cuda -- PROGRAM ARGUMENTS",
       "a CUDA program without a GPU: each launch of a kernel is simulated and judged"},
      {"cuda --list", "the functions of CUDA that there are for it"}},
     "json-file list policy first keep measure jobs time-limit memory-limit chip target-ptx "
     "profile "
     "rule without strict max-steps seed random pct resident-ctas junit sarif annotations "
     "source-root",
     nullptr,
     true},
    {"make-input",
     make_input,
     {{"make-input FILE.npy", "a matrix of random numbers, float32"}},
     "shape seed"},
    {"new",
     new_command,
     {{"new DIR", "a repository with a scenario, its tests and its CI, to begin with"}},
     ""},
    {"completion",
     completion_command,
     {{"completion [NAME]", "a script for bash that completes warptwin, or a command called NAME"}},
     ""},
    {"man", man_command, {{"man", "the page of the manual, for man(1)"}}, ""},
    {"doctor",
     doctor_command,
     {{"doctor", "what this machine has of what warptwin can use; tests itself"}},
     "json"},
};

std::span<const Command> commands() {
  return kCommands;
}

static po::typed_value<std::string>* text() {
  return po::value<std::string>();
}

static void add_sweep_options(po::options_description& all) {
  all.add_options()("where",
                    po::value<std::vector<std::string>>()->composing(),
                    "EXPR: only where it holds, as 'stages*tile_n < 2048 && tile_m >= tile_n'")(
      "columns", text()->default_value(""), "A,B,...: of the table; an unknown one lists them")(
      "by", text()->default_value("us"), "COLUMN: what is best")(
      "top", text()->default_value("10"), "N: rows to show, the best first")(
      "table",
      text(),
      "FILE.csv or FILE.jsonl: every row; a sweep that was interrupted goes on where it was")(
      "plot", text(), "FILE.svg, FILE.png or FILE.html: the curves, and the best")(
      "x",
      text()->default_value(""),
      "NAME: along the picture; else the first with several values")(
      "lines", text()->default_value(""), "NAME: a curve for each of its values; else the second")(
      "problem",
      po::value<std::vector<std::string>>()->composing(),
      "m=4096,n=4096,k=8192: one to tune for; may be given several times")(
      "runs", text()->default_value("60"), "N: runs for each problem, at most")(
      "header", text(), "FILE.hpp: what was found for each problem, as a table in C++");
}

static void add_picture_options(po::options_description& all) {
  all.add_options()("perfetto", text(), "FILE: the run on a timeline, for ui.perfetto.dev")(
      "chrome", text(), "FILE: the same as Chrome's JSON, for other viewers")(
      "window",
      text(),
      "BEGIN:END: of the pictures, in steps or cycles; what is outside is counted")(
      "ctas", text(), "N: of the pictures, the first N CTAs")(
      "html", text(), "FILE: a page with the verdict and all pictures, to be opened in a browser")(
      "picture",
      po::value<std::vector<std::string>>()->composing(),
      "NAME=FILE.svg or .png: one picture: timeline, pipeline, stages, time, path, waits");
}

static void add_cuda_options(po::options_description& all) {
  all.add_options()("list", "the functions of CUDA's runtime and driver that a program may call")(
      "policy",
      po::value<std::vector<std::string>>()->composing(),
      "check, prove, run or record, and behind a colon which kernels: prove:gemm*; the last that "
      "fits counts")("first",
                     text()->default_value("0"),
                     "N: only the first N launches of each kernel, the others are run; 0: all")(
      "keep", text(), "DIR: writes each launch, for 'warptwin ptx'")(
      "measure",
      text()->default_value("asked"),
      "of which launches the time on the chip is simulated: never, asked (a program's events do), "
      "always")("target-ptx", text(), "sm_90a, sm_100a, ...: what PTX the chip takes");
}

po::options_description all_options() {
  po::options_description all{"options"};
  add_sweep_options(all);
  add_cuda_options(all);
  add_picture_options(all);
  all.add_options()("help,h", "this text")("json", "the result as JSON")(
      "program", text(), "FILE: a program as text, instead of a scenario; see docs/programs.md")(
      "ptx", text(), "FILE: a kernel in PTX, instead of a scenario; see docs/ptx.md")(
      "launch", text(), "FILE: what the PTX kernel is launched with, as JSON")(
      "names", text(), "FILE: what barriers and warps of the PTX kernel are called, as JSON")(
      "set",
      po::value<std::vector<std::string>>()->composing(),
      "name=value: a parameter of the scenario; auto=1 chooses those of a GEMM that are not set")(
      "in",
      po::value<std::vector<std::string>>()->composing(),
      "name=FILE.npy: an input tensor, float32, 2-D")(
      "out",
      po::value<std::vector<std::string>>()->composing(),
      "name=FILE.npy: writes an output tensor")(
      "strategy",
      text(),
      "round-robin, random, pct, starve:AGENT, lazy:AGENT, or one with its numbers: random:7")(
      "schedule", text(), "the schedule of a replay line")(
      "seed", text()->default_value("1"), "of inputs and schedules")(
      "profile",
      text()->default_value("practical"),
      "practical or strict: how severe each diagnostic is")(
      "rule",
      po::value<std::vector<std::string>>()->composing(),
      "name=value: how to take what the manual leaves open; `list --rules` has them")(
      "rules", "the rules that can be chosen")("without",
                                               po::value<std::vector<std::string>>()->composing(),
                                               "NAME: a detector that is left out")(
      "strict", "exit 1 for warnings too")("max-steps",
                                           text()->default_value("200000000"),
                                           "stop an execution that takes more steps; by itself "
                                           "'time' takes what a larger problem needs")(
      "control-only",
      "move control data only, and compute nothing: what depends on other data is refused")(
      "timing-only", "the same as --control-only")(
      "resident-ctas", text()->default_value("148"), "CTAs on the machine at a time")(
      "random", text()->default_value("48"), "random schedules to try")(
      "pct", text()->default_value("48"), "schedules of random priorities to try")(
      "depth", text()->default_value("3"), "priority changes of those, plus one")(
      "data", "compare values also where there are many to compute")(
      "keep-going", "try all schedules even after a finding")(
      "for-all",
      po::value<std::vector<std::string>>()->composing(),
      "NAME: a trip count of the scenario; tries to prove every value of it")(
      "limit", text()->default_value("0"), "mutants to judge, evenly spread; 0: all")(
      "mutant", text(), "N: writes mutant N as a program, and judges nothing")(
      "max-states", text()->default_value("100000000"), "stop a search that meets more states")(
      "full", "search without reduction and symmetry")(
      "deviations",
      text()->default_value("1"),
      "how often a schedule of the kernel may depart from taking turns")(
      "max-schedules", text()->default_value("20000"), "stop after so many of those")(
      "all", "every scenario at its defaults, against what is expected of it")(
      "jobs,j",
      text()->default_value("1"),
      "N: scenarios at a time, with --all, or proofs of launches; 0: as many as there are cores")(
      "time-limit",
      text()->default_value("0"),
      "S: seconds of CPU of the command, or of each scenario, run or launch of many; 0: no limit")(
      "memory-limit",
      text()->default_value("0"),
      "MB: MiB of address space of the same; 0: no limit")(
      "sms",
      text()->default_value("148"),
      "SMs of the GPU (148: B200; 132: H200); of a replay: that share the CTAs, one each first")(
      "ctas-per-sm", text(), "CTAs of an SM at a time, at most, where more of them fit")(
      "diagnostics", "what can be reported")("to", text(), "FILE: where the trace goes")(
      "on", text(), "functional, timed (on a chip), hw (the GPU): which engine, or several")(
      "values", "with what was computed, and what the copies brought")(
      "kernel", text(), "NAME: of a PTX file, this function alone")(
      "name", text(), "of the barriers, as input.full: what each is called")(
      "suppress", text(), "FILE: findings that are known, which then fail nothing")(
      "baseline", text(), "FILE: findings that were there before, which then fail nothing")(
      "write-baseline",
      text(),
      "FILE: writes what is found as a baseline, and fails for none of it")(
      "junit", text(), "FILE: the verdicts as JUnit's XML")(
      "sarif", text(), "FILE: the findings as SARIF 2.1.0")(
      "annotations", "the findings as workflow commands of GitHub, on the error stream")(
      "source-root", text()->default_value("."), "DIR: from where reports name source files")(
      "shape", text()->default_value("512x512"), "ROWSxCOLUMNS")(
      "chip", text()->default_value("b200"), "a chip's name or its file; see 'warptwin chip show'")(
      "clock", text(), "GHz, instead of the chip's")(
      "l2", text()->default_value("cold"), "cold or warm: whether inputs that fit are in L2")(
      "flops", text(), "N: operations of the launch, for TFLOP/s, where the scenario says none")(
      "registers", text(), "N: of a thread of a PTX kernel, instead of what ptxas -v says")(
      "no-check", "the time alone: without the detectors and the critical path")(
      "check-all", "the detectors see every cluster of a long run, not a sample")(
      "path", "the critical path and slack of all of a long run, with --no-check too")(
      "free",
      po::value<std::vector<std::string>>()->composing(),
      "a constant to fit, at most five; without it those of the loads' latency, the ports and the "
      "power cap")("write-chip", text(), "FILE: the fitted chip");
  return all;
}

// The options one command takes.
po::options_description options_of(const Command& command) {
  po::options_description options{"options"};
  std::istringstream names{std::string{"help "} + command.options};
  const po::options_description all = all_options();
  for (std::string name; names >> name;) {
    if (name == "rows") {  // another --data than that of 'check'
      options.add_options()("data",
                            po::value<std::vector<std::string>>()->composing(),
                            "FILE.json: measured rows; may be given several times")(
          "split", po::value<std::string>(), "NAME: only the rows whose 'split' it is");
    }
    if (name == "sweep-set") {  // another --set: of many values
      options.add_options()(
          "set",
          po::value<std::vector<std::string>>()->composing(),
          "name=VALUES: of a parameter, or chip.KEY=VALUES of a constant of the chip; VALUES are "
          "V, "
          "FIRST..LAST, FIRST..LAST:STEP or FIRST..LAST*FACTOR, joined by commas, and xF for F "
          "times what the chip has; auto=1 chooses what is not set");
    }
    if (name == "jobs-of-sweep") {  // another --jobs: all cores unless it is said
      options.add_options()("jobs,j",
                            po::value<std::string>()->default_value("0"),
                            "N: runs at a time; 0: as many as there are cores");
    }
    if (name == "json-file") {  // another --json: standard output is the program's
      options.add_options()("json", po::value<std::string>(), "FILE: the verdicts as JSON");
    }
    for (const auto& option : all.options()) {
      if (option->long_name() == name) {
        options.add(option);
      }
    }
  }
  return options;
}

bool takes_launch(const Command& command) {
  return std::string_view{command.options}.find(" ptx ") != std::string_view::npos;
}

po::options_description options_of_launches(const Command& command) {
  po::options_description options{
      "options of run, check, prove, explore, replay, trace and time with a kernel; 'warptwin ptx "
      "COMMAND --help' has those of one"};
  if (std::string_view{command.name} != "ptx") {
    return options;
  }
  const po::options_description own = options_of(command);
  const po::options_description all = all_options();
  for (const auto& option : all.options()) {
    const std::string& name = option->long_name();
    const auto takes = [&](const Command& one) {
      return takes_launch(one) && options_of(one).find_nothrow(name, false) != nullptr;
    };
    const bool instead = name == "program" || name == "ptx" || name == "all" || name == "jobs";
    if (!instead && own.find_nothrow(name, false) == nullptr &&
        std::any_of(std::begin(kCommands), std::end(kCommands), takes)) {
      options.add(option);
    }
  }
  return options;
}

std::string help_text() {
  constexpr std::size_t kColumn = 23;
  std::string text = std::string{kUsage} + "\n";
  for (const Command& command : commands()) {
    for (const CommandUse& use : command.uses) {
      if (use.usage == nullptr) {
        continue;
      }
      std::string line = "  " + std::string{use.usage};
      // A long one has a line of its own.
      line += line.size() < kColumn ? "" : "\n";
      line.append(kColumn - (line.size() < kColumn ? line.size() : 0), ' ');
      for (const char* c = use.text; *c != '\0'; ++c) {
        line += *c == '\n' ? "\n" + std::string(kColumn, ' ') : std::string{*c};
      }
      text += line + "\n";
    }
  }
  return text +
         "\nA parameter of a scenario is set with --set name=value. 'warptwin COMMAND --help' "
         "lists the options.\n\n" +
         kExitCodes;
}

}  // namespace warptwin::sim::cli
