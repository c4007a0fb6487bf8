#include "sim/pictures/drawings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "common/kernel/scenario.hpp"
#include "common/trace/words.hpp"

#include "sim/pictures/digest.hpp"
#include "sim/pictures/hues.hpp"
#include "sim/pictures/process.hpp"

namespace warptwin::sim {

namespace {

constexpr double kWidth = 1120;
constexpr double kLabels = 190;
constexpr double kRow = 24;
constexpr double kSmall = 11;  // of text on bars
constexpr std::size_t kLabelColumns = 27;

std::string percent(double share) {
  return short_number(std::round(1000 * share) / 10) + " %";
}

std::string hue_class(const char* prefix, std::uint32_t hue) {
  return prefix + std::to_string(hue);
}

// The classes of text on what has the class `colour`.
std::string text_on(const std::string& colour) {
  return "on on-" + colour;
}

// Rows of stacked parts, from the top down.
class Bars {
 public:
  explicit Bars(Svg& svg) : svg_{svg} {}

  void head(const std::string& text) {
    y_ += 12;
    svg_.text(8, y_ + 10, text, "h");
    y_ += 20;
  }
  void begin(const std::string& label) {
    svg_.describe(label);
    svg_.text(16, y_ + 14, shortened(label, kLabelColumns));
    svg_.rect(kLabels, y_, kLong, kRow - 6, "none");
    x_ = kLabels;
  }
  void part(double share, const std::string& classes, bool waits, const std::string& label) {
    const std::string on = classes == "none" ? "s" : text_on(classes);
    const double width = std::min(kLong * share, kLabels + kLong - x_);
    if (width <= 0) {
      return;
    }
    const std::string title = label + ": " + percent(share);
    svg_.describe(title);
    if (waits) {
      svg_.wait(x_, y_, width, kRow - 6, classes, title);
    } else {
      svg_.rect(x_, y_, width, kRow - 6, classes, title);
    }
    const double needs = text_width(title, kSmall) + 10;
    if (needs < width) {
      if (waits) {
        svg_.rect(x_ + 3, y_ + 2, needs - 4, kRow - 10, classes);
      }
      svg_.text(x_ + 5, y_ + 13, title, on);
    } else if (text_width(percent(share), kSmall) + 8 < width) {
      svg_.text(x_ + 4, y_ + 13, percent(share), on);
    }
    x_ += width;
  }
  void end() { y_ += kRow; }
  double y() const { return y_; }
  void skip(double pixels) { y_ += pixels; }

 private:
  static constexpr double kLong = kWidth - kLabels - 14;
  Svg& svg_;
  double x_ = 0;
  double y_ = 0;
};

void add_role(Bars& bars, const RoleShare& share, bool steps, Hues& hues) {
  if (share.alive == 0) {
    return;
  }
  const auto whole = static_cast<double>(share.alive);
  bars.begin(share.role + ", " + plural(share.warps, "warp"));
  bars.part(static_cast<double>(share.working) / whole, "op", false, "works");
  std::vector<std::pair<std::uint64_t, std::string>> waits;
  for (const auto& [name, time] : share.waits) {
    waits.emplace_back(time, name);
  }
  std::sort(waits.rbegin(), waits.rend());
  for (const auto& [time, name] : waits) {
    const bool barrier = share.on_barrier.at(name);
    const std::uint32_t hue = barrier ? hues.of(name) : 0;
    bars.part(static_cast<double>(time) / whole,
              barrier ? hue_class("c", hue) : "faint",
              true,
              "waits for " + name);
  }
  bars.part(static_cast<double>(share.rest()) / whole,
            "none",
            false,
            steps ? "its turn" : "other instructions");
  bars.end();
}

// The mean of a counter in percent over the recording.
double mean_of(const Recording& recording, std::uint32_t track) {
  double sum = 0;
  const std::uint64_t end = std::min(recording.end, recording.window.end);
  for (std::size_t i = 0; i < recording.samples.size(); ++i) {
    const Sample& sample = recording.samples[i];
    if (sample.track != track) {
      continue;
    }
    const bool more = i + 1 < recording.samples.size() && recording.samples[i + 1].track == track;
    const std::uint64_t until = more ? recording.samples[i + 1].time : end;
    sum += sample.value * static_cast<double>(until - std::min(until, sample.time));
  }
  const std::uint64_t span = end - std::min(end, recording.window.begin);
  return span == 0 ? 0 : sum / 100 / static_cast<double>(span);
}

// --- Over time -------------------------------------------------------------------------------

// What part of the picture a time is at.
class Axis {
 public:
  Axis(const Recording& recording)
      : begin_{static_cast<double>(recording.window.begin)},
        end_{std::max(begin_ + 1,
                      static_cast<double>(std::min(recording.end, recording.window.end)))} {}

