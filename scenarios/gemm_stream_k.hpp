/// Scenario: D = A * B^T whose work is shared by CTAs to within one step along K: each takes as
/// many steps as any other, one behind the other, of however many tiles these are (stream-K). A
/// tile that lies in several CTAs' shares is added up through a workspace, as in gemm_split_k with
/// its lock.
///
/// Barrier          Arrivals per phase                Bytes   Completion means
/// input.full[s]    1   load, elected lane            A + B   stage s may be read
/// input.empty[s]   1   mma, tcgen05.commit           -       stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit           -       accumulator a is complete
/// accum.empty[a]   128 epilogue, every lane          -       accumulator a may be overwritten
/// tmem.done[0]     128 epilogue, every lane          -       tensor memory may be freed
/// source.full[c]   1   epilogue_load, elected lane   box     box c of the sum so far may be read
/// source.empty[c]  128 epilogue, every lane          -       box c of it may be overwritten
///
/// A tile's word says up to which CTA's the shares are in its sum. Who has the steps behind them
/// waits for that number, adds its own, and says the next; who has the last writes D.
///
/// With `whole` a CTA computes so many tiles by itself, behind its share of those that are left:
/// what does not fill the CTAs evenly is shared, and everything else goes through no workspace.
///
/// Forward progress: a CTA walks through its share backwards. Its first piece is then the beginning
/// of a tile that the next CTA ends, and waits for nobody, or lies in the middle of a tile and is
/// all of the share; its last ends the tile that the CTA before it began with. So a CTA waits for
/// the first piece of the one before it alone, and that one began earlier: any number of CTAs on
/// the machine will do.
///
/// Expected: clean in every interleaving, for every number of CTAs, of tiles and of steps, and
///           every depth of the rings.

#pragma once

#include "scenarios/gemm_split_k.hpp"

namespace warptwin::scenarios {

/// How clusters share the steps along K of all tiles. The last tiles may be left out: each cluster
/// has as many of them by itself as any other.
struct StreamKShares {
  std::uint32_t least;     // steps of a share
  std::uint32_t one_more;  // the first clusters, whose shares have another step
  std::uint32_t tiles;     // that are shared; the others come behind
  Divisor k_tiles;         // steps of a tile

  /// The first step of a cluster's share.
  constexpr std::uint32_t begin(std::uint32_t cluster) const {
    return cluster * least + std::min(cluster, one_more);
  }
};

/// Some steps of a tile.
struct StreamKPiece {
  Tile tile;
  std::uint32_t begin_k, end_k;
  std::uint32_t cluster;  // whose they are: the steps before them are its neighbour's
};

/// The pieces of one CTA: its cluster's share, from the last tile to the first, and then the tiles
/// that the cluster has by itself. Use it in a range-based for.
class StreamKPieces {
 public:
  class Iterator {
   public:
    constexpr Iterator(const StreamKPieces& pieces, std::uint32_t first, std::uint32_t end)
        : pieces_{pieces},
          first_{first},
          end_{end},
          shared_{pieces.shares_.k_tiles.divide(end - std::uint32_t{end != first}).quotient},
          own_{pieces.own_} {}

    constexpr StreamKPiece operator*() const {
      const std::uint32_t steps = pieces_.shares_.k_tiles.value();
      const std::uint32_t before = shared_ * steps;
      return in_share() ? StreamKPiece{pieces_.tiles_.at(shared_),
                                       std::max(first_, before) - before,
                                       end_ - before,
                                       pieces_.cluster_}
                        : StreamKPiece{pieces_.tiles_.at(own_), 0, steps, pieces_.cluster_};
    }
    constexpr Iterator& operator++() {
      if (in_share()) {
        end_ = std::max(first_, shared_ * pieces_.shares_.k_tiles.value());
        --shared_;  // of no meaning behind the first
      } else {
        own_ += pieces_.clusters_;
      }
      return *this;
    }
    constexpr bool operator!=(std::uint32_t count) const { return in_share() || own_ < count; }

   private:
    constexpr bool in_share() const { return end_ > first_; }

