/// The 64 bits of an mbarrier, as an H200 keeps them; PTX calls them opaque.
///
/// Measured on an H200 (sm_90a, driver 580.159.04) by tests/hw/mbarrier_words.cu:
///   bit  0        0 in every word seen
///   bits 1..20    minus the expected arrivals
///   bits 21..41   minus the tx-count, signed
///   bit  42       0 in every word seen
///   bits 43..62   minus the pending arrivals
///   bit  63       parity of the current phase
/// A live word lies in the unit that counts: a plain load finds what shared memory held before.
/// `mbarrier.inval` writes it back, and takes nothing from it.

#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace warptwin {

/// A word, taken apart.
struct BarrierWord {
  std::uint32_t parity = 0;
  std::uint32_t pending = 0;
  std::uint32_t expected = 0;
  std::int32_t tx = 0;        // announced bytes that have not arrived; less than 0: the reverse
  std::uint64_t unknown = 0;  // the two bits that were 0 in every word seen

  static constexpr std::uint64_t kUnknownBits = (std::uint64_t{1} << 42) | 1U;

  static constexpr BarrierWord of(std::uint64_t word) {
    constexpr std::uint32_t kCountMask = (1U << 20) - 1;
    const auto minus_tx = static_cast<std::int32_t>(word >> 10) >> 11;  // bit 41 is the sign
    return {static_cast<std::uint32_t>(word >> 63),
            -static_cast<std::uint32_t>(word >> 43) & kCountMask,
            -static_cast<std::uint32_t>(word >> 1) & kCountMask,
            -minus_tx,
            word & kUnknownBits};
  }
  constexpr std::uint64_t bits() const {
    constexpr std::uint64_t kCountMask = (std::uint64_t{1} << 20) - 1;
    constexpr std::uint64_t kTxMask = (std::uint64_t{1} << 21) - 1;
    return std::uint64_t{parity} << 63 | (-std::uint64_t{pending} & kCountMask) << 43 |
           (static_cast<std::uint64_t>(-std::int64_t{tx}) & kTxMask) << 21 |
           (-std::uint64_t{expected} & kCountMask) << 1 | unknown;
  }

  /// Such a word was never seen, and no operation makes it.
  constexpr bool is_possible() const {
    return unknown == 0 && expected != 0 && pending <= expected && (pending != 0 || tx != 0);
  }

  friend constexpr bool operator==(const BarrierWord&, const BarrierWord&) = default;
};

/// "lacks 1 arrival of 2 and 4096 bytes": what a phase waits for. Bytes less than 0 are not told.
std::string missing_of(std::uint32_t pending, std::uint32_t expected, std::int64_t tx);

/// The same of the current phase, and what came unannounced.
std::string missing_of(const BarrierWord& word);

/// A sentence: the phase, what it lacks, what is odd about the word.
std::string sentence_of(const BarrierWord& word);

/// What the parities of a ring's barriers say together; empty for fewer than two words.
std::string sentence_of_ring(std::span<const BarrierWord> words);

/// The word that `text` writes: hexadecimal with 0x or with 16 digits, else decimal.
///
/// Throws std::invalid_argument, which says what is wrong with the text.
std::uint64_t parse_barrier_word(const std::string& text);

}  // namespace warptwin