  double at(std::uint64_t time) const {
    const double share = (static_cast<double>(time) - begin_) / (end_ - begin_);
    return kLabels + std::clamp(share, 0.0, 1.0) * (kWidth - kLabels - 14);
  }
  void draw(Svg& svg, double top, double bottom, const char* unit) const {
    const double rough = (end_ - begin_) / 8;
    const double power = std::pow(10, std::floor(std::log10(std::max(rough, 1.0))));
    const double step = std::max(1.0, power * (rough / power < 2 ? 1 : rough / power < 5 ? 2 : 5));
    svg.text(16, top - 8, std::string{unit} + "s", "s");
    for (double tick = std::ceil(begin_ / step) * step; tick <= end_; tick += step) {
      const double x = at(static_cast<std::uint64_t>(tick));
      svg.line(x, top - 4, x, bottom, "axis");
      svg.text(x + 3, top - 8, short_number(tick), "s");
    }
  }

 private:
  double begin_;
  double end_;
};

std::string class_of(const Recording& recording, const Slice& slice, Hues& hues) {
  switch (slice.kind) {
    case SliceKind::kOperation:
      return "op";
    case SliceKind::kAsync:
      return "async";
    case SliceKind::kWait:
      return slice.barrier == kNoTrack ? "faint" : hue_class("c", hues.of(recording, slice));
    case SliceKind::kPhase:
      return hue_class("c", hues.of(recording, slice)) + (slice.phase % 2 == 0 ? " even" : " odd");
    case SliceKind::kPath:
      return hue_class("c", hues.of(recording.name(slice.name)));
  }
  return "op";
}

// The slices of one track; what ends in the pixel that is drawn already is not drawn again.
void draw_track(Svg& svg,
                const Recording& recording,
                std::size_t first,
                std::size_t last,
                const Axis& axis,
                double y,
                double height,
                Hues& hues) {
  double drawn = 0;
  for (std::size_t i = first; i < last; ++i) {
    const Slice& slice = recording.slices[i];
    const double from = axis.at(slice.begin);
    const double to = axis.at(slice.end);
    if (to <= drawn + 0.3 && i != first) {
      continue;
    }
    const double width = std::max(to - from, 0.7);
    const std::string title = title_of(recording, slice);
    const std::string classes = class_of(recording, slice, hues);
    const bool phase = slice.kind == SliceKind::kPhase;
    if (slice.kind == SliceKind::kWait) {
      svg.wait(from, y, width, height, classes, title);
    } else {
      svg.rect(from, y, width > 3 ? width - 0.6 : width, height, classes, title);
    }
    if (text_width(title, kSmall) + 10 < width) {
      if (slice.kind == SliceKind::kWait) {
        svg.rect(from + 3, y + 1, text_width(title, kSmall) + 4, height - 2, classes);
      }
      svg.text(from + 5, y + height / 2 + 4, title, phase ? "s" : text_on(classes));
    }
    drawn = from + width;
  }
}

void draw_counter(Svg& svg,
                  const Recording& recording,
                  std::size_t first,
                  std::size_t last,
                  const Axis& axis,
                  double y,
                  double height) {
  double most = 1;
  for (std::size_t i = first; i < last; ++i) {
    most = std::max(most, recording.samples[i].value);
  }
  const auto point = [&](double x, double value) {
    return short_number(x) + " " + short_number(y + height * (1 - value / most));
  };
  std::string d = "M" + point(kLabels, 0);
  double before = 0;
  double drawn = -1;
  for (std::size_t i = first; i < last; ++i) {
    const double x = axis.at(recording.samples[i].time);
    const double value = recording.samples[i].value;
    if (x - drawn < 0.4 && i + 1 < last) {
      before = std::max(before, value);
      continue;
    }
    d += "L" + point(x, before) + "L" + point(x, value);
    before = value;
    drawn = x;
  }
  svg.path(d + "L" + point(kWidth - 14, before) + "L" + point(kWidth - 14, 0) + "Z", "counter");
}

// The first CTA, which alone is drawn over time.
std::uint32_t pictured_cta(const Recording& recording) {
  for (const Track& track : recording.tracks) {
    if (track.cta != kNoCta) {
      return track.cta;
    }
  }
  return kNoCta;
}

// Says which CTAs are not drawn. Returns how tall that is.
double draw_others(Svg& svg, const Recording& recording, double y) {
  std::set<std::uint32_t> ctas;
  for (const Track& track : recording.tracks) {
    if (track.cta != kNoCta) {
      ctas.insert(track.cta);
    }
  }
  if (ctas.size() < 2) {
    return 0;
  }
  svg.text(16,
           y + 14,
           "cta " + std::to_string(*ctas.begin()) +
               " alone: " + plural(ctas.size() - 1, "more CTA") + " not drawn",
           "s");
  return 20;
}

}  // namespace

Svg time_drawing(const Recording& recording) {
  Svg svg{kWidth, 0};
  svg.describe("Where the time of each role goes, and how busy each unit is");
  Hues hues{recording};
  Bars bars{svg};
  bars.head("Roles: the time of their warps");
  for (const RoleShare& share : shares_of(recording)) {
    add_role(bars, share, recording.clock == RecordingClock::kSteps, hues);
  }
  bool any = false;
  for (std::uint32_t i = 0; i < recording.tracks.size(); ++i) {
    const Track& track = recording.tracks[i];
    if (track.kind == TrackKind::kCounter && recording.name(track.unit) == "%") {
      if (!any) {
        bars.head("Units: the share of time in which they work");
        any = true;
      }
      const std::string& name = recording.name(track.name);
      bars.begin(name.substr(0, name.find(':')));
      bars.part(mean_of(recording, i), "counter", false, "busy");
      bars.end();
    }
  }
  svg.set_height(bars.y() + 8);
  return svg;
}

Svg path_drawing(const Recording& recording) {
  Svg svg{kWidth, 0};
  svg.describe("The parts of the critical path");
  std::map<std::string, std::uint64_t> parts;
  std::uint64_t whole = 0;
  for (const Slice& slice : recording.slices) {
    if (slice.kind == SliceKind::kPath) {
      parts[recording.name(slice.name)] += slice.end - slice.begin;
      whole += slice.end - slice.begin;
    }
  }
  if (whole == 0) {
    return svg;
  }
  std::vector<std::pair<std::uint64_t, std::string>> rows;
  for (const auto& [name, time] : parts) {
    rows.emplace_back(time, name);
  }
  std::sort(rows.rbegin(), rows.rend());
  Hues hues{recording};
  Bars bars{svg};
  bars.skip(6);
  for (const auto& [time, name] : rows) {
    bars.begin(name);
    bars.part(static_cast<double>(time) / static_cast<double>(whole),
              hue_class("c", hues.of(name)),
              false,
              std::to_string(time) + " " + unit_of(recording.clock) + "s");
    bars.end();
  }
  svg.set_height(bars.y() + 4);
  return svg;
}

Svg stages_drawing(const Recording& recording) {
  Svg svg{kWidth, 0};
  svg.describe("When the stages of each ring are full");
  const Axis axis{recording};
  Hues hues{recording};
  std::map<std::uint32_t, std::pair<std::size_t, std::size_t>> ranges;
  for (std::size_t i = 0; i < recording.slices.size(); ++i) {
    auto& range = ranges.try_emplace(recording.slices[i].track, i, i).first->second;
    range.second = i + 1;
  }
  double y = 26;
  const double top = y;
  for (const RecordedRing& ring : recording.rings) {
    if (ring.cta != recording.rings.front().cta) {
      continue;
    }
    for (std::size_t stage = 0; stage < ring.full.size(); ++stage) {
      svg.text(
          16,
          y + 11,
          shortened(recording.name(ring.name) + "[" + std::to_string(stage) + "]", kLabelColumns));
      svg.rect(kLabels, y, kWidth - kLabels - 14, 13, "none");
      const auto full = ranges.find(ring.full[stage]);
      const auto empty = ranges.find(ring.empty[stage]);
      const std::size_t count = full == ranges.end() ? 0 : full->second.second - full->second.first;
      double drawn = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const Slice& filled = recording.slices[full->second.first + i];
        std::uint64_t until = recording.end;
        if (empty != ranges.end()) {
          for (std::size_t e = empty->second.first; e < empty->second.second; ++e) {
            if (recording.slices[e].phase == filled.phase) {
              until = recording.slices[e].end;
              break;
            }
          }
        }
        const double from = axis.at(filled.end);
        const double to = axis.at(until);
        if (to <= drawn + 0.3) {
          continue;
        }
        svg.rect(from,
                 y,
                 std::max(to - from, 0.7),
                 13,
                 hue_class("c", hues.of(recording, filled)),
                 "full, phase " + std::to_string(filled.phase));
        drawn = to;
      }
      y += 17;
    }
    y += 8;
  }
  Svg grid{kWidth, 0};
  axis.draw(grid, top, y, unit_of(recording.clock));
  svg.to_back(grid);
  y += recording.rings.empty() ? 0 : draw_others(svg, recording, y);
  svg.set_height(recording.rings.empty() ? 0 : y + 4);
  return svg;
}

