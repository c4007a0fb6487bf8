/// The sizes of a convolution, and where the tiles and k steps of its implicit GEMM lie.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "common/kernel/config_checks.hpp"
#include "common/kernel/reference.hpp"
#include "common/kernel/scenario.hpp"
#include "common/kernel/tile_scheduler.hpp"
#include "common/machine/types.hpp"

namespace warptwin::scenarios {

/// The sizes of a convolution; padding, stride and dilation are those of both dimensions.
struct ConvShape {
  std::uint32_t images, height, width, channels;
  std::uint32_t filters, filter_height, filter_width;
  std::uint32_t pad;           // on each side
  std::uint32_t stride = 1;    // input pixels from one output pixel to the next
  std::uint32_t dilation = 1;  // and from one tap of the filter to the next

  static ConvShape of(const ParameterSet& p) {
    return {p.u32("images"),
            p.u32("height"),
            p.u32("width"),
            p.u32("channels"),
            p.u32("filters"),
            p.u32("filter_height"),
            p.u32("filter_width"),
            p.u32("pad"),
            p.u32("stride"),
            p.u32("dilation")};
  }
  constexpr std::uint32_t taps() const { return filter_height * filter_width; }
  /// Pixels from a filter's first to its last tap, both counted.
  constexpr std::uint32_t span(std::uint32_t of_taps) const { return (of_taps - 1) * dilation + 1; }
  constexpr std::uint32_t out_height() const {
    return (height + 2 * pad - span(filter_height)) / stride + 1;
  }
  constexpr std::uint32_t out_width() const {
    return (width + 2 * pad - span(filter_width)) / stride + 1;
  }
  constexpr std::uint32_t out_pixels() const { return images * out_height() * out_width(); }
};

/// Where the tiles and k steps of the implicit GEMM lie in the tensors.
struct ConvWalk {
  std::uint32_t tile_p, tile_q, tiles_p, tiles_q;
  std::uint32_t filter_width, channel_tiles, pad, stride, dilation;

  template <class Extents>
  static constexpr ConvWalk over(const ConvShape& shape, const Extents& e) {
    return {e.tile_p(),
            e.tile_q,
            ceil_div(shape.out_height(), e.tile_p()),
            ceil_div(shape.out_width(), e.tile_q),
            shape.filter_width,
            ceil_div(shape.channels, e.tile_k),
            shape.pad,
            shape.stride,
            shape.dilation};
  }
  constexpr TileGrid grid(const ConvShape& shape, std::uint32_t tile_n) const {
    return {shape.images * tiles_p * tiles_q, ceil_div(shape.filters, tile_n)};
  }

