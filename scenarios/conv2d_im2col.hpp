/// Scenario: Y = conv(X, W) + beta * Z as in conv2d_fprop, by an im2col map: a tile of Y is tile_m
/// pixels that follow each other, from row to row and from image to image. A k step is one (r, s)
/// and tile_k channels; its A tile is what lies behind as many places of the map's bounding box, so
/// far from each as the tap is from the filter's first. Beyond an image's edge TMA reads zeros.
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
/// No row of an MMA is wasted but in the last tile, whatever the image's sizes are: Y and Z are
/// matrices of pixels, as D and C of gemm_epilogue_load. `stride` is the map's element stride, and
/// the bounding box has padding in front of it and what a filter's taps reach behind it.
///
/// Expected: clean in every interleaving, for every depth of the rings, any image, filter, padding,
///           stride, dilation and number of channels.

#pragma once

#include "scenarios/conv_load.hpp"
#include "scenarios/gemm_epilogue_load_2sm.hpp"

namespace warptwin::scenarios {

/// Where the tiles and k steps of the implicit GEMM lie in the images.
struct Im2colWalk {
  Divisor pixels_of_image, pixels_of_row;  // of Y
  Divisor channel_tiles, filter_width;
  std::int32_t pad, stride;
  std::uint32_t dilation;

  static Im2colWalk over(const ConvShape& s, std::uint32_t tile_k) {
    return {Divisor{s.out_height() * s.out_width()},
            Divisor{s.out_width()},
            Divisor{ceil_div(s.channels, tile_k)},
            Divisor{s.filter_width},
            static_cast<std::int32_t>(s.pad),
            static_cast<std::int32_t>(s.stride),
            s.dilation};
  }

  /// W, H and the image of the map's place of a pixel of Y.
  struct Place {
    std::int32_t w, h, n;
  };
  constexpr Place place(std::uint32_t pixel) const {
    const Division of_image = pixels_of_image.divide(pixel);
    const Division of_row = pixels_of_row.divide(of_image.remainder);
    return {static_cast<std::int32_t>(of_row.remainder) * stride - pad,
            static_cast<std::int32_t>(of_row.quotient) * stride - pad,
            static_cast<std::int32_t>(of_image.quotient)};
  }
  struct Step {
    std::int32_t c, tap;  // the first channel; r * filter_width + s
    std::uint16_t w, h;   // from a place to the tap's pixel
  };
  constexpr Step step(std::uint32_t k, std::uint32_t tile_k) const {
    const Division of_tap = channel_tiles.divide(k);
    const Division of_row = filter_width.divide(of_tap.quotient);
    return {static_cast<std::int32_t>(of_tap.remainder * tile_k),
            static_cast<std::int32_t>(of_tap.quotient),
            static_cast<std::uint16_t>(of_row.remainder * dilation),
            static_cast<std::uint16_t>(of_row.quotient * dilation)};
  }
};

/// All but the load warp is as without images.
template <Machine M, class Extents, class Parts = GemmEpilogueLoadParts>
struct Conv2dIm2colKernel : GemmEpilogueLoadClusterKernel<M, Extents, Parts> {
  using Base = GemmEpilogueLoadClusterKernel<M, Extents, Parts>;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  /// Maps: a of im2col; b by (channel, tap, filter).
  struct Problem : Base::Problem {
    Im2colWalk walk;
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress>,
                         const TileOrder& order = {}) {
    const ConvShape s = ConvShape::of(p);
    const auto grid = TileGrid::covering(s.out_pixels(), s.filters, e.cta_m(), e.tile_n);
    const std::uint32_t k_tiles = s.taps() * ceil_div(s.channels, e.tile_k);
    return {{{maps[0], maps[1], maps[2], e, TileWalk{grid, e.cluster(), order}, k_tiles},
             maps[3],
             {static_cast<float>(p["beta"])}},
            Im2colWalk::over(s, e.tile_k)};
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    load_tiles(machine, problem, smem, problem.tiles(machine), [] {});
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
        [&](Tile tile) { return problem.walk.place(tile.m * problem.extents.cta_m()); },
        [&](auto& stage, const Im2colWalk::Place& at, const Im2colWalk::Step& step) {
          stage.load(problem.a,
                     PixelCoordinates<4>{{step.c, at.w, at.h, at.n}, {step.w, step.h}},
                     stage.payload().a_tile().tile.base);  // (cta_m pixels, tile_k)
        });
  }
};

