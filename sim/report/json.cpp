#include "sim/report/json.hpp"

#include "sim/report/values.hpp"

namespace warptwin::sim {

namespace {

const char* name_of(ScenarioKind kind) {
  switch (kind) {
    case ScenarioKind::kClean:
      return "clean";
    case ScenarioKind::kBroken:
      return "broken";
    case ScenarioKind::kConformance:
      break;
  }
  return "conformance";
}

}  // namespace

Json json_of(const ScenarioEntry& scenario) {
  Json parameters = Json::array();
  for (const Parameter& parameter : scenario.parameters) {
    parameters.push_back({{"name", parameter.name},
                          {"summary", parameter.summary},
                          {"default", parameter.standard},
                          {"minimum", parameter.minimum},
                          {"maximum", parameter.maximum}});
  }
  const bool broken = scenario.info->kind == ScenarioKind::kBroken;
  return {{"name", scenario.info->name},
          {"kind", name_of(scenario.info->kind)},
          {"summary", scenario.info->summary},
          {"expected", broken ? Json(scenario.info->expected) : Json(nullptr)},
          {"twin", broken ? Json(scenario.info->twin) : Json(nullptr)},
          {"parameters", parameters}};
}

Json json_of(const Finding& finding, const ReportContext& context) {
  Json others = Json::array();
  for (const auto& [name, object] : finding.others) {
    others.push_back(name);
  }
  Json json = {{"id", finding.info->id},
               {"severity", warptwin::name_of(finding.severity)},
               {"message", finding.message},
               {"object", text_of(finding.object)},
               {"agent", text_of(finding.agent)},
               {"line", text_of(finding.site)},
               {"step", finding.step},
               {"details", lines_of(finding)},
               {"repeated", finding.repeated},
               {"others", others},
               {"means", finding.info->meaning},
               {"schedule", context.schedule},
               {"replay", context.replay},
               {"values", values_of(finding)}};
  const PtxLines ptx = context.lines_at ? context.lines_at(finding.site) : PtxLines{};
  if (!ptx.lines.empty()) {
    json["ptx"] = {{"file", ptx.file}, {"lines", ptx.lines}, {"inlined_at", ptx.inlined_at}};
  }
  if (const std::string loop = loop_of(finding, ptx); !loop.empty()) {
    json["loop"] = loop;
  }
  return json;
}

Json json_of(const Comparison& comparison) {
  return {{"tensor", comparison.tensor},
          {"agrees", comparison.agrees()},
          {"error", comparison.error},
          {"fraction_of_bound", comparison.worst},
          {"row", comparison.row},
          {"column", comparison.column},
          {"got", comparison.got},
          {"expected", comparison.expected},
          {"relative_bound", comparison.tolerance.relative},
          {"absolute_bound", comparison.tolerance.absolute}};
}

Json json_of(const Budget& budget) {
  Json regions = Json::array();
  for (const Budget::RegionUse& region : budget.regions) {
    regions.push_back({{"name", region.name}, {"count", region.count}, {"bytes", region.bytes}});
  }
  return {{"shared_bytes", budget.shared_bytes},
          {"regions", regions},
          {"tmem_columns", budget.tmem_columns},
          {"threads", budget.threads},
          {"registers", budget.registers},
          {"registers_known", budget.registers_known},
          {"named_barriers", budget.named_barriers},
          {"ctas", budget.ctas},
          {"cluster_size", budget.cluster_size},
          {"ctas_per_sm", budget.ctas_per_sm},
          {"limited_by", budget.limited_by},
          {"waves", budget.waves},
          {"stages_fitting", budget.stages_fitting}};
}

}  // namespace warptwin::sim
