/// The pictures that a command writes: --perfetto, --chrome, of the window that is asked for.

#pragma once

#include <fstream>
#include <memory>
#include <span>
#include <vector>

#include "sim/cli/session.hpp"
#include "sim/pictures/run_recorder.hpp"
#include "sim/run/timing.hpp"

namespace warptwin::sim::cli {

class Pictures {
 public:
  /// Opens the files. Throws ConfigError where one cannot be written, and for a bad window.
  explicit Pictures(const Session& session);

  /// Whether there is any to write.
  bool asked() const { return perfetto_.is_open() || chrome_.is_open(); }
  const RecordingWindow& window() const { return window_; }

  /// Sees a run of the scenario; null where no picture is asked for.
  std::unique_ptr<RunRecorder> recorder(const LaunchConfig& config,
                                        const Symbols& symbols,
                                        RecordingClock clock) const;

  /// Writes them, one recording below the other, and says what they leave out.
  void write(const Session& session, std::span<const Recording> recordings);

 private:
  std::ofstream perfetto_;
  std::ofstream chrome_;
  RecordingWindow window_;
};

/// What a recording says of its run.
void describe(Recording& recording,
              const ScenarioEntry& scenario,
              const ParameterSet& parameters,
              RunEnd end);

/// The use of units over time, and the critical path.
void add_timing(RecordingBuilder& builder, const TimingResult& timing);

}  // namespace warptwin::sim::cli
