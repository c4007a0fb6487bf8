#include "sim/ptx/machine/lane_words.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace warptwin::ptx {

namespace {

constexpr std::uint32_t kWord = 4;
constexpr std::uint32_t kByteBits = 8;
constexpr std::size_t kLayersMax = 16;

std::uint32_t first_of(std::uint32_t lanes) {
  return static_cast<std::uint32_t>(std::countr_zero(lanes));
}

}  // namespace

// The word that begins at byte `first` of what the lane touches, or that byte.
LaneWords::Piece LaneWords::piece_of(const sim::LaneAccess& access,
                                     std::uint64_t base,
                                     Touch touch,
                                     std::uint32_t lane,
                                     std::uint32_t first) {
  Piece piece{lane, base + access.address[lane] + first, 1, 0, false, touch};
  piece.size = static_cast<std::uint8_t>(std::min<std::uint32_t>(access.bytes, Word::kSizes));
  if (piece.address % kWord == 0 && first + kWord <= access.bytes) {
    piece.bytes = kWord;
  }
  if (touch == Touch::kStore) {
    const std::size_t at = std::size_t{lane} * access.bytes + first;
    std::memcpy(&piece.value, &access.data[at], piece.bytes);
    std::uint32_t poison = 0;
    std::memcpy(&poison, &access.poison[at], piece.bytes);
    piece.unknown = poison != 0;
  }
  return piece;
}

void LaneWords::Word::note_size(std::uint8_t bytes) {
  size = size == 0 || size == bytes ? bytes : kSizes;
}

// Of what others have done to the word, whose byte `shift` / 8 is the piece's first, what the
// piece's lane does not know. `strong`: the word is of strong accesses, and so is the piece. Two of
// these that "overlap" have to do so "completely" (PTX ISA, "Morally Strong").
void LaneWords::meet_word(const Word& word,
                          const Piece& piece,
                          std::uint32_t shift,
                          std::uint32_t known,
                          bool strong,
                          std::optional<sim::LaneRace>& race) const {
  if (((word.writers | word.adders | word.readers) & ~known) == 0) {
    return;
  }
  strong = strong && word.size == piece.size;
  const bool store = piece.touch == Touch::kStore;
  const bool adds = piece.touch == Touch::kAdd;
  const bool changes =
      store || adds || piece.touch == Touch::kStrongStore || piece.touch == Touch::kInit;
  const std::uint32_t mask = piece.bytes == kWord ? ~0U : 0xFFU;
  const bool again = store && !word.unknown && !piece.unknown && !word.several &&
                     ((word.value >> shift) & mask) == (piece.value & mask);
  const bool atomic = adds && strong;
  const std::uint32_t writers =
      (again ? 0 : word.writers & ~known) | (atomic ? 0 : word.adders & ~known);
  const std::uint32_t readers = changes ? word.readers & ~known : 0;
  if ((writers | readers) == 0 || (race && (strong || !race->strong))) {
    return;
  }
  sim::LaneRace found;
  found.first = first_of(writers != 0 ? writers : readers);
  found.second = piece.lane;
  found.first_wrote = writers != 0;
  found.second_writes = changes;
  found.global = (piece.address & kGlobal) != 0;
  found.by_value = store && writers != 0 && (word.unknown || piece.unknown);
  found.strong = strong;
  found.address = piece.address & ~kGlobal;
  found.site = sites_[writers != 0 ? word.written : word.read];
  race = found;
}

inline void LaneWords::note_store(
    Word& word, std::uint32_t lane, std::uint32_t value, bool unknown, std::uint32_t site) {
  const std::uint32_t bit = 1U << lane;
  const bool again = word.value == value && !word.unknown && !unknown;
  word.several = word.several || (word.writers != 0 && !again);
  word.writers = again ? word.writers | bit : bit;
  word.value = value;
  word.unknown = unknown;
  word.written = site;
}

void LaneWords::note(Word& word, const Piece& piece, std::uint32_t site) {
  const std::uint32_t bit = 1U << piece.lane;
  switch (piece.touch) {
    case Touch::kInit:
      return;           // not noted
    case Touch::kLoad:  // note_reads
    case Touch::kStrongLoad:
      word.readers |= bit;
      word.read = site;
      return;
    case Touch::kAdd:
      word.adders |= bit;
      word.written = site;
      return;
    case Touch::kStrongStore:
      word.writers |= bit;
      word.unknown = true;
      word.written = site;
      return;
    case Touch::kStore:
      break;
  }
  note_store(word, piece.lane, piece.value, piece.unknown, site);
}

