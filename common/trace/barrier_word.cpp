#include "common/trace/barrier_word.hpp"

#include <charconv>
#include <cstdlib>
#include <stdexcept>

#include "common/trace/words.hpp"

namespace warptwin {

namespace {

std::string range_of(std::size_t first, std::size_t last) {
  return first == last ? std::to_string(first)
                       : std::to_string(first) + " to " + std::to_string(last);
}

}  // namespace

std::string missing_of(std::uint32_t pending, std::uint32_t expected, std::int64_t tx) {
  std::string missing;
  if (pending != 0) {
    missing = plural(pending, "arrival") + " of " + std::to_string(expected);
  }
  if (tx > 0) {
    missing += (missing.empty() ? "" : " and ") + plural(static_cast<std::uint64_t>(tx), "byte");
  }
  return "lacks " + (missing.empty() ? std::string{"nothing"} : missing);
}

std::string missing_of(const BarrierWord& word) {
  std::string text = missing_of(word.pending, word.expected, word.tx);
  if (word.tx < 0) {
    text += ", with " + plural(static_cast<std::uint64_t>(-std::int64_t{word.tx}), "byte") +
            " more than announced";
  }
  return text;
}

std::string sentence_of(const BarrierWord& word) {
  if (word.bits() == 0) {
    return "all zero: no mbarrier was initialised here, or its word still lies in the unit that "
           "counts";
  }
  if (!word.is_possible()) {
    return std::string{"no state of an mbarrier: "} +
           (word.unknown != 0 ? "bits 0 and 42 are 0 in every word seen"
            : word.expected == 0
                ? "it expects no arrivals"
                : (word.pending > word.expected ? "more arrivals are pending than expected"
                                                : "nothing is missing, and the phase is open"));
  }
  const bool untouched = word.pending == word.expected && word.tx == 0;
  std::string text = std::string{"an "} + (word.parity == 0 ? "even" : "odd") + " phase is open, ";
  text += untouched ? "and nothing has happened in it: it " : "and it ";
  text += missing_of(word) + "; a wait for parity " + std::to_string(word.parity) +
          " blocks, one for parity " + std::to_string(1 - word.parity) + " passes";
  return text;
}

std::string sentence_of_ring(std::span<const BarrierWord> words) {
  if (words.size() < 2) {
    return "";
  }
  std::size_t changes = 0;
  std::size_t at = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].parity != words[i - 1].parity) {
      ++changes;
      at = i;
    }
  }
  if (changes == 0) {
    return "all " + std::to_string(words.size()) + " are in phases of parity " +
           std::to_string(words[0].parity) + ": whoever completes them stands at stage 0";
  }
  if (changes == 1) {
    return "parity " + std::to_string(words[0].parity) + " at " + range_of(0, at - 1) +
           ", parity " + std::to_string(words[at].parity) + " at " +
           range_of(at, words.size() - 1) + ": whoever completes them stands at stage " +
           std::to_string(at);
  }
  return "the parities change " + std::to_string(changes) +
         " times round the ring: no ring that is used in order looks like this";
}

std::uint64_t parse_barrier_word(const std::string& text) {
  const bool prefixed = text.starts_with("0x") || text.starts_with("0X");
  const bool hexadecimal = prefixed || text.size() == 16;
  const char* const first = text.data() + (prefixed ? 2 : 0);
  const char* const last = text.data() + text.size();
  std::uint64_t word = 0;
  const auto [end, error] = std::from_chars(first, last, word, hexadecimal ? 16 : 10);
  if (error == std::errc::result_out_of_range) {
    throw std::invalid_argument("'" + text + "' has more than 64 bits");
  }
  if (error != std::errc{} || end != last) {
    throw std::invalid_argument(
        "'" + text + "' is no 64-bit word; write it as 0x7ffff800001ffffe, or in decimal");
  }
  return word;
}

}  // namespace warptwin
