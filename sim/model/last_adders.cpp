#include "sim/model/last_adders.hpp"

#include <algorithm>

namespace warptwin::sim {

AddedWord* LastAdders::find(std::uint64_t address) {
  const auto found = numbers_.find(address);
  return found == numbers_.end() ? nullptr : &words_[found->second];
}

bool LastAdders::asks(std::uint64_t address,
                      Adder adder,
                      std::uint32_t asked,
                      std::uint32_t step,
                      const SourceSite& site) {
  AddedWord* word = find(address);
  if (word == nullptr) {
    if (step == 0 || updated_.contains(address)) {
      return false;
    }
    numbers_.emplace(address, words_.size());
    words_.push_back({address, site, asked, step});
    word = &words_.back();
  }
  const bool again =
      std::find(word->adders.begin(), word->adders.end(), adder) != word->adders.end();
  const bool over = word->last && !word->waits;
  word->mixed = word->mixed || again || over || word->asked != asked || word->step != step;
  if (word->mixed) {
    return false;
  }
  word->adders.push_back(adder);
  return true;
}

bool LastAdders::is_last(std::uint64_t address, Adder adder, std::uint32_t found) {
  AddedWord& word = *find(address);
  const auto chosen = std::find_if(
      chosen_.begin(), chosen_.end(), [&](const LastAdder& one) { return one.address == address; });
  const bool last = chosen != chosen_.end() ? chosen->adder == adder : found == word.asked;
  if (last) {
    word.last = adder;
    word.waits = true;
  }
  return last;
}

const AddedWord* LastAdders::waits_for_others(std::uint64_t address, Adder adder) {
  const AddedWord* word = find(address);
  return word != nullptr && word->waits && word->last == adder ? word : nullptr;
}

std::uint32_t LastAdders::go_on(std::uint64_t address) {
  AddedWord& word = *find(address);
  word.waits = false;
  return word.asked;
}

void LastAdders::update(std::uint64_t address, Adder writer) {
  if (AddedWord* word = find(address); word != nullptr) {
    word->mixed = word->mixed || word->waits || word->last != writer;
  } else {
    updated_.insert(address);
  }
}

}  // namespace warptwin::sim