// Whether nobody else has touched the word: most are.
inline bool LaneWords::is_quiet(const Touched& touched, const Piece& piece, std::uint32_t known) {
  if (piece.bytes != kWord || !touched.bytes.empty() || !touched.strong.empty()) {
    return false;
  }
  const Word* word = touched.words.find(piece.address);
  if (word != nullptr && ((word->writers | word->adders | word->readers) & ~known) != 0) {
    return false;
  }
  if (piece.touch == Touch::kLoad) {
    return true;
  }
  const Reads* block = touched.reads.find(piece.address / Reads::kBytes);
  if (block == nullptr) {
    return true;
  }
  const std::uint32_t* readers = &block->lanes[piece.address % Reads::kBytes];
  return ((readers[0] | readers[1] | readers[2] | readers[3]) & ~known) == 0;
}

// Those of the lanes that touch whole words, side by side in one line, which no other lane has
// touched that the lane does not know. `known`: by lane, whose it knows.
std::uint32_t LaneWords::quiet_lanes(const Touched& touched,
                                     const sim::LaneAccess& access,
                                     std::uint64_t base,
                                     bool store,
                                     std::uint32_t lanes,
                                     const std::array<std::uint32_t, kLanes>& known) {
  static const Words<kWord>::Line kNothing{};
  static const Reads kNobody{};
  if (!touched.bytes.empty() || !touched.strong.empty()) {
    return 0;
  }
  const bool read = store && !touched.reads.empty();
  const std::uint32_t words = access.bytes / kWord;
  std::uint64_t line_number = ~std::uint64_t{0};
  std::uint64_t block_number = line_number;
  const Words<kWord>::Line* line = nullptr;
  const Reads* block = nullptr;
  std::uint32_t quiet = 0;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const std::uint32_t lane = first_of(left);
    const std::uint64_t address = base + access.address[lane];
    const std::uint32_t place = Words<kWord>::place_of(address);
    if (address % kWord != 0 || place + words > Words<kWord>::kPlaces) {
      continue;
    }
    if (address / Words<kWord>::kBytes != line_number) {
      line_number = address / Words<kWord>::kBytes;
      line = touched.words.line(line_number);
      line = line == nullptr ? &kNothing : line;
    }
    std::uint32_t others = 0;
    for (std::uint32_t at = place; at < place + words; ++at) {
      others |= line->of[at].writers | line->of[at].adders | line->of[at].readers;
    }
    for (std::uint64_t byte = address; read && byte < address + access.bytes; byte += kWord) {
      if (byte / Reads::kBytes != block_number) {
        block_number = byte / Reads::kBytes;
        block = touched.reads.find(block_number);
        block = block == nullptr ? &kNobody : block;
      }
      const std::uint32_t* readers = &block->lanes[byte % Reads::kBytes];
      others |= readers[0] | readers[1] | readers[2] | readers[3];
    }
    quiet |= std::uint32_t{(others & ~known[lane]) == 0} << lane;
  }
  return quiet;
}

// The lanes whose words nobody else has touched: most are. Of stores none where two lanes may store
// to one word.
std::uint32_t LaneWords::quiet_lanes(const sim::LaneAccess& access,
                                     std::uint64_t base,
                                     bool store) const {
  static constexpr auto kOwn = [] {
    std::array<std::uint32_t, kLanes> own{};
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      own[lane] = 1U << lane;
    }
    return own;
  }();
  if (access.bytes % kWord != 0) {
    return 0;
  }
  std::uint64_t end = 0;
  for (std::uint32_t left = store ? access.mask : 0; left != 0; left &= left - 1) {
    const std::uint64_t address = access.address[first_of(left)];
    if (address < end) {
      return 0;
    }
    end = address + access.bytes;
  }
  std::uint32_t lanes = access.mask;
  for (const Layer& layer : layers_) {
    lanes = quiet_lanes(layer.touched, access, base, store, lanes, layer.known);
  }
  return quiet_lanes(touched_, access, base, store, lanes, kOwn);
}

