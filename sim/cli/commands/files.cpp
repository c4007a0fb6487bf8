// What reads or writes files: make-input, trace, compare, extract, mutate, decode, ptx.

#include <ostream>
#include <random>

#include "sim/cli/commands/commands.hpp"
#include "sim/cli/decode.hpp"
#include "sim/cli/pictures.hpp"
#include "sim/cli/programs.hpp"
#include "sim/cli/ptx_command.hpp"
#include "sim/cli/traces.hpp"
#include "sim/json/json_text.hpp"
#include "sim/pictures/trace_recording.hpp"
#include "sim/ptx/text/demangled.hpp"
#include "sim/run/npy.hpp"
#include "sim/run/suppressions.hpp"
#include "sim/trace/trace_file.hpp"

namespace warptwin::sim::cli {

ExitCode make_input(Session& session) {
  if (session.options.count("target") == 0) {
    throw ConfigError("name the file to write, as in: warptwin make-input --shape 300x512 a.npy");
  }
  const auto shape = session.options["shape"].as<std::string>();
  const std::size_t at = shape.find('x');
  if (at == std::string::npos) {
    throw ConfigError("--shape takes ROWSxCOLUMNS, as in 300x512, not '" + shape + "'");
  }
  const std::int64_t rows = integer(shape.substr(0, at), "--shape");
  const std::int64_t columns = integer(shape.substr(at + 1), "--shape");
  constexpr std::int64_t kMost = 1 << 20;
  if (rows < 1 || columns < 1 || rows > kMost || columns > kMost ||
      rows * columns > (std::int64_t{1} << 30)) {
    throw ConfigError("--shape " + shape +
                      " is empty or too large: at most 2^20 a side and 2^30 elements");
  }
  std::mt19937_64 random{unsigned_option(session, "seed", 0, kAnySeed)};
  NpyMatrix matrix{static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(columns), {}};
  matrix.values.resize(static_cast<std::size_t>(rows * columns));
  for (float& value : matrix.values) {
    value = static_cast<float>(static_cast<double>(random() >> 40) / double{1 << 23} - 1.0);
  }
  write_npy(session.options["target"].as<std::string>(), matrix);
  return ExitCode::kClean;
}

ExitCode trace_command(Session& session) {
  const ScenarioEntry& scenario = find_scenario(session);
  const ParameterSet parameters = parameters_of(session, scenario);
  const std::string path = text_option(session, "to");
  if (path.empty()) {
    throw ConfigError("trace needs --to FILE, to write to");
  }
  const std::string engine = text_option(session, "on");
  if (!engine.empty() && session.options.count("ptx") != 0) {
    throw ConfigError("--on goes with ptx run: a trace of PTX is of the functional engine");
  }
  if (!engine.empty() && engine != "functional" && engine != "timed") {
    throw ConfigError("--on takes functional or timed here, not '" + engine + "'");
  }
  Pictures pictures{session};
  RunOptions options = run_options(session, scenario, parameters);
  options.moves_data = session.options.count("values") != 0;
  TimingResult timed;
  Trace trace;
  if (engine == "timed") {
    const Chip chip = chip_of(session.options["chip"].as<std::string>());
    trace = timed_trace(scenario, parameters, chip, timed_run_options(session, options), timed);
  } else {
    trace = simulated_trace(scenario, parameters, options, timed.run);
  }
  try {
    write_trace_file(trace, path);
  } catch (const TraceError& error) {
    throw ConfigError(error.what());
  }
  if (pictures.asked()) {
    PageContents contents = page_contents(session,
                                          scenario,
                                          parameters,
                                          exit_of(timed.run, session.options.count("strict") != 0),
                                          trace.ending);
    contents.recordings.push_back(recording_of(trace, pictures.window()));
    pictures.write(session, std::move(contents));
  }
  session.out << ptx::demangled(trace.scenario) << ": " << trace.ending << ", "
              << timed.run.operations << " operations, written to " << path << "\n";
  return exit_of(timed.run, session.options.count("strict") != 0);
}

static ProgramRequest program_request(Session& session) {
  ProgramRequest request;
  request.scenario = &find_scenario(session);
  request.program = text_option(session, "program");
  request.parameters = parameters_of(session, *request.scenario);
  request.fixed = set_by_hand(session);
  request.run = run_options(session, *request.scenario, *request.parameters);
  request.json = session.json();
  return request;
}

ExitCode extract_command(Session& session) {
  print_extracted(program_request(session), session.out);
  return ExitCode::kClean;
}

ExitCode mutate_command(Session& session) {
  const ProgramRequest request = program_request(session);
  if (session.options.count("mutant") != 0) {
    print_mutant(request, unsigned_option(session, "mutant", 0, 1U << 30), session.out);
    return ExitCode::kClean;
  }
  const auto limit = static_cast<std::uint32_t>(unsigned_option(session, "limit", 0, 1U << 30));
  return mutate_and_print(request, limit, session.out);
}

// Both traces, and where they differ.
static void add_pictures(const Session& session,
                         Pictures& pictures,
                         const ComparedFiles& compared) {
  PageContents contents;
  contents.compares = true;
  contents.title = ptx::demangled(compared.first.scenario) + ": " + compared.first.source +
                   " and " + compared.second.source;
  contents.verdict =
      compared.comparison.agrees() ? PageContents::Verdict::kRight : PageContents::Verdict::kWrong;
  contents.word = compared.comparison.agrees() ? "the traces agree" : "the traces differ";
  contents.answer = text_of(compared.comparison, compared.first.source, compared.second.source);
  std::vector<TraceMark> marks[2];
  if (!compared.comparison.agrees()) {
    const Mismatch& first = compared.comparison.mismatches.front();
    const auto mark = [&](const std::optional<OpPlace>& at, const std::string& text) {
      return at ? std::vector<TraceMark>{{"first difference", first.where + ": " + text, *at}}
                : std::vector<TraceMark>{};
    };
    marks[0] = mark(first.first_at, first.first);
    marks[1] = mark(first.second_at, first.second);
  }
  contents.recordings.push_back(recording_of(compared.first, pictures.window(), marks[0]));
  contents.recordings.push_back(recording_of(compared.second, pictures.window(), marks[1]));
  for (const Mismatch& mismatch : compared.comparison.mismatches) {
    contents.mismatches.push_back(
        {mismatch.where, mismatch.first, mismatch.second, mismatch.before});
  }
  pictures.write(session, std::move(contents));
}

ExitCode compare_command(Session& session) {
  Pictures pictures{session};
  const ComparedFiles compared = compare_files(strings(session, "words"));
  session.out << (session.json()
                      ? text_of_json(json_of(compared.comparison), 2) + "\n"
                      : text_of(
                            compared.comparison, compared.first.source, compared.second.source));
  if (pictures.asked()) {
    add_pictures(session, pictures, compared);
  }
  switch (compared.verdict()) {
    case CompareVerdict::kAgrees:
      return ExitCode::kClean;
    case CompareVerdict::kDiffers:
      return ExitCode::kFinding;
    case CompareVerdict::kIncomplete:
      return ExitCode::kIncomplete;
  }
  return ExitCode::kInternal;
}

ExitCode decode_command(Session& session) {
  decode_words(
      strings(session, "words"), text_option(session, "name"), session.json(), session.out);
  return ExitCode::kClean;
}

ExitCode ptx_command(Session& session) {
  return ptx({strings(session, "words"),
              text_option(session, "kernel"),
              text_option(session, "launch"),
              text_option(session, "names"),
              session.json()},
             session.scenarios,
             session.out);
}

}  // namespace warptwin::sim::cli
