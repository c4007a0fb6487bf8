#include "sim/pictures/payload.hpp"

#include <bit>
#include <map>
#include <tuple>
#include <zlib.h>

#include "common/kernel/scenario.hpp"
#include "common/trace/words.hpp"

#include "sim/pictures/hues.hpp"

namespace warptwin::sim {

namespace {

using Json = nlohmann::json;
using Words = std::vector<std::uint32_t>;

std::string base64_of(const std::vector<unsigned char>& bytes) {
  constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve(bytes.size() / 3 * 4 + 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t at) {
      return i + at < bytes.size() ? std::uint32_t{bytes[i + at]} : 0U;
    };
    const std::uint32_t three = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (std::uint32_t digit = 0; digit < 4; ++digit) {
      text.push_back(i + digit > bytes.size() ? '=' : kDigits[three >> (18 - 6 * digit) & 0x3FU]);
    }
  }
  return text;
}

std::string packed_words(const Words& words) {
  uLongf size = compressBound(words.size() * sizeof(std::uint32_t));
  std::vector<unsigned char> bytes(size);
  static_assert(std::endian::native == std::endian::little, "the page reads little-endian words");
  const int code = compress2(bytes.data(),
                             &size,
                             reinterpret_cast<const Bytef*>(words.data()),
                             words.size() * sizeof(std::uint32_t),
                             6);
  if (code != Z_OK) {
    throw ConfigError("the page's data cannot be deflated");
  }
  bytes.resize(size);
  return base64_of(bytes);
}

class Packer {
 public:
  explicit Packer(const Recording& recording) : recording_{recording}, hues_{recording} {}

  Json pack() {
    Json info{{"title", title_of(recording_)},
              {"ending", recording_.ending},
              {"clock", unit_of(recording_.clock)},
              {"start", recording_.window.begin},
              {"end", std::min(recording_.end, recording_.window.end)},
              {"slices", recording_.slices.size()},
              {"flows", recording_.flows.size()},
              {"samples", recording_.samples.size()},
              {"notes", left_out_of(recording_)},
              {"counted", counted()}};
    info["tracks"] = tracks();
    add_stages(info);
    Words words = slice_columns();
    info["kinds"] = kinds_;
    add_flows(words);
    add_samples(words);
    info["words"] = packed_words(words);
    info["marks"] = Json::array();
    for (const Mark& mark : recording_.marks) {
      info["marks"].push_back({{"time", mark.time},
                               {"track", mark.track},
                               {"name", recording_.name(mark.name)},
                               {"text", recording_.name(mark.text)}});
    }
    return info;
  }

 private:
  static std::uint32_t fits(std::uint64_t value) {
    if (value > ~std::uint32_t{0}) {
      throw ConfigError("the run is too long for a page: show a part of it, with --window");
    }
    return static_cast<std::uint32_t>(value);
  }

  std::string counted() const {
    constexpr const char* kWords[] = {"operation", "wait", "asynchronous operation", "phase"};
    std::string text;
    for (std::size_t kind = 0; kind < std::size(kWords); ++kind) {
      text += (kind == 0 ? "" : ", ") + plural(recording_.counts[kind].kept(), kWords[kind]);
    }
    return text;
  }

