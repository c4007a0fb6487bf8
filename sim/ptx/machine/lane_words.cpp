#include "sim/ptx/machine/lane_words.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace warptwin::ptx {

namespace {

constexpr std::uint32_t kWord = 4;

std::uint32_t first_of(std::uint32_t lanes) {
  return static_cast<std::uint32_t>(std::countr_zero(lanes));
}

}  // namespace

std::optional<sim::LaneRace> LaneWords::access(const sim::LaneAccess& access,
                                               std::uint32_t rank,
                                               bool store,
                                               SourceSite site) {
  std::optional<sim::LaneRace> race;
  if (access.bytes % kWord != 0) {
    return race;
  }
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const std::uint32_t lane = first_of(left);
    const std::uint32_t bit = 1U << lane;
    for (std::uint32_t at = 0; at < access.bytes; at += kWord) {
      const auto address = static_cast<std::uint32_t>(access.address[lane]) + at;
      const std::uint32_t place = rank << 24 | address;
      std::uint32_t value = 0;
      if (store) {
        std::memcpy(&value, &access.data[std::size_t{lane} * access.bytes + at], kWord);
      }
      // Of what others have done, what this lane does not know.
      const auto meet = [&](const Word& word, std::uint32_t known) {
        const bool again = store && word.value == value;
        const std::uint32_t writers = again ? 0 : word.writers & ~known;
        const std::uint32_t readers = store ? word.readers & ~known : 0;
        if (!race && (writers | readers) != 0) {
          race = {first_of(writers != 0 ? writers : readers),
                  lane,
                  writers != 0,
                  address,
                  writers != 0 ? word.written : word.read};
        }
      };
      for (const Layer& layer : layers_) {
        const auto word = layer.words.find(place);
        if (word != layer.words.end()) {
          meet(word->second, layer.known[lane]);
        }
      }
      Word& word = words_[place];
      meet(word, bit);
      if (store) {
        word.writers = word.value == value ? word.writers | bit : bit;
        word.value = value;
        word.written = site;
      } else {
        word.readers |= bit;
        word.read = site;
      }
    }
  }
  return race;
}

void LaneWords::meet(std::uint32_t lanes, bool all) {
  if (all) {
    words_.clear();
    layers_.clear();
    return;
  }
  close();
  for (Layer& layer : layers_) {
    std::uint32_t known = 0;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      known |= layer.known[first_of(left)];
    }
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      layer.known[first_of(left)] = known;
    }
  }
  forget();
}

void LaneWords::learn(std::uint32_t lanes, bool all) {
  if (all) {
    meet(lanes, true);
    return;
  }
  close();
  for (Layer& layer : layers_) {
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      layer.known[first_of(left)] = ~std::uint32_t{0};
    }
  }
  forget();
}

void LaneWords::close() {
  if (words_.empty()) {
    return;
  }
  Layer& layer = layers_.emplace_back();
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    layer.known[lane] = 1U << lane;
  }
  layer.words = std::exchange(words_, {});
}

// Layers of which each lane knows the same are one: where two differ in a word's value, both stand
// as a write that no later one repeats.
void LaneWords::forget() {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    for (std::size_t j = layers_.size(); --j > i;) {
      if (layers_[i].known != layers_[j].known) {
        continue;
      }
      for (const auto& [place, word] : layers_[j].words) {
        Word& kept = layers_[i].words[place];
        const std::uint32_t readers = kept.readers | word.readers;
        const std::uint32_t writers = kept.writers | word.writers;
        if (word.writers != 0 || kept.writers == 0) {
          kept = word;
        }
        kept.readers = readers;
        kept.writers = writers;
      }
      layers_.erase(layers_.begin() + static_cast<std::ptrdiff_t>(j));
    }
  }
}

}  // namespace warptwin::ptx
