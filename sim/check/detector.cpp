#include "sim/check/detector.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

struct Entry {
  const char* name;
  std::unique_ptr<Detector> (*make)(Reporter&, Order&);
};

#define WARPTWIN_DETECTOR_ENTRY(name) {#name, make_##name},
constexpr Entry kDetectors[] = {WARPTWIN_DETECTORS(WARPTWIN_DETECTOR_ENTRY)};
#undef WARPTWIN_DETECTOR_ENTRY

// What a warp learns something by, of objects that it looks at before.
constexpr OpSet kLooks{
    Op::kMbarrierWait, Op::kMbarrierTryWait, Op::kGlobalWait, Op::kGlobalLoadAcquire};

}  // namespace

Agent Naming::agent(std::uint32_t warp) const {
  const std::uint32_t index = warp % warps_of_cta_;
  return {warp / warps_of_cta_, {index}, symbols_.role_of(index)};
}

std::string Naming::lanes_of(const LanePoint& point) const {
  const int lanes = std::popcount(point.lanes);
  return (lanes == 1 ? "" : std::to_string(lanes) + " lanes of ") + warp(point.warp);
}

Object Naming::warp_object(std::uint32_t number) const {
  return {ObjectKind::kWarp, warp(number), number / warps_of_cta_};
}

Object Naming::barrier(std::uint32_t cta, std::uint32_t address) const {
  return {ObjectKind::kMbarrier, symbols_.name(address), cta, address, kMbarrierBytes};
}

Object Naming::named_barrier(std::uint32_t cta, std::uint32_t id) const {
  return {ObjectKind::kNamedBarrier, symbols_.named_barrier("named barrier", id), cta, id};
}

Object Naming::shared(std::uint32_t cta, std::uint32_t address, std::uint64_t bytes) const {
  return {ObjectKind::kSharedMemory, symbols_.name(address), cta, address, bytes};
}

std::string Naming::site(const SourceSite& site) const {
  return site.line == 0 ? "no source line" : text_of(site);
}

Finding Reporter::make(const char* id,
                       const Event& event,
                       const Object& object,
                       const std::string& message) const {
  Finding finding;
  finding.info = find_diagnostic(id);
  finding.object = object;
  finding.agent = naming_.agent(event.warp);
  finding.message = message;
  finding.site = event.site;
  finding.step = event.time;
  return finding;
}

void Reporter::report(const char* id,
                      const Event& event,
                      const Object& object,
                      const std::string& message,
                      std::vector<Detail> details) {
  Finding finding = make(id, event, object, message);
  finding.details = std::move(details);
  report(std::move(finding));
}

void Reporter::report(Finding finding) {
  WARPTWIN_ASSERT(finding.info != nullptr);
  finding.severity = std::min(finding.severity, rules_.severity_of(*finding.info));
  if (finding.severity == Severity::kOff || finding.severity == Severity::kLint) {
    return;
  }
  errors_ += finding.severity >= Severity::kError ? 1 : 0;
  for (Finding& known : findings_) {
    if (known.info == finding.info && known.site.line == finding.site.line &&
        known.site.file == finding.site.file) {
      ++known.repeated;
      if (std::string name = text_of(finding.object); name != text_of(known.object)) {
        known.others.emplace(std::move(name), std::move(finding.object));
      }
      return;
    }
  }
  if (findings_.size() < kFindingsKept) {
    findings_.push_back(std::move(finding));
  } else {
    ++not_kept_;
  }
}

void Reporter::note_choice(const Event& event) {
  const bool known = std::any_of(choices_.begin(), choices_.end(), [&](const SourceSite& site) {
    return site.line == event.site.line && std::string_view{site.file} == event.site.file;
  });
  if (!known) {
    choices_.push_back(event.site);
  }
}

std::vector<std::string> detector_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kDetectors) {
    names.emplace_back(entry.name);
  }
  return names;
}

DetectorSet::DetectorSet(const Rules& rules,
                         const LaunchConfig& config,
                         const Symbols& symbols,
                         bool whole)
    : naming_{config, symbols},
      reporter_{rules, naming_},
      order_{config, rules.commit_tells_copies, rules.arrivals_reach},
      whole_{whole} {
  for (const Entry& entry : kDetectors) {
    if (rules.without.empty() || !rules.without.contains(entry.name)) {
      detectors_.push_back(entry.make(reporter_, order_));
    }
  }
}

std::span<const std::uint8_t> DetectorSet::told_of(const Event& event) {
  const bool fault = event.fault != Fault::kNone && !kNoEffect.contains(event.step);
  const std::size_t step = fault ? kSteps : static_cast<std::size_t>(event.step);
  Told& told = kinds_[static_cast<std::size_t>(event.op) * (kSteps + 1) + step];
  if (!told.known) {
    told = first_told(event, fault);
  }
  return {told_.data() + told.begin, told.count};
}

DetectorSet::Told DetectorSet::first_told(const Event& event, bool fault) {
  Told told{static_cast<std::uint16_t>(told_.size()), 0, true};
  for (std::size_t place = 0; place < detectors_.size(); ++place) {
    if (detectors_[place]->sees(event.op, event.step, fault || whole_)) {
      told_.push_back(static_cast<std::uint8_t>(place));
      ++told.count;
    }
  }
  return told;
}

void DetectorSet::on_event(const Event& event) {
  const std::span<const std::uint8_t> told = told_of(event);
  const bool looks =
      event.step == Step::kBlocked || (event.step == Step::kDone && kLooks.contains(event.op));
  order_.act(event, looks);
  if (looks && event.step == Step::kDone) {
    for (const std::uint8_t place : told) {
      detectors_[place]->on_look(event);
    }
  }
  if (event.step == Step::kBlocked) {
    for (const std::uint8_t place : told) {
      detectors_[place]->on_blocked(event);
    }
    return;
  }
  if (event.step != Step::kTouched) {
    order_.on_event(event);
  }
  for (const std::uint8_t place : told) {
    detectors_[place]->on_event(event);
  }
}

void DetectorSet::at_end(const Gpu& gpu, Ending end) {
  for (const auto& detector : detectors_) {
    detector->at_end(gpu, end);
  }
}

}  // namespace warptwin::sim
