#include "sim/micro/listing.hpp"

#include <algorithm>
#include <map>

#include "sim/micro/words.hpp"

namespace warptwin::sim {

namespace {

// One operation of a warp, by the first event that is not its wait.
struct Recorded {
  Event event;
  std::uint32_t polls = 1;
};

bool same_site(const SourceSite& a, const SourceSite& b) {
  return a.line == b.line && std::string_view{a.file} == b.file;
}

/// Keeps the operations of each warp in program order, and which of them each step belongs to.
class Recorder : public EventSink {
 public:
  struct Place {
    std::uint32_t warp = 0;
    std::size_t index = 0;
  };

  void on_event(const Event& event) override {
    if (event.op == Op::kWarpStart || (event.flags & event_flag::kLateLanes) != 0) {
      return;
    }
    const bool later =
        event.step == Step::kRead || event.step == Step::kWritten || event.step == Step::kSignalled;
    if (later || event.op == Op::kCtaExit) {
      // What follows from an operation is found at that operation.
      const auto issued = issued_.find(event.serial);
      const std::vector<Recorded>& lines = warps_[event.warp];
      if (event.serial != 0 && issued != issued_.end()) {
        places_.push_back({event, issued->second});
      } else if (!lines.empty()) {
        places_.push_back({event, {event.warp, lines.size() - 1}});
      }
      return;
    }
    add(event);
    const Place place{event.warp, warps_[event.warp].size() - 1};
    places_.push_back({event, place});
    if (event.serial != 0) {
      issued_.emplace(event.serial, place);
    }
  }

  const std::map<std::uint32_t, std::vector<Recorded>>& warps() const { return warps_; }

  /// The operation a finding is about: by its step and line, else by its line, else by its step.
  const Place* find(const Finding& finding) const {
    const Place* best = nullptr;
    int best_score = 0;
    for (const auto& [event, place] : places_) {
      const bool site = finding.site.line != 0 && same_site(event.site, finding.site);
      const bool step = finding.step != 0 && event.time == finding.step;
      const int score = (site ? 2 : 0) + (step ? 1 : 0);
      // Of several at its line the last: notes share a step, rounds of a loop a line.
      if (score > best_score || (site && score == best_score)) {
        best = &place;
        best_score = score;
      }
    }
    return best;
  }

 private:
  void add(const Event& event) {
    std::vector<Recorded>& lines = warps_[event.warp];
    Recorded* last = lines.empty() ? nullptr : &lines.back();
    const bool repeats =
        last != nullptr && last->event.op == event.op && same_site(last->event.site, event.site);
    // A bar.sync arrives in one event, and passes in another.
    const bool syncs = repeats && event.op == Op::kBarSync && last->event.step == Step::kIssued;
    const bool waited = repeats && last->event.step == Step::kBlocked;
    const bool polled = repeats && (last->event.flags & event_flag::kFalse) != 0;
    // One instruction issues a copy for each CTA of its mask.
    const bool part = repeats && event.op != Op::kStageNote && last->event.time == event.time;
    if (polled) {
      ++last->polls;
    }
    if (syncs || (waited && event.op == Op::kBarSync)) {
      last->event.step = event.step;
    } else if (waited || polled) {
      last->event = event;
    } else if (!part) {
      lines.push_back({event});
    }
  }

  std::map<std::uint32_t, std::vector<Recorded>> warps_;
  std::map<std::uint32_t, Place> issued_;
  std::vector<std::pair<Event, Place>> places_;
};

void collect_barriers(const Recorder& recorder, BarrierAddresses& barriers) {
  for (const auto& [warp, lines] : recorder.warps()) {
    for (const Recorded& line : lines) {
      if (line.event.op == Op::kMbarrierInit && line.event.address % 8 == 0) {
        barriers.insert(line.event.address);
      }
    }
  }
}

std::string text_of(const Recorded& line, const BarrierAddresses& barriers) {
  return words_of(line.event, barriers) +
         (line.polls > 1 ? "  (" + std::to_string(line.polls) + " times)" : "") +
         (line.event.step == Step::kBlocked ? "  (never passes)" : "");
}

std::vector<WarpListing> listing_of(const Recorder& recorder,
                                    const MicroProgram& micro,
                                    const BarrierAddresses& barriers,
                                    const Recorder::Place* place) {
  std::vector<WarpListing> all;
  for (std::uint32_t warp = 0; warp < micro.warps * micro.ctas * micro.clusters; ++warp) {
    WarpListing listing;
    const bool alone = micro.ctas * micro.clusters == 1;
    listing.warp = (alone ? "" : "cta " + std::to_string(warp / micro.warps) + " ") + "warp " +
                   std::to_string(warp % micro.warps);
    const auto lines = recorder.warps().find(warp);
    for (std::size_t i = 0; lines != recorder.warps().end() && i < lines->second.size(); ++i) {
      const Recorded& line = lines->second[i];
      const bool found = place != nullptr && place->warp == warp && place->index == i;
      if (found || line.event.op != Op::kWarpExit) {
        listing.operations.push_back({text_of(line, barriers), found});
      }
    }
    all.push_back(std::move(listing));
  }
  return all;
}

// Marks what is in one of the two only: all but their longest common subsequence.
void mark_differences(std::vector<ListedOperation>& a, std::vector<ListedOperation>& b) {
  std::vector<std::vector<std::size_t>> common(a.size() + 1,
                                               std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      common[i][j] = a[i].text == b[j].text ? common[i + 1][j + 1] + 1
                                            : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i].text == b[j].text) {
      ++i;
      ++j;
    } else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
      a[i++].differs = true;
    } else {
      b[j++].differs = true;
    }
  }
}

}  // namespace

const MicroProgram* find_micro(std::string_view id) {
  const auto programs = micro_programs();
  const auto found = std::find_if(
      programs.begin(), programs.end(), [&](const MicroProgram& micro) { return id == micro.id; });
  return found == programs.end() ? nullptr : &*found;
}

MicroListing list_micro(const MicroProgram& micro) {
  Recorder wrong;
  Recorder right;
  const std::vector<Finding> findings = run_micro(micro, true, &wrong);
  run_micro(micro, false, &right);
  const auto finding = std::find_if(findings.begin(), findings.end(), [&](const Finding& one) {
    return std::string_view{one.info->id} == micro.id;
  });
  BarrierAddresses barriers;
  collect_barriers(wrong, barriers);
  collect_barriers(right, barriers);
  MicroListing listing;
  const Recorder::Place* place = finding == findings.end() ? nullptr : wrong.find(*finding);
  listing.wrong = listing_of(wrong, micro, barriers, place);
  listing.right = listing_of(right, micro, barriers, nullptr);
  for (std::size_t warp = 0; warp < listing.wrong.size(); ++warp) {
    mark_differences(listing.wrong[warp].operations, listing.right[warp].operations);
  }
  if (place == nullptr) {
    listing.wrong.back().operations.push_back({"the end of the run", true});
  }
  return listing;
}

}  // namespace warptwin::sim