// What the lanes store, each to words of its own, side by side in one line.
void LaneWords::note_stores(const sim::LaneAccess& access,
                            std::uint64_t base,
                            std::uint32_t lanes,
                            std::uint32_t site) {
  const std::uint32_t words = access.bytes / kWord;
  std::uint64_t line_number = 0;
  Words<kWord>::Line* line = nullptr;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const std::uint32_t lane = first_of(left);
    const std::uint64_t address = base + access.address[lane];
    if (line == nullptr || address / Words<kWord>::kBytes != line_number) {
      line_number = address / Words<kWord>::kBytes;
      line = &touched_.words.add_line(line_number);
    }
    Word* word = line->add(Words<kWord>::place_of(address), words);
    const std::byte* data = &access.data[std::size_t{lane} * access.bytes];
    const std::uint8_t* poison = &access.poison[std::size_t{lane} * access.bytes];
    for (std::uint32_t at = 0; at < words; ++at) {
      std::uint32_t value = 0;
      std::uint32_t unknown = 0;
      std::memcpy(&value, data + at * kWord, kWord);
      std::memcpy(&unknown, poison + at * kWord, kWord);
      note_store(word[at], lane, value, unknown != 0, site);
    }
  }
}

void LaneWords::compare(const Touched& touched,
                        const Piece& piece,
                        std::uint32_t known,
                        std::optional<sim::LaneRace>& race) const {
  const bool reads = piece.touch == Touch::kLoad || piece.touch == Touch::kStrongLoad;
  if (reads && !touched.written) {
    return;
  }
  const bool strong = piece.touch == Touch::kStrongLoad || piece.touch == Touch::kStrongStore ||
                      piece.touch == Touch::kAdd;
  const auto look = [&](const auto& words, std::uint64_t address, const Piece& at, bool both) {
    if (const Word* word = words.find(address)) {
      const auto shift = static_cast<std::uint32_t>(at.address - address) * kByteBits;
      meet_word(*word, at, shift, known, both, race);
    }
  };
  look(touched.words, piece.address & ~std::uint64_t{kWord - 1}, piece, false);
  if (!reads) {
    if (const Reads* block = touched.reads.find(piece.address / Reads::kBytes)) {
      Word read;
      read.read = block->site;
      for (std::uint32_t byte = 0; byte < piece.bytes; ++byte) {
        read.readers |= block->lanes[piece.address % Reads::kBytes + byte];
      }
      meet_word(read, piece, 0, known, false, race);
    }
  }
  if (touched.bytes.empty() && touched.strong.empty()) {
    return;
  }
  for (std::uint32_t byte = 0; byte < piece.bytes; ++byte) {
    Piece one = piece;
    one.address += byte;
    one.bytes = 1;
    one.value = piece.value >> (byte * kByteBits) & 0xFFU;
    look(touched.bytes, one.address, one, false);
    look(touched.strong, one.address, one, strong);
  }
}

std::uint32_t LaneWords::number_of(const SourceSite& site) {
  const auto is_it = [&site](const SourceSite& known) {
    return known.file == site.file && known.line == site.line && known.column == site.column;
  };
  const std::uint64_t key = (reinterpret_cast<std::uintptr_t>(site.file) << 16) ^
                            (std::uint64_t{site.line} << 8) ^ site.column;
  const std::uint32_t* number = site_numbers_.find(key);
  if (number != nullptr && is_it(sites_[*number])) {
    return *number;
  }
  const auto known = std::find_if(sites_.begin(), sites_.end(), is_it);
  const auto place = static_cast<std::uint32_t>(known - sites_.begin());
  if (known == sites_.end()) {
    sites_.push_back(site);
  }
  if (number == nullptr) {
    site_numbers_[key] = place;
  }
  return place;
}

void LaneWords::note_reads(const sim::LaneAccess& access, std::uint64_t base, std::uint32_t site) {
  std::uint64_t last = 0;
  Reads* block = nullptr;
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const std::uint32_t lane = first_of(left);
    std::uint64_t address = base + access.address[lane];
    for (std::uint32_t bytes = access.bytes; bytes != 0;) {
      if (block == nullptr || address / Reads::kBytes != last) {
        last = address / Reads::kBytes;
        block = &touched_.reads[last];
        block->site = site;
      }
      const std::uint64_t place = address % Reads::kBytes;
      const std::uint32_t count = place % kWord == 0 && bytes >= kWord ? kWord : 1;
      std::uint32_t* readers = &block->lanes[place];
      if (count == kWord) {
        for (std::uint32_t byte = 0; byte < kWord; ++byte) {
          readers[byte] |= 1U << lane;
        }
      } else {
        *readers |= 1U << lane;
      }
      address += count;
      bytes -= count;
    }
  }
}