  struct Pixel {
    std::int32_t n, p, q;
  };
  /// The first pixel of a tile, counted along q first.
  constexpr Pixel pixel(std::uint32_t tile) const {
    const std::uint32_t row = tile / tiles_q;
    return {static_cast<std::int32_t>(row / tiles_p),
            static_cast<std::int32_t>(row % tiles_p * tile_p),
            static_cast<std::int32_t>(tile % tiles_q * tile_q)};
  }
  struct Step {
    std::int32_t c, tap;  // the first channel; r * filter_width + s
    std::int32_t dp, dq;  // from the input pixel of an output pixel to the tap's
  };
  constexpr Step step(std::uint32_t k, std::uint32_t tile_k) const {
    const std::uint32_t tap = k / channel_tiles;
    const auto pads = static_cast<std::int32_t>(pad);
    return {static_cast<std::int32_t>(k % channel_tiles * tile_k),
            static_cast<std::int32_t>(tap),
            static_cast<std::int32_t>(tap / filter_width * dilation) - pads,
            static_cast<std::int32_t>(tap % filter_width * dilation) - pads};
  }
  /// Of X: a step's box for the tile whose first pixel is `at`.
  constexpr Coordinates<4> box_of_x(const Pixel& at, const Step& step) const {
    const auto by = static_cast<std::int32_t>(stride);
    return {{step.c, at.q * by + step.dq, at.p * by + step.dp, at.n}};
  }
};

/// Refuses a filter that does not fit the padded image, and pixels that are too many. Host code.
inline void check_filter(const ConvShape& s) {
  const auto check = [&](const char* name, std::uint32_t taps, std::uint32_t pixels) {
    const std::uint32_t padded = pixels + 2 * s.pad;
    require(s.span(taps) <= padded,
            std::string{name} + "=" + std::to_string(taps) + " with dilation=" +
                std::to_string(s.dilation) + " is more than the padded image; use " + name +
                "<=" + std::to_string((padded - 1) / s.dilation + 1));
  };
  check("filter_height", s.filter_height, s.height);
  check("filter_width", s.filter_width, s.width);
  const std::uint64_t pixels =
      std::uint64_t{s.images} * (s.height + 2 * s.pad) * (s.width + 2 * s.pad);
  require(pixels < std::uint64_t{1} << 31,
          "there are 2^31 pixels or more; use images<=" +
              std::to_string((std::uint64_t{1} << 31) / (pixels / s.images) - 1));
}

/// Refuses what no im2col map of four dimensions describes: its corners and offsets have 8 bits.
/// Host code.
inline void check_taps(const ConvShape& s) {
  check_filter(s);
  constexpr std::uint32_t kReachMost = 128;  // of a corner, away from the image's
  const std::uint32_t reach = s.span(std::max(s.filter_width, s.filter_height)) - 1;
  require(reach <= kReachMost + s.pad,
          "the last tap is " + std::to_string(reach) +
              " pixels from the first, and a corner of an im2col map at most 128 from the image's; "
              "use dilation<=" +
              std::to_string((kReachMost + s.pad) /
                             std::max(std::max(s.filter_width, s.filter_height) - 1, 1U)));
}

/// Refuses what no launch of tiles of `e` can be made of. Host code.
inline void check_image(const ConvShape& s, const auto& e) {
  std::uint32_t q = std::min<std::uint32_t>(e.tile_q, e.cta_m());
  while (e.cta_m() % q != 0) {
    --q;
  }
  require(q == e.tile_q,
          "tile_q=" + std::to_string(e.tile_q) + " does not divide the " +
              std::to_string(e.cta_m()) + " pixels of a tile; use tile_q=" + std::to_string(q));
  check_filter(s);
  constexpr std::uint32_t kTraversedMax = 256;  // by a box, in each dimension
  const std::uint32_t longest = std::max<std::uint32_t>(e.tile_q, e.tile_p());
  require(longest * s.stride <= kTraversedMax,
          "a box of " + std::to_string(longest) +
              " pixels with stride=" + std::to_string(s.stride) +
              " passes over more than 256; use tile_q so that it and " + std::to_string(e.cta_m()) +
              " / tile_q are at most " + std::to_string(kTraversedMax / s.stride));
}

/// A direct convolution of x and w, and beta times z: tensors x, w, y, z. Host code.
inline void convolution_reference(const ConvShape& s, double beta, std::span<HostTensor> tensors) {
  const HostTensor& x = tensors[0];
  const HostTensor& w = tensors[1];
  for (std::uint32_t pixel = 0; pixel < s.out_pixels(); ++pixel) {
    const std::uint32_t image = pixel / (s.out_height() * s.out_width());
    const std::uint32_t top = pixel / s.out_width() % s.out_height();
    const std::uint32_t left = pixel % s.out_width();
    by_fours(s.filters, [&]<class Count>(std::uint32_t k, Count) {
      std::array<double, Count::value> totals{};
      for (std::uint32_t i = 0; i < Count::value; ++i) {
        totals[i] = beta * static_cast<double>(tensors[3].at(pixel, k + i));
      }
      for (std::uint32_t tap = 0; tap < s.taps(); ++tap) {
        // Below zero wraps, and is beyond the image too.
        const std::uint32_t h = top * s.stride + tap / s.filter_width * s.dilation - s.pad;
        const std::uint32_t v = left * s.stride + tap % s.filter_width * s.dilation - s.pad;
        if (h < s.height && v < s.width) {
          totals = add_products(totals,
                                row_of(x, (image * s.height + h) * s.width + v, 0, s.channels),
                                row_of(w, k * s.taps() + tap, 0, s.channels).data(),
                                std::size_t{s.taps()} * w.spec.columns);
        }
      }
      for (std::uint32_t i = 0; i < Count::value; ++i) {
        tensors[2].at(pixel, k + i) = static_cast<float>(totals[i]);
      }
    });
  }
}

}  // namespace warptwin::scenarios
