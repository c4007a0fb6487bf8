/// Scenario: Y = conv(X, W) + beta * Z as an implicit GEMM: NHWC activations, KRSC filters,
/// a residual Z like Y. A tile of Y is tile_q x tile_p pixels of one image by tile_n filters; a k
/// step is one (r, s) and tile_k channels. Its A tile is a box of X, moved by `dilation` for each r
/// and s, that takes every `stride`-th pixel of every `stride`-th row: what lies beyond the image's
/// edge is padding, which TMA reads as zero.
///
/// The maps are tiled ones, with element strides: they count pixels of zero like any other, and a
/// tile ends with its row and image. By an im2col map, in conv2d_im2col, it goes on into the next,
/// and no row of the MMA is wasted at the edges.
///
/// Barrier          Arrivals per phase                Bytes   Completion means
/// input.full[s]    1   load, elected lane            A + B   stage s may be read
/// input.empty[s]   1   mma, tcgen05.commit           -       stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit           -       accumulator a is complete
/// accum.empty[a]   128 epilogue, every lane          -       accumulator a may be overwritten
/// tmem.done[0]     128 epilogue, every lane          -       tensor memory may be freed
/// source.full[c]   1   epilogue_load, elected lane   box     box c of Z may be read
/// source.empty[c]  128 epilogue, every lane          -       box c of Z may be overwritten
/// order.full[o]    1   load, elected lane            -       the tile's first copies are under way
/// order.empty[o]   1   epilogue_load, elected lane   -       the load warp may begin another tile
///
/// The residual is asked for after the tile's prologue, min(stages, k steps) copies of A and B.
///
/// Expected: clean in every interleaving, for every depth of the rings, any image, filter, padding,
///           stride, dilation and number of channels, and for edges that cut a tile.

#pragma once

#include <algorithm>

#include "common/kernel/parameter_table.hpp"

#include "scenarios/conv_load.hpp"
#include "scenarios/gemm_epilogue_load.hpp"

namespace warptwin::scenarios {

/// A CTA's pixels are `tile_q` of each of cta_m / tile_q rows.
template <class Rings = GemmEpilogueLoadExtents<>, std::uint32_t kTileQ = kDynamic>
struct Conv2dFpropExtents : Rings {
  [[no_unique_address]] Extent<kTileQ> tile_q;

  constexpr std::uint32_t tile_p() const { return this->cta_m() / tile_q; }
};

/// The MMA warp is that of `Without`, gemm or a kernel of pairs; the rings are those of
/// gemm_epilogue_load. The CTAs of a pair have different pixels, and share the filters.
template <Machine M,
          class Extents,
          class Parts = GemmEpilogueLoadParts,
          class Without = GemmKernel<M, Extents, Parts>>
struct Conv2dFpropKernel : GemmEpilogueLoadKernel<M, Extents, Parts, Without> {
  using Base = GemmEpilogueLoadKernel<M, Extents, Parts, Without>;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;
  /// Maps: a and c, d by (channel, q, p, image); b by (channel, tap, filter).
  struct Problem : Base::Problem {
    ConvWalk walk;

    /// Of Y and Z: box `box` of an output tile.
    constexpr Coordinates<4> box_at(Tile tile, std::uint32_t box, std::uint32_t columns) const {
      const ConvWalk::Pixel at = walk.pixel(tile.m);
      const std::uint32_t filter = tile.n * this->extents.tile_n + box * columns;
      return {{static_cast<std::int32_t>(filter), at.q, at.p, at.n}};
    }
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress>,
                         const TileOrder& order = {}) {
    const ConvShape shape = ConvShape::of(p);
    const ConvWalk walk = ConvWalk::over(shape, e);
    return {{{maps[0],
              maps[1],
              maps[2],
              e,
              TileWalk{walk.grid(shape, e.tile_n), e.cluster(), order},
              shape.taps() * walk.channel_tiles},
             maps[3],
             {static_cast<float>(p["beta"])}},
            walk};
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    load_tiles(machine, problem, smem, problem.tiles(machine), [] {});
  }
  static constexpr void epilogue_load(M& machine, const Problem& problem, const Storage& smem) {
    load_sources(machine, problem, smem, problem.tiles(machine));
  }
  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    store_tiles(machine, problem, smem, problem.tiles(machine));
  }