  // Of each track where its slices, or its samples, stand.
  Json tracks() {
    std::vector<std::pair<std::size_t, std::size_t>> ranges(recording_.tracks.size());
    const auto count = [&](const auto& rows, bool counters) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        auto& [first, number] = ranges[rows[i].track];
        if ((recording_.tracks[rows[i].track].kind == TrackKind::kCounter) == counters) {
          first = number++ == 0 ? i : first;
        }
      }
    };
    count(recording_.slices, false);
    count(recording_.samples, true);
    Json all = Json::array();
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const Track& track = recording_.tracks[i];
      const std::string& name = recording_.name(track.name);
      const bool barrier = track.kind == TrackKind::kBarrier;
      all.push_back({{"kind", track.kind},
                     {"name", name},
                     {"short", track.kind == TrackKind::kUnit && track.number != 0 ? "" : name},
                     {"label", label_of(recording_, track)},
                     {"role", recording_.name(track.role)},
                     {"unit", recording_.name(track.unit)},
                     {"group", heading_of(track.cta, group_of(track.kind))},
                     {"hue", barrier ? hues_.of(array_of(name)) : 0},
                     {"first", ranges[i].first},
                     {"count", ranges[i].second}});
    }
    return all;
  }

  static std::string heading_of(std::uint32_t cta, const std::string& what) {
    return (cta == kNoCta ? "" : "cta " + std::to_string(cta) + ": ") + what;
  }

  // Rows of stages, below the warps of their CTA; and the order of all rows.
  void add_stages(Json& info) {
    Json& tracks = info["tracks"];
    const std::size_t real = recording_.tracks.size();
    std::map<std::uint32_t, std::vector<std::size_t>> of_cta;
    for (const RecordedRing& ring : recording_.rings) {
      Json stages = Json::array();
      const std::string& name = recording_.name(ring.name);
      for (std::size_t i = 0; i < ring.full.size(); ++i) {
        stages.push_back({{"name", name + "[" + std::to_string(i) + "]"},
                          {"full", ring.full[i]},
                          {"empty", ring.empty[i]}});
      }
      of_cta[ring.cta].push_back(tracks.size());
      tracks.push_back({{"kind", TrackKind::kUnit},
                        {"name", name},
                        {"short", name},
                        {"label", name + " of cta " + std::to_string(ring.cta)},
                        {"role", ""},
                        {"unit", ""},
                        {"group", heading_of(ring.cta, "stages that are full")},
                        {"hue", 0},
                        {"first", 0},
                        {"count", 0},
                        {"stages", stages}});
    }
    Json order = Json::array();
    for (std::size_t i = 0; i < real; ++i) {
      order.push_back(i);
      const Track& track = recording_.tracks[i];
      const bool last_warp = track.kind == TrackKind::kWarp &&
                             (i + 1 == real || recording_.tracks[i + 1].kind != TrackKind::kWarp ||
                              recording_.tracks[i + 1].cta != track.cta);
      if (last_warp) {
        for (const std::size_t ring : of_cta[track.cta]) {
          order.push_back(ring);
        }
      }
    }
    info["order"] = std::move(order);
  }

  std::uint32_t kind_of(const Slice& slice) {
    const bool named = slice.kind != SliceKind::kPhase;
    const auto key = std::tuple{slice.kind,
                                named ? slice.name : 0,
                                slice.object,
                                slice.site,
                                slice.barrier,
                                slice.bytes,
                                slice.count,
                                slice.unfinished};
    const auto [found, is_new] = known_.try_emplace(key, static_cast<std::uint32_t>(kinds_.size()));
    if (is_new) {
      kinds_.push_back({{"kind", slice.kind},
                        {"name", named ? recording_.name(slice.name) : "phase"},
                        {"object", recording_.name(slice.object)},
                        {"site", recording_.name(slice.site)},
                        {"barrier", slice.barrier},
                        {"bytes", slice.bytes},
                        {"count", slice.count},
                        {"unfinished", slice.unfinished}});
      if (slice.kind == SliceKind::kPath) {
        kinds_.back()["part"] = hues_.of(recording_.name(slice.name));
      }
    }
    return found->second;
  }

  Words slice_columns() {
    const std::size_t n = recording_.slices.size();
    Words words(4 * n);
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const Slice& slice = recording_.slices[i];
      const bool first = i == 0 || recording_.slices[i - 1].track != slice.track;
      words[i] = fits(slice.begin - (first ? 0 : before));
      before = slice.begin;
      words[n + i] = fits(slice.end - slice.begin);
      words[2 * n + i] = kind_of(slice);
      words[3 * n + i] = slice.phase;
    }
    return words;
  }

  void add_flows(Words& words) const {
    std::uint32_t before = 0;
    for (const Flow& flow : recording_.flows) {
      words.push_back(flow.from - before);
      before = flow.from;
    }
    for (const Flow& flow : recording_.flows) {
      words.push_back(flow.to);
    }
    for (const Flow& flow : recording_.flows) {
      words.push_back(static_cast<std::uint32_t>(flow.kind));
    }
  }

  void add_samples(Words& words) const {
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < recording_.samples.size(); ++i) {
      const Sample& sample = recording_.samples[i];
      const bool first = i == 0 || recording_.samples[i - 1].track != sample.track;
      words.push_back(fits(sample.time - (first ? 0 : before)));
      before = sample.time;
      words.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(sample.value)));
    }
  }

  const Recording& recording_;
  Hues hues_;
  Json kinds_ = Json::array();
  std::map<std::tuple<SliceKind,
                      std::uint32_t,
                      std::uint32_t,
                      std::uint32_t,
                      std::uint32_t,
                      std::uint32_t,
                      std::uint32_t,
                      bool>,
           std::uint32_t>
      known_;
};

}  // namespace

Json payload_of(const Recording& recording) {
  return Packer{recording}.pack();
}

}  // namespace warptwin::sim
