#include "sim/run/like_clusters.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "common/trace/op_facts.hpp"

#include "sim/check/footprint.hpp"

namespace warptwin::sim {

namespace {

// Of a cluster: beyond that none is left out. And of the bytes that all write.
constexpr std::size_t kEventsMax = std::size_t{1} << 17;
constexpr std::size_t kWritesMax = std::size_t{1} << 22;
// So many clusters are compared with the one before without one being like it.
constexpr std::uint32_t kModelsMax = 8;

// By these clusters may meet, or be told apart by more than their events.
bool may_meet(const Event& event) {
  return has_trait(event.op, op_trait::kGlobalWord) || event.op == Op::kFenceProxyTensormap ||
         event.op == Op::kTensormapReplace || event.op == Op::kMbarrierTryWait;
}

bool is_copy(Op op) {
  return op == Op::kTensorLoad || op == Op::kTensorStore || op == Op::kBulkLoad ||
         op == Op::kBulkStore;
}

// Whether Event::global is an address.
bool has_address(const Event& event) {
  return is_copy(event.op) || event.op == Op::kGlobalLoad || event.op == Op::kGlobalStore;
}

bool writes_global(Op op) {
  return op == Op::kTensorStore || op == Op::kBulkStore || op == Op::kGlobalStore;
}

// Whether the event says which bytes of global memory are touched.
bool says_bytes(const Event& event) {
  const bool described = (event.step == Step::kIssued || event.step == Step::kTouched) &&
                         event.is<payload::Copy>() && event.as<payload::Copy>().rows != 0;
  return event.global != 0 && (!is_copy(event.op) || described);
}

// Bytes between fields are no part of what is said. Where the compiler cannot clear them, fewer
// clusters are alike.
template <class T>
void clear_padding([[maybe_unused]] T& said) {
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
  __builtin_clear_padding(&said);
#endif
#endif
}

bool same_site(const SourceSite& one, const SourceSite& other) {
  return one.file == other.file && one.line == other.line && one.column == other.column;
}

}  // namespace

LikeClusters::LikeClusters(const LaunchConfig& config,
                           const GlobalMemory& memory,
                           const Sinks& sinks)
    : memory_{memory},
      sinks_{sinks},
      warps_{config.cluster_size * config.warps_per_cta},
      ctas_{config.cluster_size},
      over_(config.clusters),
      // What a grid before uses is a matter of addresses. Pairs are even and odd CTAs of the
      // grid.
      in_use_{config.clusters > 1 && config.clusters_begun_max > 1 &&
              config.prerequisite_writes.empty() && config.prerequisite_reads.empty() &&
              (ctas_ == 1 || ctas_ % 2 == 0)} {}

void LikeClusters::on_event(const Event& event) {
  if (in_use_ && event.warp / warps_ != cluster_) {
    begin(event.warp / warps_, event);
  }
  if (in_use_ && may_meet(event)) {
    give_up();
  }
  if (!in_use_) {
    sinks_.next->on_event(event);
    return;
  }
  if (event.serial != 0 && origin_.serial == 0) {
    origin_.serial = event.serial;
  }
  if (mode_ == Mode::kMatches) {
    if (waiting_.size() < model_.size() && matches(event, model_[waiting_.size()])) {
      waiting_.push_back(event);
      return;
    }
    hand_on_waiting();
  }
  model_.push_back(event);
  if (model_.size() > kEventsMax || model_asked_.size() > kEventsMax) {
    give_up();
    model_ = {};
  }
  note_access(event);
  sinks_.next->on_event(event);
}

void LikeClusters::begin(std::uint32_t cluster, const Event& event) {
  if (cluster_ != kNone) {
    end_cluster();
    over_[cluster_] = true;
    mode_ = Mode::kMatches;
  }
  if (over_[cluster]) {  // something of it comes behind its end
    give_up();
  }
  cluster_ = cluster;
  origin_ = {cluster * warps_, cluster * ctas_, event.time, 0};
}

// The cluster that has acted is over.
void LikeClusters::end_cluster() {
  const bool alike =
      mode_ == Mode::kMatches && waiting_.size() == model_.size() && asked_ == model_asked_.size();
  if (alike) {
    left_out_ = true;
    for (const Event& event : waiting_) {
      sinks_.alike->on_event(event);
    }
    waiting_.clear();
    for (Bytes bytes : model_writes_) {
      const std::uint64_t moved = moved_[bytes.buffer];
      bytes.begin += moved;
      bytes.end += moved;
      bytes.cluster = cluster_;
      writes_.push_back(bytes);
    }
  } else {
    hand_on_waiting();
    join_adjacent(own_writes_);
    writes_.insert(writes_.end(), own_writes_.begin(), own_writes_.end());
    model_origin_ = origin_;
    model_writes_ = own_writes_;
  }
  own_writes_.clear();
  moved_.clear();
  asked_ = 0;
  models_ += left_out_ ? 0 : 1;
  if (writes_.size() > kWritesMax || models_ > kModelsMax) {
    give_up();
  }
}

// The cluster is what the next one is compared with.
void LikeClusters::hand_on_waiting() const {
  if (mode_ != Mode::kMatches) {
    return;
  }
  mode_ = Mode::kModel;
  model_asked_.resize(asked_);
  model_ = waiting_;
  for (const Event& event : std::exchange(waiting_, {})) {
    note_access(event);
    sinks_.next->on_event(event);
  }
}

void LikeClusters::give_up() const {
  in_doubt_ = in_doubt_ || left_out_;
  hand_on_waiting();
  in_use_ = false;
}

// An event has no CTA where it says 0.
bool LikeClusters::same_cta(std::uint32_t cta, std::uint32_t of_model) const {
  return cta - origin_.cta == of_model - model_origin_.cta || (cta == 0 && of_model == 0);
}

bool LikeClusters::same_payload(const Event& event, const Event& model) const {
  return event.kind() == model.kind() && event.visit([&](const auto& said) {
    using Payload = std::decay_t<decltype(said)>;
    if constexpr (std::is_empty_v<Payload>) {
      return true;
    } else {
      Payload one = said;
      Payload other = model.as<Payload>();
      if constexpr (std::is_base_of_v<payload::Signal, Payload>) {
        if (!same_cta(one.barrier_cta, other.barrier_cta)) {
          return false;
        }
        one.barrier_cta = other.barrier_cta = 0;
      }
      clear_padding(one);
      clear_padding(other);
      return std::memcmp(&one, &other, sizeof one) == 0;
    }
  });
}

bool LikeClusters::matches(const Event& event, const Event& model) {
  const bool same_serial = event.serial == 0
                               ? model.serial == 0
                               : model.serial != 0 && event.serial - origin_.serial ==
                                                          model.serial - model_origin_.serial;
  return event.op == model.op && event.step == model.step && event.fault == model.fault &&
         event.time - origin_.time == model.time - model_origin_.time &&
         event.warp - origin_.warp == model.warp - model_origin_.warp && same_serial &&
         event.lanes == model.lanes && event.lane == model.lane && event.mask == model.mask &&
         event.flags == model.flags && event.ordering.semantics == model.ordering.semantics &&
         event.ordering.scope == model.ordering.scope && same_cta(event.cta, model.cta) &&
         event.address == model.address && event.bytes == model.bytes &&
         event.phase == model.phase && same_site(event.site, model.site) &&
         same_payload(event, model) && same_place(event, model);
}

// With each access to a buffer as far from the model's, two of them meet where the model's do.
bool LikeClusters::same_place(const Event& event, const Event& model) {
  if (!has_address(event) || event.global == 0 || model.global == 0) {
    return event.global == model.global;
  }
  const GlobalBuffer* buffer = memory_.find(event.global);
  if (buffer == nullptr || buffer != memory_.find(model.global)) {
    return false;
  }
  if (says_bytes(event)) {
    const GlobalBox box = global_box_of(event);
    const std::uint64_t end = box.start + (box.rows - 1) * box.pitch + box.width;
    if (end > buffer->address + buffer->size) {
      return false;
    }
  }
  const std::uint64_t moved = event.global - model.global;
  return moved_.try_emplace(buffer->address, moved).first->second == moved;
}

void LikeClusters::note_access(const Event& event) const {
  if (!in_use_ || !has_address(event) || !says_bytes(event)) {
    return;
  }
  const GlobalBuffer* buffer = memory_.find(event.global);
  if (buffer == nullptr) {
    give_up();
    return;
  }
  if (!writes_global(event.op)) {
    read_.insert(buffer->address);
    return;
  }
  written_.insert(buffer->address);
  const GlobalBox box = global_box_of(event);
  for (std::uint64_t row = 0; row < box.rows; ++row) {
    const std::uint64_t begin = box.start + row * box.pitch;
    own_writes_.push_back({buffer->address, begin, begin + box.width, cluster_});
  }
  if (own_writes_.size() > kWritesMax) {
    give_up();
  }
}

void LikeClusters::join_adjacent(std::vector<Bytes>& bytes) {
  std::sort(bytes.begin(), bytes.end(), [](const Bytes& one, const Bytes& other) {
    return one.begin < other.begin;
  });
  std::size_t kept = 0;
  for (const Bytes& each : bytes) {
    if (kept != 0 && each.buffer == bytes[kept - 1].buffer && each.begin <= bytes[kept - 1].end) {
      bytes[kept - 1].end = std::max(bytes[kept - 1].end, each.end);
    } else {
      bytes[kept++] = each;
    }
  }
  bytes.resize(kept);
}

// Whether one writes what another touches.
bool LikeClusters::clusters_meet() {
  const auto reads = [this](std::uint64_t buffer) { return read_.contains(buffer); };
  if (std::any_of(written_.begin(), written_.end(), reads)) {
    return true;
  }
  std::sort(writes_.begin(), writes_.end(), [](const Bytes& one, const Bytes& other) {
    return one.begin < other.begin;
  });
  // The furthest end so far, and the furthest of another cluster than that.
  Bytes furthest{0, 0, 0, kNone};
  Bytes second = furthest;
  for (const Bytes& bytes : writes_) {
    const Bytes& of_others = furthest.cluster != bytes.cluster ? furthest : second;
    if (of_others.cluster != kNone && of_others.end > bytes.begin) {
      return true;
    }
    if (furthest.cluster == bytes.cluster || furthest.cluster == kNone) {
      furthest.cluster = bytes.cluster;
      furthest.end = std::max(furthest.end, bytes.end);
    } else if (bytes.end >= furthest.end) {
      second = std::exchange(furthest, bytes);
    } else {
      second = {0, 0, std::max(second.end, bytes.end), bytes.cluster};
    }
  }
  return false;
}

void LikeClusters::at_end() {
  if (in_use_ && cluster_ != kNone) {
    end_cluster();
  }
  in_doubt_ = in_doubt_ || (in_use_ && left_out_ && clusters_meet());
}

// --- Questions --------------------------------------------------------------------------------

std::uint32_t LikeClusters::ask(const Asked& question) const {
  const std::uint32_t warp = cluster_ * warps_ + question.warp;
  return question.is_now ? sinks_.lanes->now(warp)
                         : static_cast<std::uint32_t>(sinks_.lanes->knows(
                               warp, question.lanes, question.other, question.time));
}

// Of a warp of the cluster that acts. One that matches is asked what its model was, in turn, and
// answered the same: it is what the same events lead to.
std::uint32_t LikeClusters::answer(const Asked& question) const {
  if (mode_ == Mode::kMatches) {
    if (asked_ < model_asked_.size() && model_asked_[asked_].same_question(question)) {
      return model_asked_[asked_++].answer;
    }
    hand_on_waiting();
  }
  Asked asked = question;
  asked.answer = ask(question);
  model_asked_.push_back(asked);
  return asked.answer;
}

std::uint32_t LikeClusters::now(std::uint32_t warp) const {
  if (!in_use_ || warp / warps_ != cluster_) {
    in_doubt_ = in_doubt_ || (left_out_ && over_[warp / warps_]);
    return sinks_.lanes->now(warp);
  }
  const std::size_t behind = mode_ == Mode::kModel ? model_.size() : waiting_.size();
  return answer({behind, true, warp % warps_, 0, 0, 0, 0});
}

bool LikeClusters::knows(std::uint32_t warp,
                         std::uint32_t lanes,
                         std::uint32_t other,
                         std::uint32_t time) const {
  if (!in_use_ || warp / warps_ != cluster_) {
    in_doubt_ = in_doubt_ || (left_out_ && over_[warp / warps_]);
    return sinks_.lanes->knows(warp, lanes, other, time);
  }
  const std::size_t behind = mode_ == Mode::kModel ? model_.size() : waiting_.size();
  return answer({behind, false, warp % warps_, lanes, other, time, 0}) != 0;
}

bool LikeClusters::certain(std::uint32_t warp,
                           std::uint32_t lanes,
                           std::uint32_t cta,
                           std::uint32_t address,
                           std::uint32_t phase) const {
  if (in_use_) {
    give_up();
  }
  return sinks_.tries->certain(warp, lanes, cta, address, phase);
}

}  // namespace warptwin::sim
