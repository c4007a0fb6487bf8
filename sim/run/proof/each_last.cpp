#include "sim/run/proof/each_last.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace warptwin::sim {

namespace {

void leave_open(ProofResult& result, const std::string& reason, const SourceSite& site) {
  result.undecided.push_back({reason, site});
  if (outweighs(ProofVerdict::kUndecided, result.verdict)) {
    result.verdict = ProofVerdict::kUndecided;
  }
}

// The words of a run and who added to each, in no order of the run's.
std::vector<std::pair<std::uint64_t, std::vector<Adder>>> adders_of(const RunResult& run) {
  std::vector<std::pair<std::uint64_t, std::vector<Adder>>> all;
  for (const AddedWord& word : run.added_words) {
    std::vector<Adder> adders = word.adders;
    std::sort(adders.begin(), adders.end());
    all.emplace_back(word.address, std::move(adders));
  }
  std::sort(all.begin(), all.end());
  return all;
}

const AddedWord* find(const RunResult& run, bool AddedWord::*property) {
  const auto found = std::find_if(run.added_words.begin(),
                                  run.added_words.end(),
                                  [&](const AddedWord& one) { return one.*property; });
  return found == run.added_words.end() ? nullptr : &*found;
}

// Whether the run is of no use: it says why.
bool cannot_tell(const ProofResult& one, const ProofResult& first, ProofResult& result) {
  if (const AddedWord* mixed = find(one.run, &AddedWord::mixed)) {
    leave_open(result,
               "a word by which threads tell the last of them is used in another way, too",
               mixed->site);
    return true;
  }
  const auto inexact = std::find_if(one.run.added_words.begin(),
                                    one.run.added_words.end(),
                                    [](const AddedWord& word) { return !word.exact(); });
  if (one.run.end == Ending::kDone && inexact != one.run.added_words.end()) {
    leave_open(result,
               "threads count a word by unequal steps, and not to the number that tells the last",
               inexact->site);
    return true;
  }
  // It has added, and waits for ever: so it may be none that can be the last.
  if (const AddedWord* waits = find(one.run, &AddedWord::waits)) {
    leave_open(result,
               "whether each of the threads that add to a word can be the last of them",
               waits->site);
    return true;
  }
  if (one.run.end == Ending::kDone && adders_of(one.run) != adders_of(first.run)) {
    leave_open(result,
               "who adds to a word depends on who was the last to add to another",
               one.run.added_words.front().site);
    return true;
  }
  return false;
}

// Words of which the last ones are chosen in each combination. Clusters that meet nowhere are
// proved one at a time: what one chooses says nothing to another.
struct WordsTogether {
  std::uint32_t cluster = 0;
  std::uint64_t ways = 1;
  std::vector<AddedWord> words{};
};

WordsTogether& with(std::vector<WordsTogether>& all,
                    const AddedWord& word,
                    const ProofResult& proved,
                    const LastChoices& choices) {
  const std::uint32_t cluster =
      proved.whole_grid ? 0 : word.adders.front().warp / choices.warps_per_cluster;
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const WordsTogether& one) { return one.cluster == cluster; });
  return found != all.end() ? *found : all.emplace_back(WordsTogether{cluster});
}

void take_notes(const ProofResult& from, ProofResult& into) {
  for (const std::string& note : from.notes) {
    if (std::find(into.notes.begin(), into.notes.end(), note) == into.notes.end()) {
      into.notes.push_back(note);
    }
  }
}

}  // namespace

ProofResult prove_each_last(ProofResult result,
                            const ProofOptions& options,
                            const LastChoices& choices) {
  if (result.run.added_words.empty() || outweighs(result.verdict, ProofVerdict::kUndecided) ||
      cannot_tell(result, result, result)) {
    return result;
  }
  std::vector<WordsTogether> together;
  std::uint64_t ways = 1;
  for (const AddedWord& word : result.run.added_words) {
    if (word.last) {  // else nobody is told so
      WordsTogether& some = with(together, word, result, choices);
      some.ways = std::min(some.ways * word.adders.size(), kLastWaysMax + 1);
      ways = std::max(ways, some.ways);
      some.words.push_back(word);
    }
  }
  if (ways > kLastWaysMax) {
    leave_open(result,
               "threads ask which of them is the last, in more than " +
                   std::to_string(kLastWaysMax) + " ways",
               together.front().words.front().site);
    return result;
  }
  const ProofResult first = result;
  std::optional<std::uint64_t> left;
  ProofResult worst = std::move(result);
  for (std::uint64_t way = 0; way < ways; ++way) {
    ProofOptions chosen = options;
    bool happened = true;
    for (const WordsTogether& some : together) {
      std::uint64_t rest = way;
      for (const AddedWord& word : some.words) {
        const Adder last = word.adders[rest % word.adders.size()];
        rest /= word.adders.size();
        happened = happened && last == *word.last;
        chosen.run.schedule.last.push_back({word.address, last});
      }
    }
    if (choices.left && ways > 1) {
      const std::uint64_t now = choices.left(chosen);
      if (left.value_or(now) != now) {
        leave_open(worst,
                   "what the launch leaves depends on who is the last to add to a word",
                   together.front().words.front().site);
        return worst;
      }
      left = now;
    }
    if (happened) {
      continue;
    }
    ProofResult other = choices.prove_one(chosen);
    worst.operations += other.operations;
    if (cannot_tell(other, first, worst)) {
      return worst;
    }
    if (outweighs(other.verdict, worst.verdict)) {
      other.operations = worst.operations;
      take_notes(worst, other);
      worst = std::move(other);
    } else {
      take_notes(other, worst);
    }
    if (worst.verdict == ProofVerdict::kRefuted) {
      return worst;
    }
  }
  if (ways > 1 && !choices.left) {
    worst.notes.push_back(
        "what the last thread leaves is taken to be the same whoever it is: it is "
        "too much data to be compared");
  }
  if (!together.empty()) {
    const SourceSite& site = together.front().words.front().site;
    worst.lasts = "for each thread that may be the last to add at " + text_of(site) + " (" +
                  std::to_string(ways) + (ways == 1 ? " way)" : " ways)");
  }
  return worst;
}

}  // namespace warptwin::sim
