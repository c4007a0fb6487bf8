/// Proves a launch for every interleaving from one run of it: the detectors on its memory order,
/// the conditions C1 to C5 on its execution order. What is broken gets a schedule that shows it.
///
/// Where clusters ask for the tiles of others (cluster launch control), how many each gets is a
/// choice that one run makes; then there is a run for every number of tiles: see claims.hpp.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/run/proof/witness.hpp"

namespace warptwin::sim {

enum class ProofVerdict : std::uint8_t {
  kProved,      // every interleaving ends, and acts in the phases of the one that was run
  kRefuted,     // a defect, with a schedule that shows it
  kAccepted,    // wrong, but in what ProofOptions::accepts takes out and nothing else
  kUnordered,   // an ordering is missing, and no schedule was found in which it matters
  kUndecided,   // the kernel makes choices that the proof does not speak of
  kIncomplete,  // the run hit its bound
};

const char* name_of(ProofVerdict verdict);

/// Whether `a` says more against a kernel than `b`: of several launches the verdict of all is the
/// one that outweighs the others.
bool outweighs(ProofVerdict a, ProofVerdict b);

class WarpWork;  // elections.hpp

/// A condition that does not hold, and what came of its witness.
struct Refutation {
  RunOrder::Finding broken;
  Finding finding;  // the condition in words, as a diagnostic
  Witness witness;
};

struct ProofOptions {
  RunOptions run;             // its schedule is round robin
  bool control_only = false;  // never with data: what depends on it stays open
  bool witnesses = true;
  std::uint32_t streams_max = 0;    // of so many clusters: for the proof of all trip counts
  std::uint32_t witnesses_max = 8;  // conditions beyond are reported without
  /// Clusters that do what the first did, event by event, are not judged again.
  bool leave_out_alike = true;
  /// Of clusters that claim tiles, each number of them is proved, and no run in which a request
  /// gets what is left, where that is enough.
  bool claims_alone = false;
  /// Whether a finding is left out, and refutes nothing. May be empty.
  std::function<bool(const Finding&)> accepts;
};

/// How many tiles a cluster may get, of those that clusters claim from each other.
struct ClaimScope {
  bool asked = false;        // else there is no such choice
  std::uint32_t tiles = 0;   // run and proved one by one: 1 .. tiles
  std::uint32_t period = 0;  // in tiles; 0: the launch has no more tiles
  std::uint32_t regular = 0;
  std::vector<std::uint32_t> compared;  // beyond: proved, and as the runs up to `tiles` predict
  bool all = false;                     // with these that is each number there is
  std::uint32_t kinds = 0;              // of tiles, by what is done for them; 0: of one
  std::uint32_t orders = 0;  // of several: in which a cluster may get them, each proved by itself

  /// "for 1 to 9 tiles a cluster, proved one by one; ..."
  std::string strength() const;
  /// What it rests on where not `all` are proved.
  std::string hypothesis() const;
};

struct ProofResult {
  ProofVerdict verdict = ProofVerdict::kProved;
  Rules rules;            // it was made under
  ScheduleSpec schedule;  // of the one execution
  RunResult run;          // that execution, with what the detectors found in it
  /// Where that run shows a defect, a fair one: what it shows besides.
  ScheduleSpec second_schedule;
  RunResult second;
  std::vector<Refutation> refutations;
  std::vector<Finding> accepted;  // taken out of all of these
  std::vector<Undecided> undecided;
  std::uint64_t conditions_not_kept = 0;  // broken, or undecided, beyond those that are kept
  bool whole_grid = false;                // clusters were taken together
  bool meets_pairs = false;               // allocates or frees tensor memory of a CTA pair
  /// What the verdict rests on beside PTX's text and the conditions: a sentence each.
  std::vector<std::string> notes;
  bool internal_error = false;
  bool data_decides = false;              // the proof is of a run with the launch's data
  std::vector<RunOrder::Stream> streams;  // see ProofOptions::streams_max
  ClaimScope claims;
  std::string lasts;  // "for each thread that may be the last to add at ..."; see each_last.hpp
  std::vector<std::string> idle_roles;  // that did nothing: see role_work.hpp
  /// Of kernels that claim, by cluster: see RunOrder. Of `prove_claims` the work of the first
  /// cluster, with 1, 2, ... tiles.
  std::vector<std::uint64_t> work;
  std::vector<std::uint64_t> accesses;  // by cluster
  std::uint64_t operations = 0;         // of all runs that were made for it
  /// What warps did in that execution, of PTX that makes no choices: with the lowest lane elected,
  /// where the rules leave that open. Else null.
  std::shared_ptr<const WarpWork> warp_work;

  /// Reports of more findings than are kept, of both runs and of the conditions.
  std::uint64_t not_kept() const { return run.not_kept + second.not_kept + conditions_not_kept; }
  /// "proved: every interleaving of this launch ..."
  std::string strength() const;

 private:
  std::string text_of_notes() const;
};

/// Floating-point operations of a launch, or bytes if it says none or has more of these.
std::uint64_t work_of(const Workload& workload);

/// Work up to which a launch is run with its data unasked: a second or two.
inline constexpr std::uint64_t kDataWorkMax = std::uint64_t{1} << 30;

/// For every interleaving, and every number of tiles that a cluster may claim.
ProofResult prove(const ScenarioEntry& scenario,
                  const ParameterSet& parameters,
                  const ProofOptions& options);

/// The same with tiles claimed as `options.run.schedule.tiles` says, or at 0 as they are in the
/// run.
ProofResult prove_run(const ScenarioEntry& scenario,
                      const ParameterSet& parameters,
                      const ProofOptions& options);

}  // namespace warptwin::sim
