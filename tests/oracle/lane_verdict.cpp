#include "tests/oracle/lane_verdict.hpp"

#include <algorithm>
#include <exception>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::lanes {

namespace {

constexpr std::array<const char*, kAgreements> kNames = {
    "proved, and no interleaving shows a fault",
    "not proved, and an interleaving shows a fault",
    "WRONG PROOF: proved, and an interleaving shows a fault",
    "REFUSED: not proved without edits, and no interleaving shows a fault",
    "undecided, and no interleaving shows a fault",
    "not proved after edits, and no interleaving shows a fault",
    "too many interleavings",
    "INTERNAL ERROR"};

struct Proved {
  bool proved = false;
  bool undecided = false;
  bool internal = false;
  bool across_fences = false;  // it says that fences hold for who has met their threads
  std::string words;
};

Proved prove(const LaneProgram& program) {
  Proved proved;
  sim::OneKernel kernel{ptx_of(program)};
  kernel.ctas = program.ctas;
  kernel.threads = 32 * program.warps / program.ctas;
  kernel.in.assign(input_words(program), 0);
  kernel.out_words = kernel.threads * kernel.ctas;
  try {
    const sim::ProofResult result = sim::proof_of(kernel);
    proved.proved = result.verdict == sim::ProofVerdict::kProved;
    proved.undecided = result.verdict == sim::ProofVerdict::kUndecided ||
                       result.verdict == sim::ProofVerdict::kIncomplete;
    proved.internal = result.internal_error;
    proved.across_fences = !result.run.across_fences.empty();
    std::vector<std::string> ids = sim::ids_in(result);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    for (const std::string& id : ids) {
      proved.words += (proved.words.empty() ? "" : " ") + id;
    }
    if (proved.undecided && !result.undecided.empty()) {
      proved.words = result.undecided.front().reason;
    }
  } catch (const ConfigError& refused) {  // by name, as what is not there
    proved.undecided = true;
    proved.words = refused.what();
  } catch (const std::exception& error) {
    proved.internal = true;
    proved.words = error.what();
  }
  return proved;
}

Agreement compare(const Proved& proved, const LaneAnswer& answer, std::uint32_t edits) {
  if (proved.internal) {
    return Agreement::kInternal;
  }
  if (!answer.fault.empty()) {
    return proved.proved ? Agreement::kWrongProof : Agreement::kFound;
  }
  if (!answer.known) {
    return Agreement::kUnknown;
  }
  if (proved.proved) {
    return Agreement::kRight;
  }
  if (proved.undecided) {
    return Agreement::kUndecided;
  }
  return edits == 0 ? Agreement::kRefused : Agreement::kUnshown;
}

}  // namespace

bool is_fault(Agreement agreement) {
  return agreement == Agreement::kWrongProof || agreement == Agreement::kInternal;
}

Judged judge(const LaneProgram& program, std::uint32_t edits, std::uint64_t states_max) {
  Judged judged;
  judged.program = program;
  judged.edits = edits;
  LaneAnswer answer = ask_every_interleaving(program, states_max);
  const Proved proved = prove(program);
  if (proved.proved && proved.across_fences && !answer.fault.empty()) {
    LaneProgram granted = program;
    granted.fences_of_met = true;
    answer = ask_every_interleaving(granted, states_max);
  }
  judged.agreement = compare(proved, answer, edits);
  judged.verdict = proved.proved ? "proved" : proved.words;
  judged.fault = answer.fault;
  return judged;
}

Judged judge(std::uint64_t seed, std::uint32_t edits_max, std::uint64_t states_max, Drawn drawn) {
  std::mt19937_64 random{seed};
  const auto edits = static_cast<std::uint32_t>(random() % (edits_max + 1));
  return judge(random_lane_program(random, edits, drawn), edits, states_max);
}

Judged shrunk(Judged judged, std::uint64_t states_max) {
  const auto take = [&](const LaneProgram& smaller) {
    Judged other = judge(smaller, judged.edits, states_max);
    const bool same = other.agreement == judged.agreement;
    if (same) {
      judged = std::move(other);
    }
    return same;
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t i = judged.program.steps.size(); i-- > 0;) {
      LaneProgram without = judged.program;
      without.steps.erase(without.steps.begin() + static_cast<std::ptrdiff_t>(i));
      smaller = take(without) || smaller;
    }
    for (std::size_t i = 0; i < judged.program.steps.size(); ++i) {
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        LaneProgram without = judged.program;
        without.steps[i].lanes &= ~(1U << lane);
        if (without.steps[i].lanes != 0 &&
            without.steps[i].lanes != judged.program.steps[i].lanes) {
          smaller = take(without) || smaller;
        }
      }
    }
  }
  return judged;
}

std::string words_of(const Judged& judged) {
  return std::string{kNames[static_cast<std::size_t>(judged.agreement)]} + ": " +
         std::to_string(judged.edits) + " edits; " + judged.verdict +
         (judged.fault.empty() ? "" : "; " + judged.fault);
}

void Totals::add(const Judged& judged) {
  ++counts_[static_cast<std::size_t>(judged.agreement)];
  if (judged.agreement == Agreement::kUndecided) {
    ++undecided_[judged.verdict];
  }
  if (judged.agreement == Agreement::kUnshown) {
    ++unshown_[judged.verdict];
  }
}

std::uint64_t Totals::count(Agreement agreement) const {
  return counts_[static_cast<std::size_t>(agreement)];
}

std::uint64_t Totals::faults() const {
  return count(Agreement::kWrongProof) + count(Agreement::kInternal);
}

std::string Totals::text() const {
  std::string text;
  for (std::size_t i = 0; i < kAgreements; ++i) {
    text += std::to_string(counts_[i]) + "  " + kNames[i] + "\n";
    const auto* why = static_cast<Agreement>(i) == Agreement::kUndecided ? &undecided_
                      : static_cast<Agreement>(i) == Agreement::kUnshown ? &unshown_
                                                                         : nullptr;
    for (const auto& [words, count] : why == nullptr ? decltype(unshown_){} : *why) {
      text += "    " + std::to_string(count) + "  " + words + "\n";
    }
  }
  return text;
}

}  // namespace warptwin::lanes
