// Global words: what their writers release, by scope, and what their readers acquire.

#include "sim/check/order.hpp"
#include "sim/model/word_test.hpp"

namespace warptwin::sim {

namespace {

bool is_relaxed(const Event& event) {
  return (event.flags & event_flag::kRelaxed) != 0;
}

void tell(Clock& word, std::uint32_t cluster, const Clock& clock) {
  join_other(word, cluster, clock.own);
  for (const auto& [other, counts] : clock.others) {
    join_other(word, other, counts);
  }
  for (const LoneRelease& release : clock.lone) {
    add_lone(word, release);
  }
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

// A store begins anew, a reduction goes on with what was released before.
void Order::publish(const WarpOrder& warp, const Event& event) {
  const std::uint32_t cluster = event.warp / warps_;
  stores_global_ = true;
  Word& word = words_[event.global];
  if (event.op == Op::kGlobalStoreRelease) {
    word = {};
  }
  const bool releases = !is_relaxed(event);
  const Scope scope = scope_of_word(event);
  // The fence and the write are of one thread.
  const auto add = [&](Clock& to, bool released, const WarpOrder::Fenced& fenced) {
    if (released || fenced.covers(event.lane_mask())) {
      tell(to, cluster, released ? warp.seen() : fenced.clock);
      if (!released && fenced.of_others) {
        note_across(event.site);
      }
    }
  };
  Released& now = word.now;
  add(now.grid, releases && scope == Scope::kGpu, warp.released_gpu);
  add(now.clusters[cluster], releases && scope != Scope::kCta, warp.released_afar);
  add(now.ctas[event.warp / config_.warps_per_cta], releases, warp.released);
  if ((event.flags & event_flag::kSignAsked) != 0) {
    const bool turns = ((event.pending ^ event.wanted) & WordTest::kSign) != 0;
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
      look.pending == test.with && !(word.met && word.met->value == test.with)) {
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
  const auto of_cta = word.ctas.find(event.warp / config_.warps_per_cta);
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
