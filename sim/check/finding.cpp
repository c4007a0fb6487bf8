#include "sim/check/finding.hpp"

#include <cstdlib>

#include "common/trace/barrier_word.hpp"
#include "common/trace/op_facts.hpp"
#include "common/trace/words.hpp"

#include "sim/model/symbols.hpp"

namespace warptwin::sim {

namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

// Where a fact of a hang stands: never nothing.
std::string place_of(const SourceSite& site) {
  return site.line == 0 ? "no source line" : text_of(site);
}

std::string text_of(const BarrierStand& stand) {
  std::string text = stand.phase ? "phase " + std::to_string(*stand.phase)
                                 : "a phase of parity " + std::to_string(stand.parity);
  text += " " + missing_of(stand.pending, stand.expected, stand.tx);
  if (stand.tx < 0) {
    text += ", with " + plural(static_cast<std::uint64_t>(-stand.tx), "byte") +
            (stand.phase ? " too many delivered" : " more than announced");
  }
  if (stand.passed) {
    text +=
        "; it is phase " + std::to_string(*stand.passed) + ": the one that is waited for is over";
  }
  return text;
}

std::string text_of_mbarrier(const Wait& wait) {
  std::string text = "waits for " + text_of(wait.object);
  if (wait.phase) {
    text += " phase " + std::to_string(*wait.phase);
  }
  text += " (parity " + std::to_string(wait.wanted) + ")";
  return wait.barrier ? text + ": " + text_of(*wait.barrier) : text;
}

std::string text_of_named(const Wait& wait) {
  const std::string text = "waits at " + text_of(wait.object);
  if (wait.have) {
    return text + ": " + std::to_string(*wait.have) + " of " + plural(wait.wanted, "thread") +
           " have come";
  }
  return text + (wait.wanted == 0 ? "" : " with " + std::to_string(wait.wanted) + " threads");
}

std::string text_of_columns(const Wait& wait) {
  std::string text = "waits for " + plural(wait.wanted, "column") + " of tensor memory";
  for (const Wait::Holder& holder : wait.holders) {
    text += ", beside cta " + std::to_string(holder.cta) +
            (holder.may_ask ? ", which has not relinquished the permit to allocate" : "");
  }
  return text;
}

std::string line_of(const Said& said) {
  constexpr const char* kHeads[] = {
      "", "missing: ", "then     ", "shown    ", "wrong    ", "internal error: "};
  return kHeads[static_cast<unsigned>(said.kind)] + said.text;
}

void add_lines(const Blocked& blocked, std::vector<std::string>& lines) {
  lines.push_back("blocked  " + text_of(blocked.agent) + "  " + text_of(blocked.wait) + "  [" +
                  place_of(blocked.site) + "]");
  for (const Owed& owed : blocked.owed) {
    lines.push_back("owed     " + text_of(owed));
  }
  if (const auto& last = blocked.last) {
    lines.push_back("last     " + std::string{name_of(last->op)} + " by " + text_of(last->by) +
                    " in phase " + std::to_string(last->phase) +
                    (last->completed ? ", which it completed" : "") + ", step " +
                    std::to_string(last->step) + ", " + place_of(last->site));
  }
}

std::string line_of(const NotBegun& waiting) {
  return "not begun  ctas " + std::to_string(waiting.first) + " to " +
         std::to_string(waiting.last) + ": " + std::to_string(waiting.resident) +
         " are on the machine at a time";
}

std::string line_of(const RegistersHeld& held) {
  return "held     " + plural(held.warps, "warp") + " (" + name_of(held.role) +
         "): " + std::to_string(held.registers) + " a thread" +
         (held.ended != 0 ? "; " + std::to_string(held.ended) + " ended" : "");
}

}  // namespace

std::string text_of(const Agent& agent) {
  if (agent.empty()) {
    return "";
  }
  std::string numbers;
  for (const std::uint32_t warp : agent.warps) {
    numbers += (numbers.empty() ? "" : ",") + std::to_string(warp);
  }
  const bool several = agent.warps.size() > 1;
  return "cta " + std::to_string(agent.cta) + (several ? " warps " : " warp ") + numbers +
         (agent.role == Role::kCount && !several ? ""
                                                 : " (" + std::string{name_of(agent.role)} + ")");
}

