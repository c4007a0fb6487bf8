#include "sim/run/proof/regular_runs.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace warptwin::sim {

namespace {

// Inserted: steps [from, from + length) of the longer run, before step `at` of the shorter one.
struct Piece {
  std::size_t at = 0;
  std::size_t from = 0;
  std::size_t length = 0;
};

// The pieces by which `longer` is `shorter` with pieces inserted, each between two visits to one
// state: the mark before a piece comes again, with the same state, at its end. An inner loop gets a
// piece each time the outer one comes round. Nothing if it is not; no pieces if they are equal.
std::optional<std::vector<Piece>> insertions(const RunOrder::Stream& shorter,
                                             const RunOrder::Stream& longer) {
  const std::vector<std::uint64_t>& a = shorter.steps;
  const std::vector<std::uint64_t>& b = longer.steps;
  std::vector<Piece> pieces;
  std::size_t at = 0;     // matched so far, in a
  std::size_t ahead = 0;  // inserted so far
  std::size_t mark = 0;   // the last mark that is matched, as an index into shorter.marks, plus one
  for (;;) {
    while (at < a.size() && at + ahead < b.size() && a[at] == b[at + ahead]) {
      ++at;
    }
    if (at == a.size() && at + ahead == b.size()) {
      return pieces;
    }
    while (mark < shorter.marks.size() && shorter.marks[mark] < at) {
      ++mark;
    }
    if (mark == 0) {
      return std::nullopt;
    }
    // Back to the last mark, and on from where it comes again.
    const std::size_t from = shorter.marks[mark - 1];
    std::size_t best = 0;
    std::size_t best_at = at;
    for (const std::uint32_t again : longer.marks) {
      if (again <= from + ahead || b[again] != a[from]) {
        continue;
      }
      std::size_t reach = from;
      while (reach < a.size() && again + (reach - from) < b.size() &&
             a[reach] == b[again + (reach - from)]) {
        ++reach;
      }
      if (reach > best_at) {
        best_at = reach;
        best = again - from;
      }
    }
    if (best == 0) {
      return std::nullopt;
    }
    pieces.push_back({from, from + ahead, best - ahead});
    at = best_at;
    ahead = best;
  }
}

bool is_insertion(const RunOrder::Stream& shorter, const RunOrder::Stream& longer) {
  const auto pieces = insertions(shorter, longer);
  return pieces && !pieces->empty();
}

// Whether `run` is `shorter` with the pieces by which `longer` differs from it inserted `times`
// times each.
bool is_repetition(const RunOrder::Stream& shorter,
                   const RunOrder::Stream& longer,
                   std::uint32_t times,
                   const RunOrder::Stream& run) {
  const auto pieces = insertions(shorter, longer);
  if (!pieces) {
    return false;
  }
  std::size_t total = shorter.steps.size();
  for (const Piece& piece : *pieces) {
    total += times * piece.length;
  }
  if (run.steps.size() != total) {
    return false;
  }
  auto here = run.steps.begin();
  const auto is_next =
      [&](const std::vector<std::uint64_t>& steps, std::size_t from, std::size_t end) {
        const bool same = std::equal(steps.begin() + static_cast<std::ptrdiff_t>(from),
                                     steps.begin() + static_cast<std::ptrdiff_t>(end),
                                     here);
        here += static_cast<std::ptrdiff_t>(end - from);
        return same;
      };
  std::size_t at = 0;
  for (const Piece& piece : *pieces) {
    if (!is_next(shorter.steps, at, piece.at)) {
      return false;
    }
    at = piece.at;
    for (std::uint32_t i = 0; i < times; ++i) {
      if (!is_next(longer.steps, piece.from, piece.from + piece.length)) {
        return false;
      }
    }
  }
  return is_next(shorter.steps, at, shorter.steps.size());
}

bool is_among(const RunOrder::Stream& stream, const Streams& streams) {
  return std::any_of(streams.begin(), streams.end(), [&](const RunOrder::Stream& known) {
    return known.steps == stream.steps;
  });
}

// A CTA group that does not take part in the loop stays as it is; groups that come with more trips
// do what some group did before.
bool is_regular(const Streams& shorter, const Streams& longer, bool may_stand) {
  if (shorter.size() > longer.size()) {
    return false;
  }
  bool grown = may_stand || longer.size() > shorter.size();
  for (std::size_t i = shorter.size(); i < longer.size(); ++i) {
    if (!is_among(longer[i], shorter)) {
      return false;
    }
  }
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    if (shorter[i].steps == longer[i].steps) {
      continue;
    }
    if (!is_insertion(shorter[i], longer[i])) {
      return false;
    }
    grown = true;
  }
  return grown;
}

}  // namespace

bool RegularRuns::add(Streams streams, bool may_stand) {
  const auto size = static_cast<std::uint32_t>(runs_.size());
  runs_.push_back(std::move(streams));
  regular_for_.resize(size + 1, 0);
  for (std::uint32_t period = 1; period < size; ++period) {
    regular_for_[period] =
        is_regular(runs_[size - period], runs_[size], may_stand) ? regular_for_[period] + 1 : 0;
    // A whole period from each of its sizes, and once more to see the piece repeated.
    if (regular_for_[period] >= 2 * period) {
      period_ = period;
      first_ = size - 3 * period + 1;
      return true;
    }
  }
  return false;
}

// Of the last period, the size that differs by whole periods.
std::uint32_t RegularRuns::like(std::uint32_t size) const {
  const auto last = static_cast<std::uint32_t>(runs_.size()) - 1;
  return last - (last - size % period_) % period_;
}

bool RegularRuns::prolongs(const Streams& streams, std::uint32_t size) const {
  return is_regular(runs_[like(size)], streams, false);
}

bool RegularRuns::predicts(const Streams& streams, std::uint32_t size) const {
  const std::uint32_t above = like(size);  // and the one before it
  const Streams& longer = runs_[above];
  const Streams& shorter = runs_[above - period_];
  const std::uint32_t times = (size - above) / period_ + 1;
  if (streams.size() < longer.size()) {
    return false;
  }
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const bool fits = i < shorter.size()
                          ? is_repetition(shorter[i], longer[i], times, streams[i])
                          : is_among(streams[i], shorter) || is_among(streams[i], longer);
    if (!fits) {
      return false;
    }
  }
  return true;
}

}  // namespace warptwin::sim