    const StreamKPieces& pieces_;
    std::uint32_t first_, end_;  // steps that are left of the share
    std::uint32_t shared_;       // the tile of the last of them
    std::uint32_t own_;
  };

  template <Machine M>
  constexpr StreamKPieces(const StreamKShares& shares, const TileWalk& walk, const M& machine)
      : shares_{shares},
        tiles_{walk, machine.cta_rank()},
        cluster_{machine.cluster_index()},
        clusters_{machine.cluster_count()},
        own_{shares.tiles + cluster_} {}

  constexpr Iterator begin() const {
    return {*this, shares_.begin(cluster_), shares_.begin(cluster_ + 1)};
  }
  constexpr std::uint32_t end() const { return tiles_.count(); }

 private:
  StreamKShares shares_;
  ClusterTiles tiles_;
  std::uint32_t cluster_, clusters_;
  std::uint32_t own_;
};

template <Machine M, class Extents>
struct GemmStreamKProblem : SummedProblem<M, Extents> {
  using Base = SummedProblem<M, Extents>;
  using Base::grid;
  TileWalk tile_walk;
  StreamKShares shares;
  GlobalAddress words;  // of tiles, 0 at first: clusters up to the last whose steps are in the sum

  /// Host code.
  void set(const ParameterSet& p,
           const Extents& e,
           std::span<const typename M::TensorMap> maps,
           std::span<const GlobalAddress> tensors) {
    Base::set_maps(p, e, maps);
    tile_walk = TileWalk{grid, e.cluster()};
    const std::uint32_t k_tiles = ceil_div(p.u32("k"), e.tile_k);
    const std::uint32_t clusters = p.u32("ctas");
    const std::uint32_t tiles =
        tile_walk.count() - std::min(tile_walk.count() / clusters, p.u32("whole")) * clusters;
    const std::uint32_t steps = tiles * k_tiles;
    shares = {steps / clusters, steps % clusters, tiles, Divisor{k_tiles}};
    words = tensors[4];
  }

  constexpr StreamKPieces tiles(const M& machine) const { return {shares, tile_walk, machine}; }
  constexpr SplitWork work(const StreamKPiece& piece) const {
    const std::uint32_t word = piece.tile.n * grid.m + piece.tile.m;
    const GlobalAddress at = words + std::uint64_t{4} * word;
    return {piece.tile,
            piece.begin_k == 0,
            piece.end_k == shares.k_tiles.value(),
            piece.begin_k,
            piece.end_k,
            {at, piece.cluster},
            {at, piece.cluster + 1}};
  }
};

/// `Splits`, a scenario of gemm_split_k, with shares instead of splits.
template <class Splits, class Parts>
struct StreamKOf : Splits {
  template <Machine M, class Extents>
  using Kernel = GemmSplitKKernel<M, Extents, GemmStreamKProblem<M, Extents>, Parts>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(Splits::shapes(),
                 {{"n", "rows of B, columns of D", 256, 1, 1 << 20},
                  {"ctas", "CTAs, or clusters, that share the work", 3, 1, 1 << 16},
                  {"whole", "tiles that each computes by itself, at most", 0, 0, 1 << 16}});
    return kParameters;
  }
  static Workload workload(const ParameterSet& p) {
    const auto e = Splits::extents(p);
    Workload workload = Splits::product(p);
    Splits::add_workspace(workload, p, e, /*words=*/1);
    const TileGrid grid = split_grid(p, e).in_clusters(e.cluster());
    const std::uint64_t steps = std::uint64_t{grid.count()} * ceil_div(p.u32("k"), e.tile_k);
    require(steps < std::uint64_t{1} << 32,
            "the tiles have " + std::to_string(steps) + " steps along K; use larger tiles");
    workload.clusters = p.u32("ctas");
    return workload;
  }
};

template <class Parts>
using GemmStreamKOf = StreamKOf<GemmSplitKOf<Parts>, Parts>;

struct GemmStreamK : GemmStreamKOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_stream_k", ScenarioKind::kClean, "GEMM whose work is shared by steps along K"};
};

}  // namespace warptwin::scenarios
