#include "sim/run/regular_runs.hpp"

#include <algorithm>

namespace warptwin::sim {

namespace {

// Whether `longer` is `shorter` with pieces inserted, each between two visits to one state: the
// mark before a piece comes again, with the same state, at its end. An inner loop gets a piece each
// time the outer one comes round.
bool is_insertion(const RunOrder::Stream& shorter, const RunOrder::Stream& longer) {
  const std::vector<std::uint64_t>& a = shorter.steps;
  const std::vector<std::uint64_t>& b = longer.steps;
  std::size_t at = 0;     // matched so far, in a
  std::size_t ahead = 0;  // inserted so far
  std::size_t mark = 0;   // the last mark that is matched, as an index into shorter.marks, plus one
  for (;;) {
    while (at < a.size() && at + ahead < b.size() && a[at] == b[at + ahead]) {
      ++at;
    }
    if (at == a.size() && at + ahead == b.size()) {
      return ahead != 0;
    }
    while (mark < shorter.marks.size() && shorter.marks[mark] < at) {
      ++mark;
    }
    if (mark == 0) {
      return false;
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
      return false;
    }
    at = best_at;
    ahead = best;
  }
}

// A CTA group that does not take part in the loop stays as it is; groups that come with more trips
// do what some group did before.
bool is_regular(const Streams& shorter, const Streams& longer, bool may_stand) {
  if (shorter.size() > longer.size()) {
    return false;
  }
  bool grown = may_stand || longer.size() > shorter.size();
  for (std::size_t i = shorter.size(); i < longer.size(); ++i) {
    const bool known =
        std::any_of(shorter.begin(), shorter.end(), [&](const RunOrder::Stream& stream) {
          return stream.steps == longer[i].steps;
        });
    if (!known) {
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

}  // namespace warptwin::sim
