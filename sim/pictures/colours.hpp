/// The colours of all pictures, for light and dark, and the style of drawings. The hues were chosen
/// by search to be told apart with and without red and green, as far as eight can be
/// (tests/sim/pictures/page_test.py holds them to it), and waits are hatched besides.

#pragma once

#include <cstdint>
#include <string>

namespace warptwin::sim {

inline constexpr std::uint32_t kHues = 8;

/// Custom properties of CSS for a page: light, dark where the reader prefers it, either by
/// `data-theme`.
std::string page_colours();

/// The style of drawings: with `page` it names the page's colours, else it has the light ones.
std::string drawing_style(bool page);

}  // namespace warptwin::sim
