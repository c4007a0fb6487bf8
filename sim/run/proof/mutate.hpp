/// Changes a program in every small way, proves each mutant, and asks oracles about those that are
/// called proved.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/run/proof/mutants.hpp"
#include "sim/run/proof/prove.hpp"

namespace warptwin::sim {

/// What somebody who shares no code with the proof says of a program.
struct Opinion {
  enum class Verdict : std::uint8_t { kRight, kWrong, kNone };
  Verdict verdict = Verdict::kNone;
  std::string what;  // is wrong, or why there is no opinion
};

struct Oracle {
  std::string name;
  std::function<Opinion(const Program&)> judge;
};

enum class MutantClass : std::uint8_t {
  // Not proved: a diagnostic, or nothing that could be decided; or with a warning that the program
  // itself does not get.
  kFound,
  kHarmless,  // proved, and an oracle says that it is right
  kMissed,    // proved, and an oracle finds fault
  kUnjudged,  // proved, and no oracle has an opinion
};

const char* name_of(MutantClass of);

struct JudgedMutant {
  std::size_t number = 0;  // of `edits_of`
  Edit edit;
  MutantClass of = MutantClass::kFound;
  ProofVerdict verdict = ProofVerdict::kProved;
  std::vector<std::string> ids;  // of what was found, or why it is undecided
  std::string oracle;            // the one that decided, and what it says
};

struct MutateOptions {
  ProofOptions proof;             // without data; its schedule's tiles are those of the program
  std::vector<Oracle> oracles;    // asked in turn, until one finds fault
  std::uint32_t mutants_max = 0;  // evenly spread over all; 0: all
};

struct MutateResult {
  std::size_t edits = 0;    // that there are
  std::size_t invalid = 0;  // of those tried, no program
  std::vector<JudgedMutant> mutants;
  /// Oracles that find fault with the program itself, which then are not asked: name and reason.
  std::vector<std::string> oracles_left_out;

  std::size_t count(MutantClass of) const;
  /// Lines that no warp needs, at this size: those that were dropped and nobody found fault, the
  /// harmless ones and the unjudged ones.
  std::vector<const JudgedMutant*> redundant() const;
};

/// Throws ConfigError when the program itself is not proved.
MutateResult mutate(const Program& program, const MutateOptions& options);

}  // namespace warptwin::sim
