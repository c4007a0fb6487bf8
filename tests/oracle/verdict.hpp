/// What the proof says of a program beside what the oracles say, and how the two agree.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/oracle/relation.hpp"
#include "sim/program/program.hpp"

namespace warptwin::sim {

enum class Verdict : std::uint8_t {
  kProved,
  kDefect,
  kUnordered,
  kUndecided,
  kIncomplete,
  kInternal
};
const char* name_of(Verdict verdict);

/// What the proof says, and the id or the words that it gives.
struct ToolAnswer {
  Verdict verdict = Verdict::kProved;
  std::string id;                  // of what decided: a diagnostic's, or why it is undecided
  std::string text;                // its message
  std::vector<std::string> ids{};  // of all its errors, each once
  bool across_fences = false;      // it says that fences hold for who has met their threads
  bool elections_meet = false;     // it says that collectives bring lanes together in memory order
};

struct OracleAnswer {
  bool wrong = false;
  bool known = true;         // R came to an answer
  bool every = false;        // V saw every interleaving
  std::uint64_t states = 0;  // that V looked at
  std::string text;          // all findings, a line each
};

enum class Agreement : std::uint8_t {
  kAgrees,
  kWrongProof,    // proved, and an oracle finds something
  kWrongRefusal,  // a defect, and no oracle finds any
  kNotProved,     // right, and neither proved nor refuted
  kInternal,
};
const char* name_of(Agreement agreement);

struct VerdictOptions {
  bool relation = true;               // ask oracle R
  bool values = false;                // ask oracle V
  std::uint64_t states_max = 20'000;  // of V
  bool strict = false;                // the profile, of the proof and of the oracle
  std::uint32_t interleavings = 16;
  bool tries_fail = false;          // see RelationOptions
  bool fences_of_met = false;       // likewise
  bool elections_meet = false;      // likewise
  std::uint64_t steps_max = 5'000;  // of a run
};

/// An error that no drawn program has, and why.
struct NotDrawn {
  const char* id;
  const char* why;
};
std::span<const NotDrawn> not_drawn();

/// Asks the proof. Never throws: an exception is kInternal.
ToolAnswer ask_tool(const Program& program, const VerdictOptions& options);
OracleAnswer ask_oracles(const Program& program, const VerdictOptions& options);

/// The same, with more patience where `tool` has found a defect and they find nothing.
OracleAnswer ask_oracles_of(const Program& program,
                            const ToolAnswer& tool,
                            const VerdictOptions& options);

/// Why no oracle shows what `tool` has found; null where one should: V too, which has seen every
/// interleaving, or R alone.
const char* not_an_oracles(const ToolAnswer& tool, bool values_answered = true);

Agreement agreement_of(const ToolAnswer& tool, const OracleAnswer& oracle);

/// What class a disagreement is of: the same words for the same cause, more or less.
std::string class_of(Agreement agreement, const ToolAnswer& tool, const OracleAnswer& oracle);

/// Leaves out instructions of `program` while the disagreement stays what it is.
Program shrunk(const Program& program, const std::string& failure, const VerdictOptions& options);

}  // namespace warptwin::sim
