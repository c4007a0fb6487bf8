#include "sim/pictures/colours.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <string_view>

namespace warptwin::sim {

namespace {

struct Colour {
  const char* name;
  const char* light;
  const char* dark;
};

constexpr Colour kColours[] = {{"paper", "#f7f8fa", "#14171c"}, {"panel", "#ffffff", "#1c2027"},
                               {"ink", "#1b1f24", "#e8eaed"},   {"soft", "#57606a", "#a3acb8"},
                               {"faint", "#9aa4af", "#6d7683"}, {"line", "#d8dee4", "#343a44"},
                               {"hover", "#eaeff5", "#272d37"}, {"link", "#0b62c4", "#6cb2ff"},
                               {"right", "#0a5fa8", "#6cb2ff"}, {"wrong", "#b3261e", "#ff9d7a"},
                               {"open", "#8a5a00", "#f0c05a"},  {"operation", "#3f4a59", "#b9c3d0"},
                               {"async", "#7d8ba0", "#7d8ba0"}, {"counter", "#33669a", "#74a9dd"},
                               {"hatch", "#ffffff", "#14171c"}, {"c0", "#6d62d9", "#277089"},
                               {"c1", "#bf5d10", "#eff317"},    {"c2", "#d33f87", "#ce8284"},
                               {"c3", "#5ec8aa", "#43feb8"},    {"c4", "#ab826c", "#aa5c30"},
                               {"c5", "#80aaeb", "#2edbff"},    {"c6", "#c2b41e", "#9fad1e"},
                               {"c7", "#ae2e40", "#c953f2"}};

constexpr const char* kStyle = R"(
svg text { fill: $ink; font: 12px system-ui, "DejaVu Sans", sans-serif; }
svg text.s { fill: $soft; font-size: 11px; }
svg text.h { font-weight: 600; }
svg text.e { fill: $ink; font-size: 11px; paint-order: stroke; stroke: $panel; stroke-width: 4px; }
svg text.on { font-size: 11px; }
svg text.on-op { fill: $on-operation; } svg text.on-async { fill: $on-async; }
svg text.on-counter { fill: $on-counter; } svg text.on-faint { fill: $on-faint; }
svg .role { fill: $hover; stroke: $operation; stroke-width: 1.5; }
svg .ring { fill: $panel; stroke: $operation; stroke-width: 2; }
svg .bad { fill: $panel; stroke: $wrong; stroke-width: 2.5; }
svg .edge { fill: none; stroke: $operation; stroke-width: 1.6; }
svg .waits { stroke-dasharray: 5 3; }
svg .wrong { stroke: $wrong; stroke-width: 2.4; }
svg .tip { fill: $operation; stroke: none; }
svg .tip.wrong { fill: $wrong; }
svg .op { fill: $operation; }
svg .async { fill: $async; }
svg .none { fill: $line; }
svg .faint { fill: $faint; }
svg .counter { fill: $counter; }
svg .axis { stroke: $line; stroke-width: 1; fill: none; }
svg .even { fill-opacity: 0.28; }
svg .odd { fill-opacity: 0.55; }
svg .hatch { fill: $hatch; fill-opacity: 0.5; }
svg .frame { fill: none; stroke: $line; }
svg .c0 { fill: $c0; } svg .s0 { stroke: $c0; } svg text.on-c0 { fill: $on-c0; }
svg .c1 { fill: $c1; } svg .s1 { stroke: $c1; } svg text.on-c1 { fill: $on-c1; }
svg .c2 { fill: $c2; } svg .s2 { stroke: $c2; } svg text.on-c2 { fill: $on-c2; }
svg .c3 { fill: $c3; } svg .s3 { stroke: $c3; } svg text.on-c3 { fill: $on-c3; }
svg .c4 { fill: $c4; } svg .s4 { stroke: $c4; } svg text.on-c4 { fill: $on-c4; }
svg .c5 { fill: $c5; } svg .s5 { stroke: $c5; } svg text.on-c5 { fill: $on-c5; }
svg .c6 { fill: $c6; } svg .s6 { stroke: $c6; } svg text.on-c6 { fill: $on-c6; }
svg .c7 { fill: $c7; } svg .s7 { stroke: $c7; } svg text.on-c7 { fill: $on-c7; }
)";

// Black or white, whichever is read on the colour.
const char* text_on(const char* colour) {
  const auto rgb = std::strtoul(colour + 1, nullptr, 16);
  const auto share = [&](unsigned shift) {
    return std::pow(static_cast<double>(rgb >> shift & 0xFFU) / 255, 2.2);
  };
  const double light = 0.2126 * share(16) + 0.7152 * share(8) + 0.0722 * share(0);
  constexpr double kAsFarFromBoth = 0.18;
  return light > kAsFarFromBoth ? "#111111" : "#ffffff";
}

const Colour& colour_of(std::string_view name) {
  return *std::find_if(std::begin(kColours), std::end(kColours), [&](const Colour& colour) {
    return name == colour.name;
  });
}

// A colour of the table; "on-c3" is that of text on c3.
std::string value_of(std::string_view name, bool dark) {
  const bool on = name.starts_with("on-");
  const Colour& colour = colour_of(on ? name.substr(3) : name);
  const char* value = dark ? colour.dark : colour.light;
  return on ? text_on(value) : value;
}

std::string variables(bool dark) {
  std::string text;
  for (const Colour& colour : kColours) {
    const std::string name = colour.name;
    text += "--" + name + ":" + value_of(name, dark) + ";";
    text += "--on-" + name + ":" + value_of("on-" + name, dark) + ";";
  }
  return text + "color-scheme:" + (dark ? "dark" : "light") + ";";
}

}  // namespace

std::string page_colours() {
  return ":root{" + variables(false) + "}\n@media (prefers-color-scheme: dark){:root{" +
         variables(true) + "}}\n:root[data-theme=light]{" + variables(false) +
         "}\n:root[data-theme=dark]{" + variables(true) +
         "}\n@media print{:root,:root[data-theme]{" + variables(false) + "}}\n" +
         drawing_style(true);
}

std::string drawing_style(bool page) {
  std::string style;
  for (const char* c = kStyle; *c != '\0'; ++c) {
    if (*c != '$') {
      style.push_back(*c);
      continue;
    }
    const char* const name = c + 1;
    while (std::islower(c[1]) != 0 || std::isdigit(c[1]) != 0 || c[1] == '-') {
      ++c;
    }
    const std::string_view text{name, static_cast<std::size_t>(c + 1 - name)};
    style += page ? "var(--" + std::string{text} + ")" : value_of(text, false);
  }
  return style;
}

}  // namespace warptwin::sim