  /// Calls `begins()` when a tile begins.
  template <class F>
  static constexpr void load_tiles(
      M& machine, const Problem& problem, const Storage& smem, const auto& tiles, F&& begins) {
    load_conv_tiles<Input>(
        machine,
        problem,
        smem,
        tiles,
        begins,
        [&](Tile tile) { return problem.walk.pixel(tile.m); },
        [&](auto& stage, const ConvWalk::Pixel& at, const ConvWalk::Step& step) {
          stage.load(problem.a,
                     problem.walk.box_of_x(at, step),
                     stage.payload().a_tile());  // (tile_p x tile_q pixels, tile_k)
        });
  }

  static constexpr void load_sources(M& machine,
                                     const Problem& problem,
                                     const Storage& smem,
                                     const auto& tiles) {
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    auto order = LoadOrderBarrier<M>{machine, smem.order};
    const std::uint32_t columns = smem.out.first.columns;
    for (const Tile tile : tiles) {
      order.wait_and_step();  // waits order.full, arrives on empty
      for (std::uint32_t box = 0; box < problem.extents.tile_n / columns; ++box) {
        auto stage = source.acquire_producer();  // waits source.empty, arms full
        stage.load(problem.c,
                   problem.box_at(tile, box, columns),
                   smem.source.tile(stage.index()));  // (tile_p x tile_q, box_columns) of D
        std::move(stage).release();
      }
    }
    if (!smem.input.cluster.is_single_cta()) {
      source.drain();  // as every producer of a cluster
    }
  }

  static constexpr void store_tiles(M& machine,
                                    const Problem& problem,
                                    const Storage& smem,
                                    const auto& tiles) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // waits hand-over
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    auto writer = TileWriter<M, typename Parts::D>{machine, smem.out};
    auto registers = AccumTile<M>{machine};  // this warp's pixels of one box, fp32
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.tile_n / columns;
    const auto blend_and_store = [&](Tile tile, std::uint32_t box) {
      auto stage = source.acquire_consumer();  // waits source.full
      registers.combine_tile(smem.source_tile(stage.index()), problem.function);
      machine.fence_proxy_async(ProxySpace::kSharedCta);  // the next copy comes after these reads
      std::move(stage).release();                         // arrives on source.empty
      registers.store(writer.acquire());  // (tile_p x tile_q, box_columns) of D, by all warps
      writer.store(problem.d, problem.box_at(tile, box, columns));
    };
    for (const Tile tile : tiles) {
      auto accum = warp.acquire_epilogue_linear();  // waits accum.full
      for (std::uint32_t box = 0; box + 1 < boxes; ++box) {
        registers.load(accum, box * columns, columns);
        blend_and_store(tile, box);
      }
      registers.load(accum, (boxes - 1) * columns, columns);
      std::move(accum).release();  // arrives on accum.empty
      blend_and_store(tile, boxes - 1);
    }
    writer.drain();             // the stores are complete
    std::move(warp).release();  // arrives on tmem.done
  }
};

