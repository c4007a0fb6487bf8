/// The proof's verdict on a drawn kernel in PTX beside what all interleavings of its lanes show.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "tests/oracle/lane_program.hpp"

namespace warptwin::lanes {

enum class Agreement : std::uint8_t {
  kRight,       // proved, and no interleaving shows a fault
  kFound,       // not proved, and one does
  kWrongProof,  // proved, and one does
  kRefused,     // not proved though drawn without edits, and none does: three sets of lanes apart
  kUndecided,   // neither proved nor refuted, and none does
  kUnshown,     // the same after edits: the conditions ask for more than an outcome
  kUnknown,     // too many interleavings
  kInternal,    // the proof ended in an internal error or an exception
};
constexpr std::size_t kAgreements = 8;

/// Whether nobody may see one of these.
bool is_fault(Agreement agreement);

struct Judged {
  Agreement agreement{};
  std::uint32_t edits = 0;
  std::string verdict;  // of the proof, its ids, or why it is not decided
  std::string fault;    // of the interleavings
  LaneProgram program;
};

/// Proves a kernel that has had so many edits, and executes every interleaving of its lanes.
Judged judge(const LaneProgram& program, std::uint32_t edits, std::uint64_t states_max);
/// Draws the kernel of `seed`, with at most `edits_max` edits, proves it, and executes every
/// interleaving of its lanes, up to `states_max` states.
Judged judge(std::uint64_t seed,
             std::uint32_t edits_max,
             std::uint64_t states_max,
             Drawn drawn = {});
/// The same disagreement of a smaller program, as far as leaving out steps and lanes gives one.
Judged shrunk(Judged judged, std::uint64_t states_max);
std::string words_of(const Judged& judged);

/// What was judged, counted.
class Totals {
 public:
  void add(const Judged& judged);
  std::uint64_t count(Agreement agreement) const;
  std::uint64_t faults() const;
  std::string text() const;

 private:
  std::array<std::uint64_t, kAgreements> counts_{};
  std::map<std::string, std::uint64_t> undecided_;  // by the reason
  std::map<std::string, std::uint64_t> unshown_;    // by the ids
};

}  // namespace warptwin::lanes
