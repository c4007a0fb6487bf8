#include "sim/report/values.hpp"

#include <optional>
#include <string>
#include <variant>

#include "sim/model/symbols.hpp"

namespace warptwin::sim {

namespace {

const char* kind_name(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kNothing:
      return "nothing";
    case ObjectKind::kMbarrier:
      return "mbarrier";
    case ObjectKind::kNamedBarrier:
      return "named_barrier";
    case ObjectKind::kClusterBarrier:
      return "cluster_barrier";
    case ObjectKind::kStage:
      return "stage";
    case ObjectKind::kSharedMemory:
      return "shared_memory";
    case ObjectKind::kTensorMemory:
      return "tensor_memory";
    case ObjectKind::kGlobalMemory:
      return "global_memory";
    case ObjectKind::kRegisters:
      return "registers";
    case ObjectKind::kTensorMap:
      return "tensor_map";
    case ObjectKind::kCta:
      return "cta";
    case ObjectKind::kWarp:
      return "warp";
    case ObjectKind::kOther:
      break;
  }
  return "other";
}

const char* kind_name(WaitKind kind) {
  switch (kind) {
    case WaitKind::kMbarrier:
      return "mbarrier";
    case WaitKind::kNamedBarrier:
      return "named_barrier";
    case WaitKind::kClusterBarrier:
      return "cluster_barrier";
    case WaitKind::kBulkGroups:
      return "bulk_groups";
    case WaitKind::kColumns:
      return "columns";
    case WaitKind::kPeer:
      return "peer";
    case WaitKind::kRegisters:
      return "registers";
    case WaitKind::kGlobalWord:
      return "global_word";
    case WaitKind::kTensorAccesses:
      return "tensor_accesses";
    case WaitKind::kWgmmas:
      return "wgmmas";
    case WaitKind::kLateLanes:
      return "late_lanes";
    case WaitKind::kOperation:
      return "operation";
    case WaitKind::kNotBegun:
      return "not_begun";
    case WaitKind::kRuns:
      return "runs";
    case WaitKind::kEnded:
      break;
  }
  return "ended";
}

const char* kind_name(Said::Kind kind) {
  switch (kind) {
    case Said::Kind::kPlain:
      return "plain";
    case Said::Kind::kMissing:
      return "missing";
    case Said::Kind::kThen:
      return "then";
    case Said::Kind::kShown:
      return "shown";
    case Said::Kind::kWrong:
      return "wrong";
    case Said::Kind::kProblem:
      break;
  }
  return "internal_error";
}

template <class Value>
void add_known(Json& json, const char* key, const std::optional<Value>& value) {
  if (value) {
    json[key] = *value;
  }
}

Json value_of(const SourceSite& site) {
  const std::string text = sim::text_of(site);
  return text.empty() ? Json(nullptr)
                      : Json{{"file", text.substr(0, text.rfind(':'))}, {"line", site.line}};
}

Json value_of(const Agent& agent) {
  if (agent.empty()) {
    return nullptr;
  }
  return {{"cta", agent.cta},
          {"warps", agent.warps},
          {"role", agent.role == Role::kCount ? Json(nullptr) : Json(name_of(agent.role))}};
}

Json value_of(const Object& object) {
  if (object.kind == ObjectKind::kNothing) {
    return nullptr;
  }
  Json json = {{"kind", kind_name(object.kind)}, {"name", object.name}};
  if (object.cta != Object::kNoCta) {
    json["cta"] = object.cta;
  }
  switch (object.kind) {
    case ObjectKind::kNamedBarrier:
      json["id"] = object.address;
      break;
    case ObjectKind::kMbarrier:
    case ObjectKind::kSharedMemory:
    case ObjectKind::kGlobalMemory:
      json["address"] = object.address;
      if (object.bytes != 0) {
        json["bytes"] = object.bytes;
      }
      break;
    default:
      break;
  }
  return json;
}

Json value_of(const BarrierStand& stand) {
  Json json = Json::object();
  add_known(json, "phase", stand.phase);
  json["parity"] = stand.phase ? static_cast<std::uint32_t>(*stand.phase & 1) : stand.parity;
  json["missing_arrivals"] = stand.pending;
  json["arrivals"] = stand.expected;
  json["missing_bytes"] = stand.tx;
  add_known(json, "over_at_phase", stand.passed);
  return json;
}

void add_mbarrier(const Wait& wait, Json& json) {
  json["object"] = value_of(wait.object);
  add_known(json, "phase", wait.phase);
  json["parity"] = wait.wanted;
  if (wait.barrier) {
    json["barrier"] = value_of(*wait.barrier);
  }
}

void add_columns(const Wait& wait, Json& json) {
  json["columns"] = wait.wanted;
  json["holders"] = Json::array();
  for (const Wait::Holder& holder : wait.holders) {
    json["holders"].push_back({{"cta", holder.cta}, {"may_allocate", holder.may_ask}});
  }
}

Json value_of(const Wait& wait) {
  Json json = Json::object();
  json["kind"] = kind_name(wait.kind);
  switch (wait.kind) {
    case WaitKind::kMbarrier:
      add_mbarrier(wait, json);
      break;
    case WaitKind::kNamedBarrier:
      json["object"] = value_of(wait.object);
      add_known(json, "have_come", wait.have);
      if (wait.wanted != 0) {
        json["threads"] = wait.wanted;
      }
      break;
    case WaitKind::kClusterBarrier:
      add_known(json, "have_come", wait.have);
      break;
    case WaitKind::kColumns:
      add_columns(wait, json);
      break;
    case WaitKind::kRegisters:
      add_known(json, "free_a_thread", wait.have);
      break;
    case WaitKind::kGlobalWord:
      json["wanted"] = wait.wanted;
      if (!wait.object.name.empty()) {
        json["test"] = wait.object.name;
      }
      add_known(json, "is", wait.have);
      break;
    case WaitKind::kLateLanes:
    case WaitKind::kOperation:
      json["operation"] = name_of(wait.op);
      break;
    case WaitKind::kBulkGroups:
    case WaitKind::kPeer:
    case WaitKind::kTensorAccesses:
    case WaitKind::kWgmmas:
    case WaitKind::kNotBegun:
    case WaitKind::kRuns:
    case WaitKind::kEnded:
      break;
  }
  return json;
}

Json value_of(const Owed& owed) {
  Json by = nullptr;
  if (owed.by) {
    by = {{"agent", value_of(owed.by->agent)}, {"wait", value_of(owed.by->wait)}};
  }
  return {{"role", name_of(owed.role)},
          {"arrival", sim::name_of(owed.kind)},
          {"by", by},
          {"ended", owed.ended}};
}

Json value_of(const LastChange& last) {
  return {{"operation", name_of(last.op)},
          {"agent", value_of(last.by)},
          {"phase", last.phase},
          {"completed", last.completed},
          {"step", last.step},
          {"site", value_of(last.site)}};
}

// --- A fact of each kind ------------------------------------------------------------------------

Json fact_of(const Said& said) {
  return {{"fact", "said"}, {"kind", kind_name(said.kind)}, {"text", said.text}};
}

Json fact_of(const Blocked& blocked) {
  Json owed = Json::array();
  for (const Owed& one : blocked.owed) {
    owed.push_back(value_of(one));
  }
  return {{"fact", "blocked"},
          {"agent", value_of(blocked.agent)},
          {"wait", value_of(blocked.wait)},
          {"site", value_of(blocked.site)},
          {"owed", owed},
          {"last", blocked.last ? value_of(*blocked.last) : Json(nullptr)}};
}

Json fact_of(const Polls& polls) {
  return {{"fact", "polls"},
          {"agent", value_of(polls.agent)},
          {"operation", name_of(polls.op)},
          {"site", value_of(polls.site)}};
}

Json fact_of(const LeftOut& left) {
  return {{"fact", "left_out"}, {"count", left.count}, {"what", std::string{left.what} + left.of}};
}

Json fact_of(const NotBegun& waiting) {
  return {{"fact", "not_begun"},
          {"first_cta", waiting.first},
          {"last_cta", waiting.last},
          {"resident_ctas", waiting.resident}};
}

Json fact_of(const RegistersHeld& held) {
  return {{"fact", "registers_held"},
          {"warps", held.warps},
          {"role", name_of(held.role)},
          {"registers", held.registers},
          {"ended", held.ended}};
}

Json fact_of(const Act& act) {
  return {{"fact", act.second ? "second" : "first"},
          {"operation", name_of(act.op)},
          {"agent", value_of(act.agent)},
          {"site", value_of(act.site)}};
}

}  // namespace

Json values_of(const Finding& finding) {
  Json others = Json::array();
  for (const auto& [name, object] : finding.others) {
    others.push_back(value_of(object));
  }
  Json details = Json::array();
  for (const Detail& detail : finding.details) {
    details.push_back(std::visit([](const auto& part) { return fact_of(part); }, detail.value()));
  }
  return {{"object", value_of(finding.object)},
          {"agent", value_of(finding.agent)},
          {"site", value_of(finding.site)},
          {"details", details},
          {"others", others}};
}

}  // namespace warptwin::sim
