#include "sim/pictures/payload.hpp"

#include <bit>
#include <initializer_list>
#include <map>
#include <tuple>
#include <unordered_map>
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

std::string packed(const void* data, std::size_t length) {
  uLongf size = compressBound(length);
  std::vector<unsigned char> bytes(size);
  const int code = compress2(bytes.data(), &size, static_cast<const Bytef*>(data), length, 6);
  if (code != Z_OK) {
    throw ConfigError("the page's data cannot be deflated");
  }
  bytes.resize(size);
  return base64_of(bytes);
}

// Texts that columns name by number.
class Texts {
 public:
  std::uint32_t number(const std::string& text) {
    const auto [found, is_new] =
        numbers_.try_emplace(text, static_cast<std::uint32_t>(numbers_.size()));
    if (is_new) {
      all_ += text;
      all_ += '\0';
    }
    return found->second;
  }
  /// Each with a zero behind it.
  const std::string& all() const { return all_; }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::string all_;
};

// Rows of words, which are packed column by column.
class Columns {
 public:
  void add(std::initializer_list<std::uint32_t> row) {
    columns_.resize(row.size());
    std::size_t at = 0;
    for (const std::uint32_t word : row) {
      columns_[at++].push_back(word);
    }
    ++rows_;
  }
  std::size_t rows() const { return rows_; }
  void add_to(Words& words) const {
    for (const Words& column : columns_) {
      words.insert(words.end(), column.begin(), column.end());
    }
  }

 private:
  std::vector<Words> columns_;
  std::size_t rows_ = 0;
};

class Packer {
 public:
  explicit Packer(const Recording& recording) : recording_{recording}, hues_{recording} {}

  Json pack() {
    add_tracks();
    add_slices();
    add_flows();
    add_samples();
    Words words;
    for (const Columns* columns :
         {&tracks_, &stages_, &order_, &kinds_, &slices_, &flows_, &samples_}) {
      columns->add_to(words);
    }
    static_assert(std::endian::native == std::endian::little, "the page reads little-endian words");
    Json info{{"title", title_of(recording_)},
              {"ending", recording_.ending},
              {"clock", unit_of(recording_.clock)},
              {"start", recording_.window.begin},
              {"end", std::min(recording_.end, recording_.window.end)},
              {"notes", left_out_of(recording_)},
              {"counted", counted()},
              {"rows",
               {{"tracks", tracks_.rows()},
                {"stages", stages_.rows()},
                {"order", order_.rows()},
                {"kinds", kinds_.rows()},
                {"slices", slices_.rows()},
                {"flows", flows_.rows()},
                {"samples", samples_.rows()}}},
              {"words", packed(words.data(), words.size() * sizeof(std::uint32_t))},
              {"texts", packed(texts_.all().data(), texts_.all().size())},
              {"marks", Json::array()}};
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

  // Of each track where its slices, or its samples, stand. Behind the tracks stand rows for the
  // stages of rings, which are shown below the warps of their CTA.
  void add_tracks() {
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
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const Track& track = recording_.tracks[i];
      const std::string& name = recording_.name(track.name);
      const bool barrier = track.kind == TrackKind::kBarrier;
      const bool lane = track.kind == TrackKind::kUnit && track.number != 0;
      tracks_.add({static_cast<std::uint32_t>(track.kind),
                   texts_.number(name),
                   texts_.number(lane ? "" : name),
                   texts_.number(label_of(recording_, track)),
                   texts_.number(recording_.name(track.role)),
                   texts_.number(recording_.name(track.unit)),
                   texts_.number(heading_of(track.cta, group_of(track.kind))),
                   barrier ? hues_.of(array_of(name)) : 0,
                   fits(ranges[i].first),
                   fits(ranges[i].second),
                   0});
    }
    std::map<std::uint32_t, std::vector<std::uint32_t>> of_cta;
    for (const RecordedRing& ring : recording_.rings) {
      of_cta[ring.cta].push_back(fits(tracks_.rows()));
      add_ring(ring);
    }
    for (std::uint32_t i = 0; i < recording_.tracks.size(); ++i) {
      order_.add({i});
      const Track& track = recording_.tracks[i];
      const bool last_warp =
          track.kind == TrackKind::kWarp &&
          (i + 1 == recording_.tracks.size() || recording_.tracks[i + 1].kind != TrackKind::kWarp ||
           recording_.tracks[i + 1].cta != track.cta);
      if (last_warp) {
        for (const std::uint32_t ring : of_cta[track.cta]) {
          order_.add({ring});
        }
      }
    }
  }

  static std::string heading_of(std::uint32_t cta, const std::string& what) {
    return (cta == kNoCta ? "" : "cta " + std::to_string(cta) + ": ") + what;
  }

  void add_ring(const RecordedRing& ring) {
    const std::string& name = recording_.name(ring.name);
    const std::uint32_t first = fits(stages_.rows());
    for (std::size_t i = 0; i < ring.full.size(); ++i) {
      stages_.add(
          {texts_.number(name + "[" + std::to_string(i) + "]"), ring.full[i], ring.empty[i]});
    }
    const std::uint32_t none = texts_.number("");
    tracks_.add({static_cast<std::uint32_t>(TrackKind::kUnit),
                 texts_.number(name),
                 texts_.number(name),
                 texts_.number(name + " of cta " + std::to_string(ring.cta)),
                 none,
                 none,
                 texts_.number(heading_of(ring.cta, "stages that are full")),
                 0,
                 first,
                 0,
                 fits(ring.full.size())});
  }

  // What slices have in common, by number.
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
    const auto [found, is_new] = known_.try_emplace(key, fits(known_.size()));
    if (is_new) {
      const std::string& name = recording_.name(slice.name);
      kinds_.add({static_cast<std::uint32_t>(slice.kind),
                  texts_.number(named ? name : "phase"),
                  texts_.number(recording_.name(slice.object)),
                  texts_.number(recording_.name(slice.site)),
                  slice.barrier,
                  slice.bytes,
                  slice.count,
                  slice.unfinished ? 1U : 0U,
                  slice.kind == SliceKind::kPath ? hues_.of(name) : 0});
    }
    return found->second;
  }

  // Times are told from the one before on the same track.
  void add_slices() {
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < recording_.slices.size(); ++i) {
      const Slice& slice = recording_.slices[i];
      const bool first = i == 0 || recording_.slices[i - 1].track != slice.track;
      slices_.add({fits(slice.begin - (first ? 0 : before)),
                   fits(slice.end - slice.begin),
                   kind_of(slice),
                   slice.phase});
      before = slice.begin;
    }
  }

  void add_flows() {
    std::uint32_t before = 0;
    for (const Flow& flow : recording_.flows) {
      flows_.add({flow.from - before, flow.to, static_cast<std::uint32_t>(flow.kind)});
      before = flow.from;
    }
  }

  void add_samples() {
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < recording_.samples.size(); ++i) {
      const Sample& sample = recording_.samples[i];
      const bool first = i == 0 || recording_.samples[i - 1].track != sample.track;
      samples_.add({fits(sample.time - (first ? 0 : before)),
                    std::bit_cast<std::uint32_t>(static_cast<float>(sample.value))});
      before = sample.time;
    }
  }

  const Recording& recording_;
  Hues hues_;
  Texts texts_;
  Columns tracks_;
  Columns stages_;
  Columns order_;
  Columns kinds_;
  Columns slices_;
  Columns flows_;
  Columns samples_;
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
