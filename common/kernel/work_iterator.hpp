/// Which output tiles a CTA computes, as its cluster claims them from those that have not begun.

#pragma once

#include <cstdint>

#include "common/kernel/tile_scheduler.hpp"
#include "common/machine/machine.hpp"
#include "common/tile/clc_pipeline.hpp"

namespace warptwin {

/// The tiles of one CTA: of its own cluster first, then of each cluster that a response names, and
/// none after the first response that names none. Use it in a range-based for, in every role that
/// reads responses.
///
/// A response is fetched where the loop goes on, not before its body: the load warp says in the
/// body that the tile has begun, and the scheduler asks for the next only then. Fetched before, the
/// two would wait for each other.
///
/// Participants: the whole warp.
/// Blocks:       where the loop goes on, until the response has come.
///
/// `Tiles` say which tile of any cluster is the CTA's: as `ClusterTiles` do, by `at`.
template <class Clc, class Tiles = ClusterTiles>
class WorkIterator {
 public:
  /// What a range-based loop steps through.
  class Iterator {
   public:
    /// At the tile of the own cluster, before any response.
    constexpr explicit Iterator(const WorkIterator& work) : work_{&work}, index_{work.first_} {}
    constexpr auto operator*() const { return work_->tiles_.at(index_); }  // the CTA's own tile
    /// Fetches the next response, and stands at its tile or, where it names none, at the end. Where
    /// the cluster asks for no work, the end comes at once.
    ///
    /// Blocks: until the response has come.
    constexpr Iterator& operator++() {
      valid_ = false;
      if (work_->clc_->asks()) {
        const WorkResponse response = work_->clc_->fetch(work_->site_);
        valid_ = response.canceled;
        index_ = response.first_cta / work_->ctas_;
      }
      return *this;
    }
    constexpr bool operator!=(bool end) const { return valid_ != end; }  // whether there is a tile

   private:
    const WorkIterator* work_;
    std::uint32_t index_;
    bool valid_ = true;
  };

  /// The tiles of the CTA that `machine` is a warp of, learnt by `clc`.
  template <Machine M>
  constexpr WorkIterator(const Tiles& tiles,
                         const M& machine,
                         Clc& clc,
                         SourceSite site = SourceSite::current())
      : tiles_{tiles},
        first_{machine.cluster_index()},
        ctas_{machine.cluster_size()},
        clc_{&clc},
        site_{site} {}

  constexpr Iterator begin() const { return Iterator{*this}; }  // at the own cluster's tile
  constexpr bool end() const { return false; }  // what an iterator at its end equals

 private:
  Tiles tiles_;
  std::uint32_t first_;
  std::uint32_t ctas_;  // of a cluster
  Clc* clc_;
  SourceSite site_;
};

}  // namespace warptwin
