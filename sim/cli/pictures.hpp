/// The pictures that a command writes: --perfetto, --chrome, --html, --picture, of the window that
/// is asked for.

#pragma once

#include <fstream>
#include <memory>
#include <vector>

#include "sim/cli/session.hpp"
#include "sim/pictures/page.hpp"
#include "sim/pictures/run_recorder.hpp"
#include "sim/run/time/timing.hpp"

namespace warptwin::sim::cli {

class Pictures {
 public:
  /// Opens the files. Throws ConfigError where one cannot be written, and for a bad window.
  explicit Pictures(const Session& session);

  /// Whether there is any to write.
  bool asked() const {
    return perfetto_.is_open() || chrome_.is_open() || html_.is_open() || !drawings_.empty();
  }
  bool asks_page() const { return html_.is_open(); }
  const RecordingWindow& window() const { return window_; }

  /// Sees a run of the scenario; null where no picture is asked for.
  std::unique_ptr<RunRecorder> recorder(const LaunchConfig& config,
                                        const Symbols& symbols,
                                        RecordingClock clock) const;

  /// Writes them, one recording below the other, and says what they leave out.
  void write(const Session& session, PageContents contents);

 private:
  std::ofstream perfetto_;
  std::ofstream chrome_;
  std::ofstream html_;
  std::vector<std::pair<std::string, std::string>> drawings_;  // name, file
  RecordingWindow window_;
};

/// Whether a verdict is to be shown by --html or --picture.
bool asks_pictures(const Session& session);

/// What a recording says of its run.
void describe(Recording& recording,
              const ScenarioEntry& scenario,
              const ParameterSet& parameters,
              Ending end);

/// What a page says above the pictures.
PageContents page_contents(const Session& session,
                           const ScenarioEntry& scenario,
                           const ParameterSet& parameters,
                           ExitCode code,
                           std::string answer);

/// The pictures of a verdict: of the run that shows its first finding, else of one run.
void write_verdict(Session& session,
                   Pictures& pictures,
                   const ScenarioEntry& scenario,
                   const ShownRun& run,
                   const Judged& judged);

/// The use of units over time, and the critical path.
void add_timing(RecordingBuilder& builder, const TimingResult& timing);

}  // namespace warptwin::sim::cli