/// What the scenarios of either group, and of every choice of parts, share. The CTAs of a
/// cluster have different pixels, and share the filters.
template <CtaGroup kGroup, class Elements>
struct Conv2dIm2colOf {
  using Parts = Elements;
  static constexpr std::uint32_t kCtas = ctas_in(kGroup);
  static constexpr std::uint32_t kSize = kBytesOf<typename Parts::A>;
  static constexpr std::uint32_t kTileK = kWidestTileK<Parts>;
  using Fixed = GemmExtents<128 * kCtas, 128, kTileK, 4, 2>;
  using StaticExtents = GemmSourceExtents<GemmClusterExtents<kGroup, Fixed, kCtas, 1>, 2, 0>;
  using Extents = GemmSourceExtents<GemmClusterExtents<kGroup>>;
  using Storage = GemmEpilogueLoadStorage<Extents, Parts, Gemm2smStorage<Extents, Parts>>;
  template <Machine M, class Extents>
  using Kernel = Conv2dIm2colKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        shapes(), {{"clusters", "clusters that share the tiles; 0: one for each", 0, 0, 1 << 16}});
    return kParameters;
  }
  /// The parameters that say nothing of who shares the tiles.
  static std::span<const Parameter> shapes() {
    static constexpr Parameter kParameters[] = {
        {"images", "images of X and Y", 3, 1, 1 << 16},
        {"height", "rows of an image of X", 13, 1, 1 << 14},
        {"width", "pixels of a row", 15, 1, 1 << 14},
        {"channels", "of a pixel of X", kTileK, 8, 1 << 16, "tile_k"},
        {"filters", "channels of Y", 128, 8, 1 << 16, "tile_n"},
        {"filter_height", "rows of a filter", 3, 1, 64},
        {"filter_width", "pixels of its row", 3, 1, 64},
        {"pad", "pixels of zero around an image", 1, 0, 63},
        {"stride", "pixels of X from one of Y to the next", 1, 1, 8},
        {"dilation", "pixels of X from one tap to the next", 1, 1, 64},
        {"beta", "factor of the residual", 1, -64, 64},
        {"tile_m", "pixels of an MMA's tile of Y", 128 * kCtas, 128 * kCtas, 128 * kCtas},
        {"cluster_m", "CTAs of a cluster, along the pixels", kCtas, kCtas, 16},
        {"tile_n", "filters of a tile of Y", 128, 8, 256},
        {"tile_k", "channels in one stage", kTileK, kTileK / 4, kTileK},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"source_stages", "boxes of the residual in shared memory", 2, 1, 64},
    };
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) {
    return {{GemmOf<Parts>::extents(p), p.u32("cluster_m"), 1}, p.u32("source_stages"), 0};
  }
  static Workload workload(const ParameterSet& p) {
    check_stages_fit<Storage>(extents(p));
    return workload_of(p, extents(p), p.u32("clusters"));
  }
  /// `clusters` of them; 0: one for each tile.
  static Workload workload_of(const ParameterSet& p, const auto& e, std::uint32_t clusters) {
    using A = typename Parts::A;
    using D = typename Parts::D;
    const ConvShape s = ConvShape::of(p);
    check_row_pitch("channels", s.channels, kSize);
    check_row_pitch("filters", s.filters, kBytesOf<D>);
    check_tile_shape(e.tile_m, e.tile_n, e.tile_k, kSize, kGroup);
    check_taps(s);
    check_cluster(e.cluster(), e.cta_m(), e.cta_n(), e.tile_k * kSize);
    const std::uint32_t slice_b = e.cta_n() / e.cluster().slice(Operand::kB, 0).count;
    check_tmem_columns(e.accum_stages, e.tile_n);
    const std::uint32_t box = box_columns<D>(e.tile_n);
    const std::uint64_t x = std::uint64_t{s.channels} * kSize;  // bytes of a pixel
    const Swizzle swizzle = swizzle_of(e.tile_k * kSize);
    const auto tiles = TileGrid::covering(s.out_pixels(), s.filters, e.cta_m(), e.tile_n);
    const std::uint32_t pixels = s.images * s.height * s.width;
    const auto pad = static_cast<std::int32_t>(s.pad);
    const auto behind = [&](std::uint32_t taps) {
      return pad - static_cast<std::int32_t>(s.span(taps)) + 1;
    };
    return {
        .tensors = {matrix("x", TensorUse::kInput, pixels, s.channels, A::kType),
                    matrix(
                        "w", TensorUse::kInput, s.filters * s.taps(), s.channels, Parts::B::kType),
                    matrix("y", TensorUse::kOutput, s.out_pixels(), s.filters, D::kType),
                    matrix("z", TensorUse::kInput, s.out_pixels(), s.filters, D::kType)},
        .maps = {{0,
                  e.cta_m(),
                  e.tile_k,
                  swizzle,
                  {{s.width, x, 1, s.stride},
                   {s.height, x * s.width, 1, s.stride},
                   {s.images, x * s.width * s.height, 1}},
                  {e.cta_m(), {-pad, -pad}, {behind(s.filter_width), behind(s.filter_height)}}},
                 {1,
                  slice_b,
                  e.tile_k,
                  swizzle,
                  {{s.taps(), x, 1}, {s.filters, x * s.taps(), slice_b}}},
                 tile_map<D>(2, e.cta_m(), box),
                 tile_map<D>(3, e.cta_m(), box)},
        .clusters = tiles.in_clusters(e.cluster()).ctas(clusters),
        .cluster_size = e.cluster().ctas(),
        .registers_per_thread = 104,
        .flops = std::uint64_t{2} * s.out_pixels() * s.filters * s.taps() * s.channels};
  }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    convolution_reference(ConvShape::of(p), static_cast<double>(p["beta"]), tensors);
  }
};

struct Conv2dIm2col : Conv2dIm2colOf<CtaGroup::kOne, GemmEpilogueLoadParts> {
  static constexpr ScenarioInfo kInfo{
      "conv2d_im2col", ScenarioKind::kClean, "2-D convolution by im2col maps, residual by TMA"};
};

}  // namespace warptwin::scenarios