Svg timeline_drawing(const Recording& recording) {
  Svg svg{kWidth, 0};
  svg.describe("Timeline of " + title_of(recording));
  const Axis axis{recording};
  Hues hues{recording};
  std::size_t slice = 0;
  std::size_t sample = 0;
  double y = 26;
  const std::uint32_t cta = pictured_cta(recording);
  for (std::uint32_t i = 0; i < recording.tracks.size(); ++i) {
    const Track& track = recording.tracks[i];
    const std::size_t first = slice;
    const std::size_t first_sample = sample;
    while (slice < recording.slices.size() && recording.slices[slice].track == i) {
      ++slice;
    }
    while (sample < recording.samples.size() && recording.samples[sample].track == i) {
      ++sample;
    }
    const bool counter = track.kind == TrackKind::kCounter;
    if ((track.cta != kNoCta && track.cta != cta) ||
        (counter ? first_sample == sample : first == slice)) {
      continue;
    }
    const double height = track.kind == TrackKind::kWarp ? 17 : counter ? 22 : 13;
    std::string label = recording.name(track.name);
    label = track.role == 0 ? label : recording.name(track.role) + ": " + label;
    svg.text(16, y + height / 2 + 4, shortened(label, kLabelColumns), "s");
    if (counter) {
      draw_counter(svg, recording, first_sample, sample, axis, y, height);
    } else {
      draw_track(svg, recording, first, slice, axis, y, height, hues);
    }
    y += height + 4;
  }
  Svg grid{kWidth, 0};
  axis.draw(grid, 26, y, unit_of(recording.clock));
  svg.to_back(grid);
  y += draw_others(svg, recording, y);
  svg.set_height(y + 6);
  return svg;
}

