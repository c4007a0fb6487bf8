// Global words: what their writers release, by scope, and what their readers acquire.

#include <bit>
#include <optional>
#include <utility>

#include "sim/check/order.hpp"
#include "sim/model/word_test.hpp"

namespace warptwin::sim {

namespace {

bool is_relaxed(const Event& event) {
  return (event.flags & event_flag::kRelaxed) != 0;
}

// What one word has told, told by another.
void tell_on(Clock& word, const Clock& told) {
  for (const auto& [other, counts] : told.others) {
    join_other(word, other, counts);
  }
  for (const LoneRelease& release : told.lone) {
    add_lone(word, release);
  }
}

void tell(Clock& word, std::uint32_t cluster, const Clock& clock) {
  join_other(word, cluster, clock.own);
  tell_on(word, clock);
}

void take(Clock& clock, std::uint32_t cluster, const Clock& word) {
  for (const auto& [other, counts] : word.others) {
    if (other == cluster) {
      join(clock.own, counts);
    } else {
      join_other(clock, other, counts);
    }
  }
  for (const LoneRelease& release : word.lone) {
    add_lone(clock, release);
  }
}

}  // namespace

// A store begins anew, a reduction goes on with what was released before. A release, and a strong
// write of the same thread to the same word behind it, are a release pattern too (PTX ISA, "Release
// and Acquire Patterns").
void Order::publish(const WarpOrder& warp, const Event& event) {
  const std::uint32_t cluster = event.warp / warps_;
  stores_global_ = true;
  Word& word = words_[event.global];
  std::optional<Word::Last> last = std::exchange(word.last, std::nullopt);
  if (event.op == Op::kGlobalStoreRelease) {
    word = {};
  }
  const bool releases = !is_relaxed(event);
  const Scope scope = scope_of_word(event);
  // The fence and the write are of one thread.
  const auto add = [&](Clock& to, bool released, const WarpOrder::Fences& fences) {
    const WarpOrder::Fenced* fence = fences.of(event.lane_mask());
    if (released || fence != nullptr) {
      tell(to, cluster, released ? warp.seen() : fenced_for(*fence, event));
      if (!released && fence->across(event.lane_mask())) {
        note(across_fences_, event.site);
      }
    }
  };
  const std::uint32_t cta = event.warp / warps_of_cta_;
  Released told;
  add(told.grid, releases && scope == Scope::kGpu, warp.released_gpu);
  add(told.clusters[cluster], releases && scope != Scope::kCta, warp.released_afar);
  add(told.ctas[cta], releases, warp.released);
  Released& now = word.now;
  const auto tell_all = [&](const Released& from) {
    tell_on(now.grid, from.grid);
    tell_on(now.clusters[cluster], from.clusters.at(cluster));
    tell_on(now.ctas[cta], from.ctas.at(cta));
  };
  tell_all(told);
  const bool goes_on = last && last->warp == event.warp && last->lanes == event.lane_mask() &&
                       std::has_single_bit(last->lanes);
  if (releases) {
    last = {event.warp, event.lane_mask(), std::move(told)};
  } else if (goes_on) {
    tell_all(last->released);
  }
  word.last = std::move(last);
  if ((event.flags & event_flag::kSignAsked) != 0) {
    const auto& said = event.as<payload::GlobalWord>();
    const bool turns = ((said.before ^ said.after) & WordTest::kSign) != 0;
    if (turns || !word.met) {
      word.met = Word::Met{std::nullopt, turns ? now : Released{}};
    }
  }
}

const Order::Released& Order::seen_by(Word& word, const Event& look) {
  if (look.op != Op::kGlobalWait) {
    return word.now;
  }
  const WordTest test = WordTest::of(look);
  const bool by_sign = word.met && !word.met->value;
  if (!by_sign && test == WordTest{WordTest::Kind::kAtLeast, test.is_signed, test.with} &&
      look.as<payload::GlobalWord>().before == test.with &&
      !(word.met && word.met->value == test.with)) {
    word.met = Word::Met{test.with, word.now};
  }
  return by_sign || (word.met && word.met->value == test.with) ? word.met->released : word.now;
}

void Order::look(WarpOrder& warp, const Event& event) {
  const auto found = words_.find(event.global);
  if (found == words_.end()) {
    return;
  }
  const std::uint32_t cluster = event.warp / warps_;
  const Released& word = seen_by(found->second, event);
  const auto of_cluster = word.clusters.find(cluster);
  const auto of_cta = word.ctas.find(event.warp / warps_of_cta_);
  const auto learn = [&](Clock& clock, Scope scope) {
    if (scope == Scope::kGpu) {
      take(clock, cluster, word.grid);
    }
    if (scope != Scope::kCta && of_cluster != word.clusters.end()) {
      take(clock, cluster, of_cluster->second);
    }
    if (of_cta != word.ctas.end()) {
      take(clock, cluster, of_cta->second);
    }
  };
  // What it does not acquire itself a fence behind it does.
  Pending& pending = warp.pending_of(event.lane_mask());
  learn(pending.gpu, Scope::kGpu);
  learn(pending.wide, Scope::kCluster);
  learn(pending.near, Scope::kCta);
  if (!is_relaxed(event)) {
    const Scope scope = scope_of_word(event);
    acquire(warp, event, [&](Clock& clock) { learn(clock, scope); });
  }
}

}  // namespace warptwin::sim
