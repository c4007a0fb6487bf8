#include "sim/cli/decode.hpp"

#include <cstdio>
#include <ostream>
#include <stdexcept>

#include "common/kernel/scenario.hpp"
#include "common/trace/barrier_word.hpp"

#include "sim/json/json_text.hpp"
#include "sim/report/json.hpp"

namespace warptwin::sim {

namespace {

std::string hexadecimal(std::uint64_t word) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(word));
  return text;
}

std::string line_of(const BarrierWord& word) {
  char text[96];
  std::snprintf(text,
                sizeof text,
                "parity %u  pending %u of %u  tx %d",
                word.parity,
                word.pending,
                word.expected,
                word.tx);
  return text;
}

Json json_of(const BarrierWord& word) {
  return {{"word", hexadecimal(word.bits())},
          {"parity", word.parity},
          {"pending", word.pending},
          {"expected", word.expected},
          {"tx", word.tx},
          {"possible", word.is_possible()},
          {"means", sentence_of(word)}};
}

}  // namespace

void decode_words(const std::vector<std::string>& words,
                  const std::string& name,
                  bool json,
                  std::ostream& out) {
  if (words.empty()) {
    throw ConfigError("decode takes mbarrier words, as in: warptwin decode 0x7ffff000001ffffc");
  }
  std::vector<BarrierWord> ring;
  for (const std::string& text : words) {
    try {
      ring.push_back(BarrierWord::of(parse_barrier_word(text)));
    } catch (const std::invalid_argument& error) {
      throw ConfigError(error.what());
    }
  }
  if (json) {
    Json all{{"words", Json::array()}, {"ring", sentence_of_ring(ring)}};
    for (const BarrierWord& word : ring) {
      all["words"].push_back(json_of(word));
    }
    out << text_of_json(all, 2) << "\n";
    return;
  }
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const std::string index = ring.size() == 1 ? "" : "[" + std::to_string(i) + "]";
    out << (name.empty() ? hexadecimal(ring[i].bits()) : name + index) << "  " << line_of(ring[i])
        << "\n    " << sentence_of(ring[i]) << "\n";
  }
  if (ring.size() > 1) {
    out << "ring: " << sentence_of_ring(ring) << "\n";
  }
}

}  // namespace warptwin::sim