/// What the scenarios of every choice of parts share.
template <class Elements>
struct Conv2dFpropOf {
  using Parts = Elements;
  using A = typename Parts::A;
  using B = typename Parts::B;
  using D = typename Parts::D;
  static constexpr std::uint32_t kSize = kBytesOf<A>;
  static constexpr std::uint32_t kTileK = kWidestTileK<Parts>;
  using StaticExtents =
      Conv2dFpropExtents<GemmSourceExtents<GemmExtents<128, 128, kTileK, 4, 2>, 2, 0>, 16>;
  template <Machine M, class Extents>
  using Kernel = Conv2dFpropKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(shapes(), {{"ctas", "CTAs that share the tiles; 0: one for each", 0, 0, 1 << 16}});
    return kParameters;
  }
  /// The parameters that say nothing of who shares the tiles.
  static std::span<const Parameter> shapes() {
    static constexpr Parameter kParameters[] = {
        {"images", "images of X and Y", 2, 1, 1 << 16, ""},
        {"height", "rows of an image of X", 16, 1, 1 << 14},
        {"width", "pixels of a row", 16, 1, 1 << 14},
        {"channels", "of a pixel of X", kTileK, 8, 1 << 16, "tile_k"},
        {"filters", "channels of Y", 128, 8, 1 << 16, "tile_n"},
        {"filter_height", "rows of a filter", 3, 1, 64},
        {"filter_width", "pixels of its row", 3, 1, 64},
        {"pad", "pixels of zero around an image", 1, 0, 63},
        {"stride", "pixels of X from one of Y to the next", 1, 1, 8},
        {"dilation", "pixels of X from one tap to the next", 1, 1, 64},
        {"beta", "factor of the residual", 1, -64, 64},
        {"tile_m", "pixels of a tile of Y", 128, 64, 128},
        {"tile_q", "of them in one row", 16, 1, 128},
        {"tile_n", "filters of a tile of Y", 128, 8, 256},
        {"tile_k", "channels in one stage", kTileK, kTileK / 4, kTileK},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"source_stages", "boxes of the residual in shared memory", 2, 1, 64},
    };
    return kParameters;
  }
  static Conv2dFpropExtents<> extents(const ParameterSet& p) {
    return {{Gemm::extents(p), p.u32("source_stages")}, p.u32("tile_q")};
  }
  static Workload workload(const ParameterSet& p) {
    const Conv2dFpropExtents<> e = extents(p);
    check_stages_fit<GemmEpilogueLoadStorage<Conv2dFpropExtents<>, Parts>>(e);
    return workload_of(p, e, p.u32("ctas"));
  }
  /// `clusters` of them; 0: one for each tile.
  static Workload workload_of(const ParameterSet& p, const auto& e, std::uint32_t clusters) {
    const ConvShape s = ConvShape::of(p);
    const ClusterShape cluster = e.cluster();
    check_row_pitch("channels", s.channels, kSize);
    check_row_pitch("filters", s.filters, kBytesOf<D>);
    check_tile_shape(e.tile_m, e.tile_n, e.tile_k, kSize, cluster.group);
    check_image(s, e);
    check_cluster(cluster, e.cta_m(), e.cta_n(), e.tile_k * kSize);
    check_tmem_columns(e.accum_stages, e.tile_n);
    const std::uint32_t box = box_columns<D>(e.tile_n);
    const std::uint32_t slice_b = e.cta_n() / cluster.slice(Operand::kB, 0).count;
    const std::uint64_t x = std::uint64_t{s.channels} * kSize;  // bytes of a pixel
    const std::uint64_t y = std::uint64_t{s.filters} * kBytesOf<D>;
    const Swizzle swizzle = swizzle_of(e.tile_k * kSize);
    const auto pixels_of_y = [&](std::uint32_t tensor) {
      return TensorMapSpec{tensor,
                           e.cta_m(),
                           box,
                           swizzle_of(box * kBytesOf<D>),
                           {{s.out_width(), y, e.tile_q},
                            {s.out_height(), y * s.out_width(), e.tile_p()},
                            {s.images, y * s.out_width() * s.out_height(), 1}}};
    };
    const TileGrid tiles = ConvWalk::over(s, e).grid(s, e.tile_n).in_clusters(cluster);
    const std::uint32_t pixels = s.images * s.height * s.width;
    return {.tensors = {matrix("x", TensorUse::kInput, pixels, s.channels, A::kType),
                        matrix("w", TensorUse::kInput, s.filters * s.taps(), s.channels, B::kType),
                        matrix("y", TensorUse::kOutput, s.out_pixels(), s.filters, D::kType),
                        matrix("z", TensorUse::kInput, s.out_pixels(), s.filters, D::kType)},
            .maps = {{0,
                      e.cta_m(),
                      e.tile_k,
                      swizzle,
                      {{s.width, x, e.tile_q, s.stride},
                       {s.height, x * s.width, e.tile_p(), s.stride},
                       {s.images, x * s.width * s.height, 1}}},
                     {1,
                      slice_b,
                      e.tile_k,
                      swizzle,
                      {{s.taps(), x, 1}, {s.filters, x * s.taps(), slice_b}}},
                     pixels_of_y(2),
                     pixels_of_y(3)},
            .clusters = tiles.ctas(clusters),
            .cluster_size = cluster.ctas(),
            .registers_per_thread = 104,
            .flops = std::uint64_t{2} * s.out_pixels() * s.filters * s.taps() * s.channels};
  }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    convolution_reference(ConvShape::of(p), static_cast<double>(p["beta"]), tensors);
  }
};

struct Conv2dFprop : Conv2dFpropOf<GemmEpilogueLoadParts> {
  static constexpr ScenarioInfo kInfo{
      "conv2d_fprop", ScenarioKind::kClean, "2-D convolution as an implicit GEMM, residual by TMA"};
};

}  // namespace warptwin::scenarios
