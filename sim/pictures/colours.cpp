#include "sim/pictures/colours.hpp"

namespace warptwin::sim {

namespace {

struct Colour {
  const char* name;
  const char* light;
  const char* dark;
};

constexpr Colour kColours[] = {
    {"paper", "#f7f8fa", "#14171c"},   {"panel", "#ffffff", "#1c2027"},
    {"ink", "#1b1f24", "#e8eaed"},     {"soft", "#57606a", "#a3acb8"},
    {"faint", "#9aa4af", "#6d7683"},   {"line", "#d8dee4", "#343a44"},
    {"hover", "#eaeff5", "#272d37"},   {"link", "#0b62c4", "#6cb2ff"},
    {"right", "#0a5fa8", "#6cb2ff"},   {"wrong", "#b3261e", "#ff9d7a"},
    {"open", "#8a5a00", "#f0c05a"},    {"operation", "#3f4a59", "#b9c3d0"},
    {"async", "#7d8ba0", "#7d8ba0"},   {"on", "#ffffff", "#111111"},
    {"counter", "#33669a", "#74a9dd"}, {"c0", "#0072b2", "#4da3e0"},
    {"c1", "#e69f00", "#f0b840"},      {"c2", "#8f3f97", "#c98ad0"},
    {"c3", "#009e73", "#37c79b"},      {"c4", "#d55e00", "#f08a45"},
    {"c5", "#56b4e9", "#8ccff5"},      {"c6", "#7a6a00", "#d8cd58"},
    {"c7", "#c4619a", "#eba0c8"}};

constexpr const char* kStyle = R"(
svg text { fill: $ink; font: 12px system-ui, "DejaVu Sans", sans-serif; }
svg text.s { fill: $soft; font-size: 11px; }
svg text.h { font-weight: 600; }
svg text.e { fill: $ink; font-size: 11px; paint-order: stroke; stroke: $panel; stroke-width: 4px; }
svg text.on { fill: $on; font-size: 11px; }
svg text.dark { fill: #111111; font-size: 11px; }
svg .role { fill: $hover; stroke: $operation; stroke-width: 1.5; }
svg .ring { fill: $panel; stroke-width: 2; }
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
svg .frame { fill: none; stroke: $line; }
svg .c0 { fill: $c0; } svg .s0 { stroke: $c0; }
svg .c1 { fill: $c1; } svg .s1 { stroke: $c1; }
svg .c2 { fill: $c2; } svg .s2 { stroke: $c2; }
svg .c3 { fill: $c3; } svg .s3 { stroke: $c3; }
svg .c4 { fill: $c4; } svg .s4 { stroke: $c4; }
svg .c5 { fill: $c5; } svg .s5 { stroke: $c5; }
svg .c6 { fill: $c6; } svg .s6 { stroke: $c6; }
svg .c7 { fill: $c7; } svg .s7 { stroke: $c7; }
)";

std::string variables(bool dark) {
  std::string text;
  for (const Colour& colour : kColours) {
    text += "--" + std::string{colour.name} + ":" + (dark ? colour.dark : colour.light) + ";";
  }
  return text + "color-scheme:" + (dark ? "dark" : "light") + ";";
}

const Colour* colour_of(const std::string& name) {
  for (const Colour& colour : kColours) {
    if (name == colour.name) {
      return &colour;
    }
  }
  return nullptr;
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
    std::string name;
    while ((*(c + 1) >= 'a' && *(c + 1) <= 'z') || (*(c + 1) >= '0' && *(c + 1) <= '9')) {
      name.push_back(*++c);
    }
    style += page ? "var(--" + name + ")" : colour_of(name)->light;
  }
  return style;
}

}  // namespace warptwin::sim
