/// The accesses to a CTA's shared memory that a later one may still meet, in the order they came.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/check/shared_access.hpp"

namespace warptwin::sim {

/// Most accesses are far from each other, and a later one looks at no more of those: of each there
/// are bounds, and of each few that came one after the other. Who is gone leaves an empty place,
/// until half of them are.
class KnownAccesses {
 public:
  /// What `at` and `source` of an access lie within.
  struct Bounds {
    std::uint32_t low = ~std::uint32_t{0};
    std::uint32_t high = 0;

    bool meet(const Bounds& other) const { return low < other.high && other.low < high; }
    void widen(const Bounds& also) {
      low = std::min(low, also.low);
      high = std::max(high, also.high);
    }
  };
  static Bounds bounds_of(const Footprint& at) {
    const auto [low, high] = at.bounds();
    return {low, high};
  }

  SharedAccess& operator[](std::size_t place) const { return *accesses_[place]; }
  const Bounds& bounds(std::size_t place) const { return bounds_[place]; }

  /// Whether `f(place)` holds of one that is not far from `at`, from place `from` on, in order.
  template <class F>
  bool any_near(const Bounds& at, F&& f, std::size_t from = 0) const {
    for (std::size_t piece = from / kPiece; piece < pieces_.size(); ++piece) {
      if (!pieces_[piece].meet(at)) {
        continue;
      }
      const std::size_t end = std::min(bounds_.size(), (piece + 1) * kPiece);
      for (std::size_t place = std::max(from, piece * kPiece); place < end; ++place) {
        if (bounds_[place].meet(at) && f(place)) {
          return true;
        }
      }
    }
    return false;
  }
  /// Calls `f(place)` for each that is not far from `at`, in order.
  template <class F>
  void for_each_near(const Bounds& at, F&& f) const {
    any_near(at, [&](std::size_t place) {
      f(place);
      return false;
    });
  }
  /// The last that is not far from `at` and of which `f(place)` holds, if there is one.
  template <class F>
  std::optional<std::size_t> last_near(const Bounds& at, F&& f) const {
    for (std::size_t piece = pieces_.size(); piece-- > 0;) {
      if (!pieces_[piece].meet(at)) {
        continue;
      }
      for (std::size_t place = std::min(bounds_.size(), (piece + 1) * kPiece);
           place-- > piece * kPiece;) {
        if (bounds_[place].meet(at) && f(place)) {
          return place;
        }
      }
    }
    return std::nullopt;
  }
  /// Calls `f(access)` for each.
  template <class F>
  void for_each(F&& f) const {
    for (const std::unique_ptr<SharedAccess>& access : accesses_) {
      if (access != nullptr) {
        f(*access);
      }
    }
  }

  void add(std::unique_ptr<SharedAccess> access, const Bounds& bounds) {
    accesses_.push_back(std::move(access));
    bounds_.push_back(bounds);
    note_in_piece(bounds_.size() - 1);
  }
  void widen(std::size_t place, const Bounds& also) {
    bounds_[place].widen(also);
    note_in_piece(place);
  }
  void remove(std::size_t place) {
    accesses_[place].reset();
    bounds_[place] = {};
    ++gone_;
  }
  /// Places change.
  void close_gaps() {
    if (gone_ <= kPiece || 2 * gone_ <= accesses_.size()) {
      return;
    }
    pieces_.clear();
    std::size_t kept = 0;
    for (std::size_t place = 0; place < accesses_.size(); ++place) {
      if (accesses_[place] != nullptr) {
        accesses_[kept] = std::move(accesses_[place]);
        bounds_[kept] = bounds_[place];
        note_in_piece(kept++);
      }
    }
    accesses_.resize(kept);
    bounds_.resize(kept);
    gone_ = 0;
  }

 private:
  static constexpr std::size_t kPiece = 16;

  void note_in_piece(std::size_t place) {
    if (place / kPiece == pieces_.size()) {
      pieces_.emplace_back();
    }
    pieces_[place / kPiece].widen(bounds_[place]);
  }

  std::vector<std::unique_ptr<SharedAccess>> accesses_;
  std::vector<Bounds> bounds_;
  std::vector<Bounds> pieces_;  // of kPiece places each
  std::size_t gone_ = 0;        // empty places
};

/// The lanes that have made the copies to these bytes have waited for them, whoever else the
/// mbarrier tells.
inline void note_wait(const KnownAccesses& known,
                      std::uint64_t serial,
                      const Footprint& at,
                      const LanePoint& when) {
  known.for_each([&](SharedAccess& access) {
    if (access.kind == SharedUse::kAsyncCopy && access.serial == serial && access.at.covers(at) &&
        at.covers(access.at)) {
      access.waited = when;
    }
  });
}

}  // namespace warptwin::sim
