// Cluster launch control: requests, responses and queries.

#include <algorithm>
#include <cstring>

#include "common/kernel/scenario.hpp"

#include "sim/model/gpu.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kWord = sizeof(std::uint32_t);

// Whether a response is there, and nobody has written to its bytes since.
bool holds_response(const Cta& cta, std::uint32_t address) {
  const auto words =
      std::count_if(cta.tmem_words.begin(), cta.tmem_words.end(), [&](const TmemWord& word) {
        return word.kind == tmem_word::kResponse && word.address - address < kClcResponseBytes;
      });
  return static_cast<std::uint32_t>(words) == kClcResponseBytes / kWord;
}

}  // namespace

// Who asks first gets the next cluster; the response is on its way to each CTA by itself.
Gpu::Outcome Gpu::clc_request(WarpSlot slot, const Operation& op) {
  if (config_.fallback_size != 0) {
    throw ConfigError(
        "clusterlaunchcontrol.try_cancel in a launch with a preferred and a fallback "
        "cluster size: no manual says of which size the cluster is that a request "
        "gets; launch it with one size");
  }
  const auto& asked = op.as<operands::ClcRequest>();
  const Warp& warp = warps_[slot];
  const std::uint32_t first = ctas_[warp.cta].first;
  Event event = event_of(slot, op);
  const CtaMask to = asked.mask.bits != 0
                         ? asked.mask
                         : CtaMask{static_cast<std::uint16_t>(1U << ctas_[warp.cta].rank)};
  Fault fault = Fault::kNone;
  if (asked.response % kClcResponseBytes != 0) {
    fault = Fault::kMisaligned;
  } else if (asked.response + kClcResponseBytes > config_.shared_bytes) {
    fault = Fault::kOutOfRange;
  }
  if (fault == Fault::kNone && targets_exited_cta(warp, to)) {
    fault = Fault::kExitedCta;
  }
  if (fault != Fault::kNone) {
    fail(event, fault, true);
    emit(event);
    return Outcome::kDone;
  }
  const bool early = config_.rules.clc_fails_early && clc_requests_++ % 2 != 0;
  std::uint32_t got = 0;  // the cluster + 1
  if (!early && next_cluster_ < clusters_end_ && clc_successes_ < config_.clc_successes_max) {
    ++clc_successes_;
    got = config_.clc_from_the_end        ? clusters_end_--
          : config_.cluster_order.empty() ? ++next_cluster_
                                          : config_.cluster_order[next_cluster_++] + 1;
  }
  ++changes_;
  for (std::uint32_t rank = 0; rank < config_.cluster_size; ++rank) {
    if (to.contains(rank)) {
      const AgentSlot at = take_async();
      AsyncOp& async = async_[agents_.place_of(at)];
      async.operation = op;
      async.operation.as<operands::ClcRequest>().got = got;
      async.warp = slot;
      async.cta = async.signal_cta = first + rank;
      ready_.insert(at);
      ++clusters_[ctas_[warp.cta].cluster].outstanding;
      emit(event_of(async, Step::kIssued));
    }
  }
  return Outcome::kDone;
}

void Gpu::land_response(AsyncOp& async) {
  const auto& asked = async.operation.as<operands::ClcRequest>();
  Cta& cta = ctas_[async.cta];
  Event event = landing_of(async, Step::kWritten);
  if (cta.exited) {
    fail(event, Fault::kExitedCta, true);
    emit(event);
    return;
  }
  const std::uint32_t first_cta = asked.got == 0 ? 0 : (asked.got - 1) * config_.cluster_size;
  const std::uint32_t words[4] = {asked.got != 0 ? 1U : 0U, first_cta, 0, 0};
  std::memcpy(cta.shared.data() + asked.response, words, sizeof words);
  set_unknown(cta, asked.response, asked.response + sizeof words, false);
  for (std::uint32_t at = 0; at < kClcResponseBytes; at += kWord) {
    cta.tmem_words.push_back({asked.response + at, tmem_word::kResponse});
  }
  const BarrierStep step = apply_to_barrier(async.cta, asked.barrier, event, 0, kClcResponseBytes);
  fail(event, step.fault, step.traps);
  emit(event);
}

// By kPeek where it may be no query, but a load: then where no response is there, nothing is done.
Gpu::Outcome Gpu::clc_query(WarpSlot slot, Operation& op) {
  const auto& asked = op.as<operands::ClcQuery>();
  if ((op.flags & event_flag::kPeek) != 0) {
    op.flags &= ~event_flag::kPeek;
    if (!holds_response(ctas_[warps_[slot].cta], asked.response)) {
      op.result = ~std::uint32_t{0};
      return Outcome::kDone;
    }
  }
  Event event = event_of(slot, op);
  event.bytes = kClcResponseBytes;
  if (asked.response % kClcResponseBytes != 0 ||
      asked.response + kClcResponseBytes > config_.shared_bytes) {
    fail(event,
         asked.response % kClcResponseBytes != 0 ? Fault::kMisaligned : Fault::kOutOfRange,
         true);
    emit(event);
    return Outcome::kDone;
  }
  std::uint32_t words[4];
  std::memcpy(words, ctas_[warps_[slot].cta].shared.data() + asked.response, sizeof words);
  op.result = event.as<payload::ClcQuery>().answer = words[asked.word];
  if (asked.word != 0 && words[0] == 0) {
    event.fault = Fault::kFailedResponse;
  }
  emit(event);
  return Outcome::kDone;
}

}  // namespace warptwin::sim
