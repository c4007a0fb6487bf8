/// What the wrong twins of `conv2d_fprop` share: a small image whose pixels do not fill a tile. One
/// CTA computes several tiles, each of more than one box.

#pragma once

#include "scenarios/conv2d_fprop.hpp"

namespace warptwin::scenarios {

template <std::int64_t kStride>
struct Conv2dFpropTwinOf : Conv2dFprop {
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"images", "images of X and Y", 2, 1, 1 << 16},
        {"height", "rows of an image of X", 7, 1, 1 << 14},
        {"width", "pixels of a row", 12, 1, 1 << 14},
        {"channels", "of a pixel of X", 64, 8, 1 << 16},
        {"filters", "channels of Y", 96, 8, 1 << 16},
        {"filter_height", "rows of a filter", 3, 1, 64},
        {"filter_width", "pixels of its row", 1, 1, 64},
        {"pad", "pixels of zero around an image", 1, 0, 63},
        {"stride", "pixels of X from one of Y to the next", kStride, 1, 8},
        {"dilation", "pixels of X from one tap to the next", 1, 1, 64},
        {"beta", "factor of the residual", 1, -64, 64},
        {"tile_m", "pixels of a tile of Y", 128, 64, 128},
        {"tile_q", "of them in one row", 16, 1, 128},
        {"tile_n", "filters of a tile of Y", 48, 8, 256},
        {"tile_k", "channels in one stage", 64, 16, 64},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"source_stages", "boxes of the residual in shared memory", 2, 1, 64},
        {"ctas", "CTAs that share the tiles; 0: one for each", 1, 0, 1 << 16},
    };
    return kParameters;
  }
};
using Conv2dFpropTwin = Conv2dFpropTwinOf<1>;
using Conv2dFpropStrideTwin = Conv2dFpropTwinOf<2>;

}  // namespace warptwin::scenarios