std::optional<sim::LaneRace> LaneWords::access(const sim::LaneAccess& access,
                                               std::uint64_t base,
                                               Touch touch,
                                               SourceSite site) {
  std::optional<sim::LaneRace> race;
  const std::uint32_t number = number_of(site);
  touched_at_ = now() + 1;  // the operation that comes
  touched_by_ |= access.mask;
  if (touch == Touch::kLoad) {
    note_reads(access, base, number);
    const auto written = [](const Layer& layer) { return layer.touched.written; };
    if (!touched_.written && std::none_of(layers_.begin(), layers_.end(), written)) {
      return race;
    }
  }
  touched_.written = touched_.written || (touch != Touch::kLoad && touch != Touch::kStrongLoad &&
                                          touch != Touch::kInit);
  std::uint32_t quiet = 0;
  if (touch == Touch::kLoad || touch == Touch::kStore) {
    quiet = quiet_lanes(access, base, touch == Touch::kStore);
  }
  if (touch == Touch::kStore) {
    note_stores(access, base, quiet, number);
  }
  for (std::uint32_t left = access.mask & ~quiet; left != 0; left &= left - 1) {
    const std::uint32_t lane = first_of(left);
    for (std::uint32_t first = 0; first < access.bytes;) {
      const Piece piece = piece_of(access, base, touch, lane, first);
      first += piece.bytes;
      for (const Layer& layer : layers_) {
        if (!is_quiet(layer.touched, piece, layer.known[lane])) {
          compare(layer.touched, piece, layer.known[lane], race);
        }
      }
      if (!is_quiet(touched_, piece, 1U << lane)) {
        compare(touched_, piece, 1U << lane, race);
      }
      if (touch == Touch::kLoad || touch == Touch::kInit) {
        continue;
      }
      if (touch != Touch::kStore) {
        for (std::uint32_t byte = 0; byte < piece.bytes; ++byte) {
          Piece one = piece;
          one.address += byte;
          one.bytes = 1;
          touched_.strong[one.address].note_size(one.size);
          note(touched_.strong[one.address], one, number);
        }
      } else {
        note(piece.bytes == kWord ? touched_.words[piece.address] : touched_.bytes[piece.address],
             piece,
             number);
      }
    }
  }
  return race;
}

void LaneWords::hand_over(const sim::LaneAccess& access, std::uint64_t base, Touch touch) {
  const auto leave = [touch](auto& words, std::uint64_t address, std::uint32_t lane) {
    if (Word* word = words.find(address)) {
      word->writers &= touch == Touch::kAdd ? ~0U : ~(1U << lane);
      word->adders &= ~(1U << lane);
    }
  };
  const auto leave_all = [&](Touched& touched, std::uint64_t address, std::uint32_t lane) {
    leave(touched.words, address, lane);
    leave(touched.bytes, address, lane);
    leave(touched.strong, address, lane);
  };
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const std::uint32_t lane = first_of(left);
    for (std::uint32_t byte = 0; byte < access.bytes; ++byte) {
      leave_all(touched_, base + access.address[lane] + byte, lane);
      for (Layer& layer : layers_) {
        leave_all(layer.touched, base + access.address[lane] + byte, lane);
      }
    }
  }
}

void LaneWords::meet(std::uint32_t lanes, std::uint32_t live) {
  const auto by_them = [lanes](const Layer& layer) { return (layer.lanes & ~lanes) == 0; };
  if (lanes == live && (touched_by_ & ~lanes) == 0 &&
      std::all_of(layers_.begin(), layers_.end(), by_them)) {
    touched_.clear();
    touched_by_ = 0;
    layers_.clear();
    return;
  }
  close();
  const std::uint32_t time = now();
  for (Layer& layer : layers_) {
    std::uint32_t known = 0;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      known |= layer.known[first_of(left)];
    }
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      grow(layer, first_of(left), known, time);
    }
  }
  forget(live);
}

void LaneWords::release(std::uint32_t lanes) {
  close();
  ++releases_;
  const std::uint32_t time = now();
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    released_[first_of(left)] = time;
  }
  forget();
}

void LaneWords::learn(std::uint32_t lanes) {
  close();
  const std::uint32_t time = now();
  for (Layer& layer : layers_) {
    // Most wait together, and what comes to them is of use to all.
    const std::uint32_t to_all = brought(layer, lanes, 0);
    std::array<std::uint32_t, kLanes> known = layer.known;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      std::uint32_t& of_lane = known[first_of(left)];
      of_lane |= to_all;
      if ((layer.lanes & ~of_lane) != 0 && !std::has_single_bit(lanes)) {
        of_lane |= brought(layer, left & ~(left - 1), of_lane);
      }
    }
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      grow(layer, first_of(left), known[first_of(left)], time);
    }
  }
  forget();
}

