/// The files that a command writes for other programs: --junit, --sarif, --annotations,
/// --write-baseline.

#pragma once

#include <fstream>
#include <string>

#include "sim/cli/session.hpp"
#include "sim/report/proof.hpp"

namespace warptwin::sim::cli {

class Reports {
 public:
  /// Opens the files. Throws ConfigError where one cannot be written.
  explicit Reports(const Session& session);

  /// Writes them. `error` says why the command did not come to its end; it is empty where it did.
  void write(Session& session, ExitCode code, const std::string& error);

 private:
  std::ofstream junit_;
  std::ofstream sarif_;
  std::string root_;
};

/// Whether anything is made of what is judged.
bool judges(const Session& session);

/// Puts the finding, with its steps where a report wants them, behind those of `judged`.
void add_finding(const Session& session,
                 const ScenarioEntry& scenario,
                 const ParameterSet& parameters,
                 const ReportedFinding& found,
                 const RunOptions& run,
                 Judged& judged);

/// The findings of a proof, and what it leaves open.
void add_proof(const Session& session,
               const ScenarioEntry& scenario,
               const ParameterSet& parameters,
               const ProofResult& proof,
               const RunOptions& run,
               Judged& judged);

}  // namespace warptwin::sim::cli
