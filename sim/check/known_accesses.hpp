/// The accesses to a CTA's shared memory that a later one may still meet, in the order they came.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/check/hash_map.hpp"
#include "sim/check/shared_access.hpp"

namespace warptwin::sim {

/// Most accesses are far from each other, and a later one looks at no more of those: of each there
/// are bounds, and of each few that came one after the other. Who is gone leaves an empty place,
/// until half of them are. Where they are many, as where loops of ordinary loads leave thousands,
/// writes and ordinary reads can be found without the others.
class KnownAccesses {
 public:
  /// What `at` and `source` of an access lie within.
  struct Bounds {
    std::uint32_t low = ~std::uint32_t{0};
    std::uint32_t high = 0;
    std::uint64_t columns = Footprint::kEveryColumn;

    bool meet(const Bounds& other) const {
      return low < other.high && other.low < high && (columns & other.columns) != 0;
    }
    void widen(const Bounds& also) {
      columns = high == 0 ? also.columns : columns | also.columns;
      low = std::min(low, also.low);
      high = std::max(high, also.high);
    }
  };
  static Bounds bounds_of(const Footprint& at) {
    const auto [low, high] = at.bounds();
    return {low, high, at.columns()};
  }

  SharedAccess& operator[](std::size_t place) const { return *accesses_[place]; }
  const Bounds& bounds(std::size_t place) const { return bounds_[place]; }

