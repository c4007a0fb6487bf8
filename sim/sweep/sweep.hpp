/// Runs in time at the points of a space, in processes of their own, on as many cores as one likes.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/run/workers.hpp"
#include "sim/sweep/columns.hpp"
#include "sim/sweep/space.hpp"
#include "sim/sweep/where.hpp"

namespace warptwin::sim {

/// How the run at a point ended.
enum class SweepEnd : std::uint8_t {
  kRun,      // to its end
  kNoFit,    // the scenario or the chip refuses it
  kStuck,    // deadlock, livelock, trap or a bound
  kStopped,  // the limit on time or memory was hit
  kFailed,   // the process that ran it died, or something threw
};

const char* name_of(SweepEnd end);

/// One point and what came of it.
struct SweepRow {
  std::uint64_t index = 0;  // in the space
  SweepEnd end = SweepEnd::kRun;
  std::string why;          // of an end that is no run
  std::vector<Json> cells;  // of a run: one for each column
};

struct SweepOptions {
  TimingOptions timing;
  std::vector<const SweepColumn*> columns;
  std::size_t jobs = 1;
  WorkLimits limits;  // of one point
};

/// The points that `where` lets through, in the order of the space.
std::vector<std::uint64_t> points_of(const Space& space, Where& where);

/// What the proof says of the launch at a point, for every value of the scenario's choices that the
/// space does not name.
ProofVerdict verdict_at(const Space& space, const SweepPoint& point, const TimingOptions& timing);

/// Runs one point here. Throws what is neither a refusal nor an ending.
SweepRow run_point(const Space& space, std::uint64_t index, const SweepOptions& options);

/// The row of a point whose process ended so.
SweepRow row_of(std::uint64_t point, const WorkEnd& end, const SweepOptions& options);

/// Runs the points, and delivers each row as soon as it is there.
void run_points(const Space& space,
                const std::vector<std::uint64_t>& points,
                const SweepOptions& options,
                const std::function<void(const SweepRow&)>& deliver);

/// One line without its end; equal rows, equal texts.
std::string packed(const SweepRow& row);
/// Throws std::runtime_error for a text that is no row of `columns` cells.
SweepRow unpacked(const std::string& text, std::size_t columns);

}  // namespace warptwin::sim