std::uint32_t LaneWords::now() {
  return judge_ != nullptr ? judge_->now(warp_) : ++steps_;
}

// Whether what a lane has released at that time or later has come to others.
bool LaneWords::brought(std::uint32_t lanes, std::uint32_t other, std::uint32_t time) const {
  return released_[other] >= time &&
         (judge_ == nullptr || judge_->knows(warp_, lanes, other, time));
}

// Whose accesses have come to each of the lanes, besides those known: what another knew when it
// released what has come.
std::uint32_t LaneWords::brought(const Layer& layer,
                                 std::uint32_t lanes,
                                 std::uint32_t known) const {
  for (std::uint32_t left = layer.lanes & ~known; left != 0; left &= left - 1) {
    const std::uint32_t other = first_of(left);
    if (brought(lanes, other, layer.time)) {
      known |= std::uint32_t{1} << other;
    }
  }
  for (auto growth = layer.growths.rbegin(); growth != layer.growths.rend(); ++growth) {
    if ((growth->known & layer.lanes & ~known) != 0 && brought(lanes, growth->lane, growth->time)) {
      known |= growth->known;
    }
  }
  return known;
}

void LaneWords::grow(Layer& layer, std::uint32_t lane, std::uint32_t known, std::uint32_t time) {
  if (known != layer.known[lane]) {
    layer.known[lane] = known;
    layer.growths.push_back({lane, time, known});
  }
}

void LaneWords::close() {
  if (touched_.empty()) {
    return;
  }
  Layer& layer = layers_.emplace_back();
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    layer.known[lane] = 1U << lane;
  }
  layer.time = touched_at_;
  layer.releases = releases_;
  layer.lanes = std::exchange(touched_by_, 0);
  layer.touched = std::exchange(touched_, {});
}

// Where two differ in a word's value, both stand as a write that no later one repeats.
void LaneWords::join(Word& one, const Word& word) {
  const bool both = one.writers != 0 && word.writers != 0;
  const bool differs = both && (one.unknown || word.unknown || one.value != word.value);
  if ((word.writers | word.adders) != 0) {
    one.written = word.written;
  }
  one.several = one.several || word.several;
  if (word.writers != 0) {
    one.value = word.value;
    one.unknown = differs || word.unknown;
  }
  if (word.readers != 0) {
    one.read = word.read;
  }
  if (word.size != 0) {
    one.note_size(word.size);
  }
  one.adders |= word.adders;
  one.readers |= word.readers;
  one.writers |= word.writers;
}

template <std::uint32_t kUnit>
void LaneWords::join(Words<kUnit>& kept, const Words<kUnit>& more) {
  more.for_each([&](std::uint64_t address, const Word& word) {
    if (Word* one = kept.find(address)) {
      join(*one, word);
    } else {
      kept[address] = word;
    }
  });
}

// Layers of which each lane knows the same are one; one of which each that lives knows all is none.
void LaneWords::forget(std::uint32_t live) {
  std::erase_if(layers_, [live](const Layer& layer) {
    std::uint32_t lacks = 0;
    for (std::uint32_t left = live; left != 0; left &= left - 1) {
      lacks |= layer.lanes & ~layer.known[first_of(left)];
    }
    return lacks == 0;
  });
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    for (std::size_t j = layers_.size(); --j > i;) {
      Layer& one = layers_[i];
      Layer& other = layers_[j];
      // Of many, those that a release parts are one too: what it told is forgotten.
      const bool parted = one.releases != other.releases && layers_.size() <= kLayersMax;
      if (parted || one.known != other.known || one.growths != other.growths) {
        continue;
      }
      one.time = std::max(one.time, other.time);
      one.releases = std::max(one.releases, other.releases);
      one.lanes |= other.lanes;
      join(one.touched.words, other.touched.words);
      join(one.touched.bytes, other.touched.bytes);
      join(one.touched.strong, other.touched.strong);
      for (const auto& [place, reads] : other.touched.reads) {
        Reads& kept = one.touched.reads[place];
        for (std::uint32_t byte = 0; byte < Reads::kBytes; ++byte) {
          kept.lanes[byte] |= reads.lanes[byte];
        }
        kept.site = reads.site;
      }
      one.touched.written = one.touched.written || other.touched.written;
      layers_.erase(layers_.begin() + static_cast<std::ptrdiff_t>(j));
    }
  }
}

}  // namespace warptwin::ptx