  /// Whether `f(place)` holds of one that is not far from `at`, from place `from` on, in order.
  template <class F>
  bool any_near(const Bounds& at, F&& f, std::size_t from = 0) const {
    for (std::size_t piece = from / kPiece; piece < all_.size(); ++piece) {
      if (all_[piece].meet(at) && any_in_piece(at, std::max(from, piece * kPiece), f)) {
        return true;
      }
    }
    return false;
  }
  /// The same of those that are not `unordered`, of which there are few where many race.
  template <class F>
  bool any_ordered_near(const Bounds& at, F&& f, std::size_t from = 0) const {
    for (std::size_t piece = from / kPiece; piece < ordered_.size(); ++piece) {
      const auto ordered = [&](std::size_t place) {
        return !accesses_[place]->unordered && f(place);
      };
      if (ordered_[piece].meet(at) && any_in_piece(at, std::max(from, piece * kPiece), ordered)) {
        return true;
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
  /// Whether they are many.
  bool many() const { return many_ != nullptr; }
  /// The same for each write; only where they are many.
  template <class F>
  void for_each_write_near(const Bounds& at, F&& f) const {
    const Pieces& writing = many_->writes;
    for (std::size_t group = 0; group < many_->groups.size(); ++group) {
      if (!many_->groups[group].meet(at)) {
        continue;
      }
      const std::size_t last = std::min(writing.size(), (group + 1) * kPiece);
      for (std::size_t piece = group * kPiece; piece < last; ++piece) {
        if (writing[piece].meet(at)) {
          any_in_piece(at, piece * kPiece, [&](std::size_t place) {
            if (writes(accesses_[place]->kind)) {
              f(place);
            }
            return false;
          });
        }
      }
    }
  }
  /// Calls `f(place)` for each ordinary read of bytes that `at` covers, in no order; only where
  /// they are many.
  template <class F>
  void for_each_read_in(const Footprint& at, F&& f) const {
    // A covered one begins where `at` does or, if that is an interval, in it.
    const std::uint32_t last = at.pitch == 0 ? at.end - 1 : at.begin;
    for (std::uint32_t granule = at.begin / kGranule; granule <= last / kGranule; ++granule) {
      const auto found = many_->reads.find(granule);
      if (found == many_->reads.end()) {
        continue;
      }
      for (const std::size_t place : found->second) {
        if (at.covers(accesses_[place]->at)) {
          f(place);
        }
      }
    }
  }
  /// The bytes that hold what one of the writes has written; only where they are many.
  const ByteSet& written() const { return many_->written; }
  /// Puts the bytes of a write in; of an mbarrier nothing is left that means anything.
  static void note_written(const SharedAccess& write, ByteSet& bytes) {
    const bool data = write.kind != SharedUse::kBarrier;
    write.at.for_each_run([&](std::uint32_t from, std::uint32_t to) {
      bytes.set(from, to, data);
      constexpr std::uint32_t kChunk = Footprint::kSwizzleChunk;  // that padding ends
      for (std::uint32_t end = from + kChunk; write.padding != 0 && end <= to; end += kChunk) {
        bytes.set(end - write.padding, end, false);
      }
    });
  }
  /// The last that is not far from `at` and of which `f(place)` holds, if there is one.
  template <class F>
  std::optional<std::size_t> last_near(const Bounds& at, F&& f) const {
    for (std::size_t piece = all_.size(); piece-- > 0;) {
      if (!all_[piece].meet(at)) {
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
    note_place(bounds_.size() - 1);
  }
  void widen(std::size_t place, const Bounds& also) {
    bounds_[place].widen(also);
    widen_all_of(place);
    if (many_ != nullptr && writes(accesses_[place]->kind)) {
      widen_pieces_of_writes(place);
    }
  }
  void remove(std::size_t place) {
    if (many_ != nullptr && accesses_[place]->kind == SharedUse::kGenericRead) {
      std::erase(many_->reads[accesses_[place]->at.begin / kGranule], place);
    }
    accesses_[place].reset();
    bounds_[place] = {};
    ++gone_;
  }
  /// Places change.
  void close_gaps() {
    if (gone_ <= kPiece || 2 * gone_ <= accesses_.size()) {
      return;
    }
    all_.clear();
    ordered_.clear();
    many_.reset();
    std::size_t kept = 0;
    for (std::size_t place = 0; place < accesses_.size(); ++place) {
      if (accesses_[place] != nullptr) {
        accesses_[kept] = std::move(accesses_[place]);
        bounds_[kept] = bounds_[place];
        note_place(kept++);
      }
    }
    accesses_.resize(kept);
    bounds_.resize(kept);
    gone_ = 0;
  }

 private:
  static constexpr std::size_t kPiece = 16;
  static constexpr std::size_t kMany = 256;
  static constexpr std::uint32_t kGranule = 16;  // bytes; reads that begin in them share a list

  using Pieces = std::vector<Bounds>;  // what kPiece places in a row lie within

  struct Many {
    Pieces writes;
    Pieces groups;                                           // of kPiece pieces of writes each
    HashMap<std::uint32_t, std::vector<std::size_t>> reads;  // ordinary ones, by where they begin
    ByteSet written;
  };

  // From place `from` to the end of its piece.
  template <class F>
  bool any_in_piece(const Bounds& at, std::size_t from, F&& f) const {
    const std::size_t end = std::min(bounds_.size(), (from / kPiece + 1) * kPiece);
    for (std::size_t place = from; place < end; ++place) {
      if (bounds_[place].meet(at) && f(place)) {
        return true;
      }
    }
    return false;
  }
  void note_place(std::size_t place) {
    widen_all_of(place);
    if (many_ != nullptr) {
      note_one_of_many(place);
    } else if (place + 1 == kMany) {
      many_ = std::make_unique<Many>();
      for (std::size_t one = 0; one < kMany; ++one) {
        if (accesses_[one] != nullptr) {
          note_one_of_many(one);
        }
      }
    }
  }
  void widen_all_of(std::size_t place) {
    widen_piece(all_, place / kPiece, bounds_[place]);
    if (!accesses_[place]->unordered) {
      widen_piece(ordered_, place / kPiece, bounds_[place]);
    }
  }
  void note_one_of_many(std::size_t place) {
    const SharedAccess& access = *accesses_[place];
    if (writes(access.kind)) {
      note_written(access, many_->written);
      widen_pieces_of_writes(place);
    } else if (access.kind == SharedUse::kGenericRead) {
      many_->reads[access.at.begin / kGranule].push_back(place);
    }
  }
  void widen_pieces_of_writes(std::size_t place) {
    widen_piece(many_->writes, place / kPiece, bounds_[place]);
    widen_piece(many_->groups, place / kPiece / kPiece, bounds_[place]);
  }
  static void widen_piece(Pieces& pieces, std::size_t piece, const Bounds& also) {
    while (pieces.size() <= piece) {
      pieces.emplace_back();
    }
    pieces[piece].widen(also);
  }

  std::vector<std::unique_ptr<SharedAccess>> accesses_;
  std::vector<Bounds> bounds_;
  Pieces all_;
  Pieces ordered_;  // of those that are not `unordered`
  std::unique_ptr<Many> many_;
  std::size_t gone_ = 0;  // empty places
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
