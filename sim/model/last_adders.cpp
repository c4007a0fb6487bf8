#include "sim/model/last_adders.hpp"

#include <algorithm>

namespace warptwin::sim {

AddedWord* LastAdders::find(std::uint64_t address) {
  const auto found = numbers_.find(address);
  return found == numbers_.end() ? nullptr : &words_[found->second];
}

bool LastAdders::asks(const LastQuestion& question) {
  AddedWord* word = find(question.address);
  if (word == nullptr) {
    if (question.step == 0 || updated_.contains(question.address)) {
      return false;
    }
    numbers_.emplace(question.address, words_.size());
    words_.push_back(
        {question.address, question.site, question.total(), question.step, question.down});
    word = &words_.back();
  }
  const bool again =
      std::find(word->adders.begin(), word->adders.end(), question.adder) != word->adders.end();
  const bool over = word->last && !word->waits;
  word->alike = word->alike && word->step == question.step;
  word->mixed = word->mixed || again || over || question.step == 0 ||
                word->total != question.total() || word->down != question.down ||
                (!word->alike && !is_count(word->address));
  if (word->mixed) {
    return false;
  }
  word->adders.push_back(question.adder);
  word->sum += question.step;
  return true;
}

// The first one finds what the word began with. Nothing may run over.
void LastAdders::finds(const LastQuestion& question, std::uint32_t found) {
  AddedWord& word = *find(question.address);
  if (!word.span && is_count(word.address)) {
    word.mixed = word.mixed || (word.down ? found < word.total : found > word.total);
    word.span = word.down ? found - word.total : word.total - found;
  }
}

bool LastAdders::is_last(const LastQuestion& question, std::uint32_t found) {
  AddedWord& word = *find(question.address);
  const auto chosen = std::find_if(chosen_.begin(), chosen_.end(), [&](const LastAdder& one) {
    return one.address == question.address;
  });
  const bool last =
      chosen != chosen_.end() ? chosen->adder == question.adder : found == question.asked;
  if (last) {
    word.last = question.adder;
    word.last_finds = question.asked;
    word.waits = true;
  }
  return last;
}

std::byte* LastAdders::count(std::uint64_t address) {
  return numbers_.contains(address) ? reinterpret_cast<std::byte*>(&counts_[address]) : nullptr;
}

const AddedWord* LastAdders::waits_for_others(std::uint64_t address, Adder adder) {
  const AddedWord* word = find(address);
  return word != nullptr && word->waits && word->last == adder ? word : nullptr;
}

std::uint32_t LastAdders::go_on(std::uint64_t address) {
  AddedWord& word = *find(address);
  word.waits = false;
  return word.last_finds;
}

void LastAdders::update(std::uint64_t address, Adder writer) {
  if (AddedWord* word = find(address); word != nullptr) {
    word->mixed = word->mixed || word->waits || word->last != writer;
  } else if (!is_count(address)) {  // before a count others are held to be in order with it
    updated_.insert(address);
  }
}

}  // namespace warptwin::sim
