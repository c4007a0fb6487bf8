/// Clusters of one run that do, event by event, what one before them did.
///
/// What is found of a cluster is made of its events and of nothing else, but for where in global
/// memory another cluster acts. So a cluster whose events are those of one that was judged needs no
/// second look. That they are is seen in the run, of every event; nothing is taken for granted.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "sim/model/gpu.hpp"
#include "sim/model/lane_judge.hpp"

namespace warptwin::sim {

/// Of a run whose clusters act one after the other. Hands on the events of each cluster in their
/// order, but those of a cluster that is like its model: these go to `alike` alone, when the
/// cluster is over. The model is the last cluster that was handed on.
///
/// A cluster is like its model if its events are the same in every field, counted from its own
/// first warp, CTA, time and number of an asynchronous operation, and if what it touches of a
/// buffer lies as far from what the model touches there, with each of its accesses.
class LikeClusters : public EventSink, public LaneJudge, public TryJudge {
 public:
  struct Sinks {
    EventSink* next = nullptr;   // sees the clusters that are handed on
    EventSink* alike = nullptr;  // sees the others
    const LaneJudge* lanes = nullptr;
    const TryJudge* tries = nullptr;  // may be null
  };
  /// `memory` and the sinks outlive it.
  LikeClusters(const LaunchConfig& config, const GlobalMemory& memory, const Sinks& sinks);

  void on_event(const Event& event) override;
  std::uint32_t now(std::uint32_t warp) const override;
  bool knows(std::uint32_t warp,
             std::uint32_t lanes,
             std::uint32_t other,
             std::uint32_t time) const override;
  bool certain(std::uint32_t warp,
               std::uint32_t lanes,
               std::uint32_t cta,
               std::uint32_t address,
               std::uint32_t phase) const override;
  /// The run is over.
  void at_end();
  /// Whether clusters that were left out may have met others: by a global word, by a tensor map in
  /// memory, at bytes that one of them writes, or behind their end. Then nothing that the sinks
  /// were told is of use, and the run has to be made without this.
  bool in_doubt() const { return in_doubt_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  /// What a cluster begins at.
  struct Origin {
    std::uint32_t warp = 0;
    std::uint32_t cta = 0;
    std::uint64_t time = 0;
    std::uint32_t serial = 0;
  };
  /// A question of a warp's lanes, asked behind so many events, and the answer.
  struct Asked {
    std::size_t behind = 0;
    bool is_now = false;
    std::uint32_t warp = 0;  // of the cluster
    std::uint32_t lanes = 0;
    std::uint32_t other = 0;
    std::uint32_t time = 0;
    std::uint32_t answer = 0;
    bool same_question(const Asked& of) const {
      return behind == of.behind && is_now == of.is_now && warp == of.warp && lanes == of.lanes &&
             other == of.other && time == of.time;
    }
  };
  /// Bytes of a buffer of global memory, [begin, end).
  struct Bytes {
    std::uint64_t buffer = 0;  // its address
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint32_t cluster = 0;
  };
  static void join_adjacent(std::vector<Bytes>& bytes);
  enum class Mode : std::uint8_t {
    kModel,    // its events are kept: the next is compared with it
    kMatches,  // it has been like its model so far; its events wait
  };

  void begin(std::uint32_t cluster, const Event& event);
  void end_cluster();
  void hand_on_waiting() const;
  bool same_cta(std::uint32_t cta, std::uint32_t of_model) const;
  bool same_payload(const Event& event, const Event& model) const;
  bool matches(const Event& event, const Event& model);
  bool same_place(const Event& event, const Event& model);
  void note_access(const Event& event) const;
  void give_up() const;
  bool clusters_meet();
  std::uint32_t answer(const Asked& question) const;
  std::uint32_t ask(const Asked& question) const;

  const GlobalMemory& memory_;
  Sinks sinks_;
  std::uint32_t warps_;  // of a cluster
  std::uint32_t ctas_;
  std::uint32_t cluster_ = kNone;  // the one that acts
  std::vector<bool> over_;         // clusters behind which another has begun
  std::uint32_t models_ = 0;       // before the one that another was like
  bool left_out_ = false;
  // Who asks may make the cluster that acts unlike its model.
  mutable bool in_use_;
  mutable bool in_doubt_ = false;
  mutable Mode mode_ = Mode::kModel;

  mutable std::vector<Event> model_;  // its events
  Origin model_origin_;
  mutable std::vector<Asked> model_asked_;
  std::vector<Bytes> model_writes_;

  Origin origin_;
  mutable std::vector<Event> waiting_;            // the events of one that matches
  mutable std::size_t asked_ = 0;                 // questions of one that matches
  std::map<std::uint64_t, std::uint64_t> moved_;  // by buffer: how far from the model's
  mutable std::vector<Bytes> own_writes_;         // of one that is handed on

  mutable std::set<std::uint64_t> read_;     // buffers
  mutable std::set<std::uint64_t> written_;  // likewise
  std::vector<Bytes> writes_;                // of all clusters
};

}  // namespace warptwin::sim