std::vector<std::string> drawing_names() {
  return {"timeline", "pipeline", "stages", "time", "path", "waits"};
}

Svg drawing_of(const std::string& name, const Recording& recording) {
  Svg svg = name == "timeline"   ? timeline_drawing(recording)
            : name == "pipeline" ? pipeline_drawing(recording)
            : name == "stages"   ? stages_drawing(recording)
            : name == "time"     ? time_drawing(recording)
            : name == "path"     ? path_drawing(recording)
                                 : waits_drawing(recording);
  if (svg.empty()) {
    throw ConfigError("there is nothing for the picture '" + name + "': the run has none");
  }
  return svg;
}

void write_drawing(const Svg& svg, const std::string& path) {
  const std::filesystem::path file{path};
  if (file.extension() != ".svg" && file.extension() != ".png") {
    throw ConfigError("a picture goes to a file that ends with .svg or .png, not '" + path + "'");
  }
  if (file.extension() == ".svg") {
    std::ofstream out{path, std::ios::binary};
    out << svg.alone();
    out.close();
    if (!out) {
      throw ConfigError(path + " cannot be written");
    }
    return;
  }
  write_through("rsvg-convert --zoom 2 --format png", svg.alone(), path, "librsvg2-bin");
}

}  // namespace warptwin::sim
