/// A server that can be asked for a time ahead: what is asked for later may use the gaps before it.

#pragma once

#include <algorithm>
#include <vector>

#include "sim/timed/ticks.hpp"
#include "sim/timed/use_history.hpp"

namespace warptwin::sim {

class GapPort {
 public:
  /// Takes `service` from `from` on, in pieces between what is taken already. Returns its end.
  Ticks fill(Ticks from, Ticks service) {
    busy_ += service;
    if (spans_.empty() || from >= spans_.back().end) {
      return service == 0 ? from : append(from, service);
    }
    Ticks at = from;
    while (service > 0 && at < free_) {
      const std::size_t i = index_ending_after(at);
      if (at < spans_[i].start) {
        const Ticks piece = std::min(service, spans_[i].start - at);
        insert(i, {at, at + piece});
        service -= piece;
        at += piece;
      } else {
        at = spans_[i].end;
      }
    }
    return service == 0 ? at : append(at, service);
  }

  /// Forgets, now and then, what ended by `when`: nobody will ask for a time before it.
  void may_forget(Ticks when) {
    if (spans_.size() > kRemembered) {
      forget(when);
    }
  }
  void forget(Ticks when) {
    std::size_t ended = 0;
    while (ended < spans_.size() && spans_[ended].end <= when) {
      ++ended;
    }
    if (ended != 0) {
      spans_.erase(spans_.begin(), spans_.begin() + static_cast<std::ptrdiff_t>(ended));
    }
  }
  /// The part of [from, to) that is taken.
  Ticks taken(Ticks from, Ticks to) const {
    Ticks sum = 0;
    for (const Span& span : spans_) {
      const Ticks start = std::max(span.start, from);
      const Ticks end = std::min(span.end, to);
      sum += end > start ? end - start : 0;
    }
    return sum;
  }

  /// The end of what is taken.
  Ticks free() const { return free_; }
  Ticks busy() const { return busy_; }
  /// Writes down when it works.
  void watch(UseHistory* history) { history_ = history; }

 private:
  static constexpr std::size_t kRemembered = 8;  // few: it is asked for at every operation

  struct Span {
    Ticks start;
    Ticks end;
  };

  void note(Ticks from, Ticks to) {
    if (history_ != nullptr) {
      history_->add(from, to);
    }
  }
  Ticks append(Ticks from, Ticks service) {
    note(from, from + service);
    if (!spans_.empty() && spans_.back().end == from) {
      spans_.back().end += service;
    } else {
      spans_.push_back({from, from + service});
    }
    free_ = from + service;
    return free_;
  }
  // In front of span `i`, joined with its neighbours where they touch.
  void insert(std::size_t i, Span piece) {
    note(piece.start, piece.end);
    const bool after = i > 0 && spans_[i - 1].end == piece.start;
    const bool before = spans_[i].start == piece.end;
    if (after && before) {
      spans_[i - 1].end = spans_[i].end;
      spans_.erase(spans_.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (after) {
      spans_[i - 1].end = piece.end;
    } else if (before) {
      spans_[i].start = piece.start;
    } else {
      spans_.insert(spans_.begin() + static_cast<std::ptrdiff_t>(i), piece);
    }
  }
  std::size_t index_ending_after(Ticks when) const {
    std::size_t i = 0;
    while (spans_[i].end <= when) {
      ++i;
    }
    return i;
  }

  std::vector<Span> spans_;  // in order, none touching the next
  Ticks free_ = 0;
  Ticks busy_ = 0;
  UseHistory* history_ = nullptr;
};

}  // namespace warptwin::sim
