/// Words of global memory that threads add to, each asking whether it was the last of them: as the
/// blocks of a reduction do, whose last one goes on with what all have left.
///
/// Which one is last is open. In an interleaving in which thread A is last, the others are told
/// no, and A comes after all of them. So that is an interleaving of the launch in which A, behind
/// its addition, waits for the sum, and the others are told no wherever they are: whoever is last,
/// the launch is one without a choice. A run takes one thread for the last: the one that is chosen,
/// or the one that happens to be.
///
/// A word of shared memory may be counted down, and in unequal steps. What is added to it is
/// counted beside it, too: A waits for that count.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/trace/event.hpp"

namespace warptwin::sim {

/// A thread: its warp in the grid, and its lane.
struct Adder {
  std::uint32_t warp = 0;
  std::uint32_t lane = 0;
  friend auto operator<=>(const Adder&, const Adder&) = default;
};

/// Who is to be the last that adds to a word.
struct LastAdder {
  std::uint64_t address = 0;
  Adder adder{};
  friend auto operator<=>(const LastAdder&, const LastAdder&) = default;
};

/// Addresses that no global memory has: of a count beside a word of shared memory, of which nothing
/// is known outside its CTA.
inline constexpr std::uint64_t kCountOfShared = std::uint64_t{1} << 63;
constexpr bool is_count(std::uint64_t address) {
  return address >= kCountOfShared;
}

/// A thread that is about to add `step`, and asks whether the word was `asked` before.
struct LastQuestion {
  std::uint64_t address = 0;  // of the word, or of its count
  Adder adder{};
  std::uint32_t asked = 0;
  std::uint32_t step = 0;
  SourceSite site{};
  bool down = false;  // `step` is taken away

  /// What the last one leaves, where nothing begins anew.
  std::uint32_t total() const { return down ? asked - step : asked + step; }
};

/// A word, and who has added to it.
struct AddedWord {
  std::uint64_t address = 0;
  SourceSite site{};        // of the first addition
  std::uint32_t total = 0;  // what the last one leaves
  std::uint32_t step = 0;   // what the first one adds
  bool down = false;
  bool alike = true;             // all add the same
  std::uint32_t last_finds = 0;  // of the one that is told so
  std::vector<Adder> adders{};   // in the order of the run
  std::optional<Adder> last{};
  bool waits = false;                   // the last one, for the others
  bool mixed = false;                   // it is used in another way, too
  std::optional<std::uint32_t> span{};  // from what the first one finds to `total`
  std::uint64_t sum = 0;                // of what was added

  /// Whether it is known that who finds all others' additions there is told so, and nobody else:
  /// of equal steps, what they find is the same in every order.
  bool exact() const {
    return !is_count(address) || (alike && !last) || (last && span && sum == *span);
  }
};

class LastAdders {
 public:
  /// Of words that nobody names here, who is last is as it happens.
  explicit LastAdders(std::vector<LastAdder> chosen = {}) : chosen_{std::move(chosen)} {}

  /// False where who is last cannot be told so: the word is used in another way, too.
  bool asks(const LastQuestion& question);
  /// As the word is updated: what it was before.
  void finds(const LastQuestion& question, std::uint32_t found);
  /// It has found `found`. True: it is told that it was the last, and has to wait for the others.
  bool is_last(const LastQuestion& question, std::uint32_t found);
  /// A count of what is added.
  std::byte* count(std::uint64_t address);
  /// The word, if `adder` has been told so and waits.
  const AddedWord* waits_for_others(std::uint64_t address, Adder adder);
  /// The last one has waited. What it has found.
  std::uint32_t go_on(std::uint64_t address);
  /// `writer` writes the word in another way. The last one may, when it has waited.
  void update(std::uint64_t address, Adder writer);

  const std::vector<AddedWord>& words() const { return words_; }

 private:
  AddedWord* find(std::uint64_t address);

  std::vector<LastAdder> chosen_;
  std::vector<AddedWord> words_;
  std::unordered_map<std::uint64_t, std::size_t> numbers_;  // of words, by their addresses
  std::unordered_set<std::uint64_t> updated_;  // in another way, while nobody had asked
  std::unordered_map<std::uint64_t, std::uint32_t> counts_;
};

}  // namespace warptwin::sim