std::string text_of(const Object& object) {
  if (object.kind == ObjectKind::kCta) {
    return "cta " + std::to_string(object.cta);
  }
  std::string text = object.name;
  if (object.cta != Object::kNoCta && object.kind != ObjectKind::kWarp) {
    text += " of cta " + std::to_string(object.cta);
  }
  if (object.kind == ObjectKind::kSharedMemory && object.bytes != 0) {
    text += " (" + std::to_string(object.bytes) + " bytes from shared+" +
            std::to_string(object.address) + ")";
  }
  return text;
}

std::string text_of(const SourceSite& site) {
  return short_site(site.file, site.line);
}

std::string text_of(const Wait& wait) {
  switch (wait.kind) {
    case WaitKind::kMbarrier:
      return text_of_mbarrier(wait);
    case WaitKind::kNamedBarrier:
      return text_of_named(wait);
    case WaitKind::kClusterBarrier:
      return "waits at the cluster barrier" +
             (wait.have ? ": " + plural(*wait.have, "warp") + " have come" : "");
    case WaitKind::kBulkGroups:
      return "waits for its bulk groups";
    case WaitKind::kColumns:
      return text_of_columns(wait);
    case WaitKind::kPeer:
      return "waits for its peer to free tensor memory, too";
    case WaitKind::kRegisters:
      return "waits for registers" +
             (wait.have ? ": the pool has " + std::to_string(*wait.have) + " a thread free" : "");
    case WaitKind::kGlobalWord:
      return "waits for a global word to become " +
             (wait.object.name.empty() ? std::to_string(wait.wanted) : wait.object.name) +
             (wait.have ? ": it is " + std::to_string(*wait.have) : "");
    case WaitKind::kTensorAccesses:
      return "waits for its tensor-memory accesses";
    case WaitKind::kWgmmas:
      return "waits for its wgmmas";
    case WaitKind::kLateLanes:
      return "waits for its late lanes, at " + std::string{name_of(wait.op)};
    case WaitKind::kOperation:
      return "waits at " + std::string{name_of(wait.op)};
    case WaitKind::kNotBegun:
      return "has not begun";
    case WaitKind::kRuns:
      return "runs";
    case WaitKind::kEnded:
      break;
  }
  return "has ended";
}

std::string text_of(const Owed& owed) {
  const std::string where = owed.by ? text_of(owed.by->agent) + ", which " + text_of(owed.by->wait)
                            : owed.ended ? "no one: its warps have ended"
                                         : "no one: the CTA has no such warp";
  return std::string{name_of(owed.role)} + " (" + name_of(owed.kind) + "): " + where;
}

std::vector<std::string> lines_of(const Detail& detail) {
  std::vector<std::string> lines;
  const auto add = [&](std::string line) { lines.push_back(std::move(line)); };
  std::visit(
      Overloaded{
          [&](const Said& said) { add(line_of(said)); },
          [&](const Blocked& blocked) { add_lines(blocked, lines); },
          [&](const Polls& polls) {
            add("polls    " + text_of(polls.agent) + "  " + name_of(polls.op) + "  [" +
                place_of(polls.site) + "]");
          },
          [&](const LeftOut& left) { add("and " + plural(left.count, left.what) + left.of); },
          [&](const NotBegun& waiting) { add(line_of(waiting)); },
          [&](const RegistersHeld& held) { add(line_of(held)); },
          [&](const Act& act) {
            add(std::string{act.second ? "second   " : "first    "} + name_of(act.op) + " of " +
                text_of(act.agent) + " at " + place_of(act.site));
          }},
      detail.value());
  return lines;
}

std::vector<std::string> lines_of(const Finding& finding) {
  std::vector<std::string> all;
  for (const Detail& detail : finding.details) {
    std::vector<std::string> lines = lines_of(detail);
    all.insert(all.end(), lines.begin(), lines.end());
  }
  return all;
}

}  // namespace warptwin::sim
