#include "sim/cli/reports.hpp"

#include "sim/cli/pictures.hpp"
#include "sim/json/json_text.hpp"
#include "sim/pictures/page.hpp"
#include "sim/report/annotations.hpp"
#include "sim/report/baseline.hpp"
#include "sim/report/junit.hpp"
#include "sim/report/sarif.hpp"
#include "sim/report/steps.hpp"

namespace warptwin::sim::cli {

namespace {

void open_report(const Session& session, const char* option, std::ofstream& file) {
  const std::string path = text_option(session, option);
  if (session.options.count(option) == 0) {
    return;
  }
  file.open(path, std::ios::binary);
  if (!file) {
    throw ConfigError("--" + std::string{option} + ": " + path + " cannot be written");
  }
}

void close_report(const Session& session, const char* option, std::ofstream& file) {
  file.close();
  if (!file) {
    throw ConfigError("--" + std::string{option} + ": " + text_option(session, option) +
                      " cannot be written");
  }
}

// An old baseline stays as it is until there is a new one.
void write_baseline(const Session& session) {
  const std::string path = text_option(session, "write-baseline");
  const Baseline baseline = Baseline::of(session.judgement.all);
  std::ofstream file{path, std::ios::binary};
  file << baseline.text();
  close_report(session, "write-baseline", file);
  session.err << path << ": " << baseline.entries().size() << " findings written\n";
}

}  // namespace

Reports::Reports(const Session& session) : root_{text_option(session, "source-root")} {
  open_report(session, "junit", junit_);
  open_report(session, "sarif", sarif_);
}

void Reports::write(Session& session, ExitCode code, const std::string& error) {
  Judgement& judgement = session.judgement;
  judgement.exit = code;
  judgement.error = error;
  judgement.baseline = session.options.count("baseline") != 0;
  if (junit_.is_open()) {
    junit_ << junit_of(judgement);
    close_report(session, "junit", junit_);
  }
  if (sarif_.is_open()) {
    sarif_ << text_of_json(sarif_of(judgement, root_, WARPTWIN_VERSION), 2) << "\n";
    close_report(session, "sarif", sarif_);
  }
  if (session.options.count("annotations") != 0) {
    session.err << annotations_of(judgement, root_);
  }
  if (session.options.count("write-baseline") != 0 && error.empty()) {
    write_baseline(session);
  }
}

bool judges(const Session& session) {
  for (const char* option : {"junit", "sarif", "annotations", "write-baseline"}) {
    if (session.options.count(option) != 0) {
      return true;
    }
  }
  return asks_pictures(session);
}

void add_finding(const Session& session,
                 const ScenarioEntry& scenario,
                 const ParameterSet& parameters,
                 const ReportedFinding& found,
                 const RunOptions& run,
                 Judged& judged) {
  JudgedFinding finding =
      judged_of(scenario, found.finding, found.context, session.options.count("strict") != 0);
  RunOptions again = run;
  again.schedule = found.schedule;
  const bool page = session.options.count("html") != 0;
  // Wrong values come of a whole run, not of its last steps.
  if ((page || session.options.count("sarif") != 0) && finding.id != "RESULT_WRONG") {
    finding.steps =
        steps_to(scenario, parameters, again, found.finding, page ? kPageSteps + 1 : kStepsKept);
  }
  if (asks_pictures(session)) {
    finding.shown = std::make_shared<const ShownRun>(ShownRun{parameters, again});
  }
  judged.findings.push_back(finding);
}

void add_proof(const Session& session,
               const ScenarioEntry& scenario,
               const ParameterSet& parameters,
               const ProofResult& proof,
               const RunOptions& run,
               Judged& judged) {
  RunOptions again = run;
  again.moves_data = proof.data_decides;
  for (const ReportedFinding& found : reported_of(proof, scenario, parameters)) {
    add_finding(session, scenario, parameters, found, again, judged);
  }
  for (const Undecided& one : proof.undecided) {
    judged.open.push_back({one.reason, place_of(one.site)});
  }
  judged.not_kept += proof.not_kept();
}

}  // namespace warptwin::sim::cli
