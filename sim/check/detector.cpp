#include "sim/check/detector.hpp"

#include <bit>
#include <iterator>

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

static_assert(std::size(kDetectors) <= 32);  // DetectorSet keeps one bit for each

constexpr std::size_t kFindingsMax = 200;

// What a warp learns something by, of objects that it looks at before.
constexpr OpSet kLooks{
    Op::kMbarrierWait, Op::kMbarrierTryWait, Op::kGlobalWait, Op::kGlobalLoadAcquire};

}  // namespace

std::string Naming::warp(std::uint32_t number) const {
  const std::uint32_t index = number % config_.warps_per_cta;
  const Role role = symbols_.role_of(index);
  return "cta " + std::to_string(number / config_.warps_per_cta) + " warp " +
         std::to_string(index) +
         (role == Role::kCount ? "" : " (" + std::string{name_of(role)} + ")");
}

std::string Naming::barrier(std::uint32_t cta, std::uint32_t address) const {
  return symbols_.name(address) + " of cta " + std::to_string(cta);
}

std::string Naming::site(const SourceSite& site) const {
  if (site.line == 0) {
    return "no source line";
  }
  // The last two parts of the path: the same wherever the sources lie.
  const std::string path{site.file};
  std::size_t cut = path.rfind('/');
  cut = cut == std::string::npos || cut == 0 ? cut : path.rfind('/', cut - 1);
  return (cut == std::string::npos ? path : path.substr(cut + 1)) + ":" + std::to_string(site.line);
}

Finding Reporter::make(const char* id,
                       const Event& event,
                       const std::string& object,
                       const std::string& message) const {
  Finding finding;
  finding.info = find_diagnostic(id);
  finding.object = object;
  finding.agent = naming_.warp(event.warp);
  finding.message = message;
  finding.site = event.site;
  finding.step = event.time;
  return finding;
}

void Reporter::report(const char* id,
                      const Event& event,
                      const std::string& object,
                      const std::string& message,
                      std::vector<std::string> details) {
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
      if (finding.object != known.object) {
        known.others.insert(finding.object);
      }
      return;
    }
  }
  if (findings_.size() < kFindingsMax) {
    findings_.push_back(std::move(finding));
  }
}

std::vector<std::string> detector_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kDetectors) {
    names.emplace_back(entry.name);
  }
  return names;
}

DetectorSet::DetectorSet(const Rules& rules, const LaunchConfig& config, const Symbols& symbols)
    : naming_{config, symbols},
      reporter_{rules, naming_},
      order_{config, rules.commit_tells_copies} {
  for (const Entry& entry : kDetectors) {
    if (!rules.without.contains(entry.name)) {
      detectors_.push_back(entry.make(reporter_, order_));
    }
  }
  for (std::size_t i = 0; i < detectors_.size(); ++i) {
    const std::uint32_t bit = std::uint32_t{1} << i;
    const OpSet ops = detectors_[i]->ops();
    for (unsigned op = 0; op < static_cast<unsigned>(Op::kCount); ++op) {
      by_op_[op] |= ops.contains(static_cast<Op>(op)) ? bit : 0;
    }
    with_pieces_ |= detectors_[i]->pieces() ? bit : 0;
  }
}

void DetectorSet::on_event(const Event& event) {
  const bool piece = event.step == Step::kTouched;
  const std::uint32_t who = by_op_[static_cast<unsigned>(event.op)] & (piece ? with_pieces_ : ~0U);
  const auto tell = [&](auto&& how) {
    for (std::uint32_t left = who; left != 0; left &= left - 1) {
      how(*detectors_[static_cast<unsigned>(std::countr_zero(left))]);
    }
  };
  order_.act(event);
  if (event.step == Step::kDone && kLooks.contains(event.op)) {
    tell([&](Detector& detector) { detector.on_look(event); });
  }
  if (!piece) {
    order_.on_event(event);
  }
  if (event.step == Step::kBlocked) {
    tell([&](Detector& detector) { detector.on_blocked(event); });
  } else {
    tell([&](Detector& detector) { detector.on_event(event); });
  }
}

void DetectorSet::at_end(const Gpu& gpu, RunEnd end) {
  for (const auto& detector : detectors_) {
    detector->at_end(gpu, end);
  }
}

}  // namespace warptwin::sim
