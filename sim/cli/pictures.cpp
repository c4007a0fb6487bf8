#include "sim/cli/pictures.hpp"

#include <algorithm>
#include <cmath>

#include "sim/pictures/chrome.hpp"
#include "sim/pictures/perfetto.hpp"
#include "sim/report/proof.hpp"

namespace warptwin::sim::cli {

namespace {

void open(const Session& session, const char* option, std::ofstream& file) {
  if (session.options.count(option) == 0) {
    return;
  }
  const std::string path = text_option(session, option);
  file.open(path, std::ios::binary);
  if (!file) {
    throw ConfigError("--" + std::string{option} + ": " + path + " cannot be written");
  }
}

void close(const Session& session, const char* option, std::ofstream& file) {
  file.close();
  if (!file) {
    throw ConfigError("--" + std::string{option} + ": " + text_option(session, option) +
                      " cannot be written");
  }
}

// BEGIN:END, either of which may be left out.
RecordingWindow window_of(const Session& session) {
  RecordingWindow window;
  if (session.options.count("ctas") != 0) {
    window.ctas = static_cast<std::uint32_t>(unsigned_option(session, "ctas", 1, 1U << 22));
  }
  if (session.options.count("window") == 0) {
    return window;
  }
  const std::string text = text_option(session, "window");
  const std::size_t colon = text.find(':');
  const auto bad = [&](const std::string& why) {
    return ConfigError("--window takes BEGIN:END, in steps or cycles, not '" + text + "'" + why);
  };
  if (colon == std::string::npos) {
    throw bad("");
  }
  const std::string begin = text.substr(0, colon);
  const std::string end = text.substr(colon + 1);
  const std::int64_t from = begin.empty() ? 0 : integer(begin, "--window");
  const std::int64_t to = end.empty() ? INT64_MAX : integer(end, "--window");
  if (from < 0 || to < from) {
    throw bad(": END is not before BEGIN, and neither is negative");
  }
  window.begin = static_cast<std::uint64_t>(from);
  window.end = static_cast<std::uint64_t>(to);
  return window;
}

}  // namespace

Pictures::Pictures(const Session& session) : window_{window_of(session)} {
  open(session, "perfetto", perfetto_);
  open(session, "chrome", chrome_);
  open(session, "html", html_);
  for (const std::string& text : strings(session, "picture")) {
    drawings_.push_back(name_and_value(text, "--picture"));
    const std::vector<std::string> names = drawing_names();
    if (std::find(names.begin(), names.end(), drawings_.back().first) == names.end()) {
      std::string known;
      for (const std::string& name : names) {
        known += (known.empty() ? "" : ", ") + name;
      }
      throw ConfigError("--picture has no '" + drawings_.back().first + "'; there are: " + known);
    }
  }
  if (!asked() && (session.options.count("window") != 0 || session.options.count("ctas") != 0)) {
    throw ConfigError(
        "--window and --ctas are for pictures: --perfetto, --chrome, --html, --picture");
  }
}

bool asks_pictures(const Session& session) {
  return session.options.count("html") != 0 || session.options.count("picture") != 0;
}

std::unique_ptr<RunRecorder> Pictures::recorder(const LaunchConfig& config,
                                                const Symbols& symbols,
                                                RecordingClock clock) const {
  return asked() ? std::make_unique<RunRecorder>(config, symbols, clock, window_) : nullptr;
}

void Pictures::write(const Session& session, PageContents contents) {
  const std::vector<Recording>& recordings = contents.recordings;
  if (perfetto_.is_open()) {
    write_perfetto(recordings, perfetto_);
    close(session, "perfetto", perfetto_);
  }
  if (chrome_.is_open()) {
    write_chrome(recordings, chrome_);
    close(session, "chrome", chrome_);
  }
  for (const auto& [name, path] : drawings_) {
    if (!recordings.empty()) {
      write_drawing(drawing_of(name, recordings.front()), path);
    }
  }
  if (html_.is_open()) {
    html_ << page_of(contents);
    close(session, "html", html_);
  }
  for (const Recording& recording : recordings) {
    for (const std::string& note : left_out_of(recording)) {
      if (std::find(recording.notes.begin(), recording.notes.end(), note) !=
          recording.notes.end()) {
        continue;  // of the kind of recording: the picture itself says it
      }
      session.err << "the picture of " << recording.scenario << ": " << note << "\n";
    }
  }
}

PageContents page_contents(const Session& session,
                           const ScenarioEntry& scenario,
                           const ParameterSet& parameters,
                           ExitCode code,
                           std::string answer) {
  PageContents contents;
  contents.verdict = code == ExitCode::kClean     ? PageContents::Verdict::kRight
                     : code == ExitCode::kFinding ? PageContents::Verdict::kWrong
                                                  : PageContents::Verdict::kOpen;
  contents.title = title_of(scenario, parameters);
  contents.word = code == ExitCode::kClean     ? "clean"
                  : code == ExitCode::kFinding ? "finding"
                                               : "incomplete";
  contents.answer = std::move(answer);
  contents.source_root =
      session.options.count("source-root") != 0 ? text_option(session, "source-root") : ".";
  return contents;
}

void write_verdict(Session& session,
                   Pictures& pictures,
                   const ScenarioEntry& scenario,
                   const ShownRun& run,
                   const Judged& judged) {
  if (!pictures.asked()) {
    return;
  }
  const auto shown = std::find_if(judged.findings.begin(),
                                  judged.findings.end(),
                                  [](const JudgedFinding& one) { return one.shown != nullptr; });
  const ShownRun& of = shown == judged.findings.end() ? run : *shown->shown;
  PageContents contents =
      page_contents(session, scenario, of.parameters, judged.exit, judged.answer);
  const Symbols symbols = scenario.symbols(of.parameters);
  const LaunchConfig config = launch_config(scenario, of.parameters, of.run);
  const auto recorder = pictures.recorder(config, symbols, RecordingClock::kSteps);
  RunOptions again = of.run;
  again.observer = recorder.get();
  const RunResult result = simulate(scenario, of.parameters, again);
  recorder->add(result.findings);
  contents.recordings.push_back(recorder->take());
  Recording& recording = contents.recordings.back();
  recording.source = "simulator";
  recording.machine = of.run.schedule.to_string();
  describe(recording, scenario, of.parameters, result.end);
  if (judged.proved) {
    contents.word = "proved";
  }
  contents.findings = judged.findings;
  pictures.write(session, std::move(contents));
}

void describe(Recording& recording,
              const ScenarioEntry& scenario,
              const ParameterSet& parameters,
              Ending end) {
  recording.scenario = scenario.info->name;
  recording.parameters = parameters.to_string();
  recording.ending = sentence_of(end);
}

void add_timing(RecordingBuilder& builder, const TimingResult& timing) {
  Recording& recording = builder.recording();
  const auto end = static_cast<std::uint64_t>(std::ceil(timing.stats.cycles));
  recording.end = std::max(recording.end, end);
  const auto add_counter = [&](const std::string& name,
                               const std::string& unit,
                               const std::vector<double>& over_time,
                               double scale) {
    if (over_time.empty()) {
      return;
    }
    const std::uint32_t track = builder.counter(name, kNoCta, unit);
    for (std::size_t i = 0; i < over_time.size(); ++i) {
      const auto time = static_cast<std::uint64_t>(static_cast<double>(i) * timing.stats.stretch);
      builder.sample(track, time, scale * over_time[i]);
    }
    builder.sample(track, end, 0);
  };
  for (const UnitUse& unit : timing.stats.units) {
    add_counter(unit.name + ": busy", "%", unit.over_time, 100);
  }
  for (const BytesMoved& moved : timing.stats.moved) {
    add_counter(moved.name + ": bytes", "bytes a cycle", moved.over_time, 1);
  }
  if (!timing.stats.path) {
    return;
  }
  const CriticalPath& path = *timing.stats.path;
  const std::uint32_t track =
      builder.track(TrackKind::kPath, builder.name("critical path"), kNoCta);
  for (const PathStretch& stretch : path.stretches) {
    Slice slice;
    slice.kind = SliceKind::kPath;
    slice.track = track;
    slice.begin = static_cast<std::uint64_t>(std::llround(stretch.begin));
    slice.end = static_cast<std::uint64_t>(std::llround(stretch.end));
    slice.name = builder.name(path.parts[stretch.part].what);
    builder.add(slice);
  }
}

}  // namespace warptwin::sim::cli
