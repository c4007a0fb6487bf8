/// Small kernels in PTX whose lanes go ways of their own, drawn, and decided by brute force.
///
/// A few lanes of two or three warps store, load and add words of shared and global memory, and
/// hand over by mbarriers, by words that they poll, by `bar.warp.sync`. What is drawn is right;
/// edits make it wrong, or not. The oracle here takes every lane for a thread: it executes all
/// their interleavings, and shares no code with the simulator.

#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace warptwin::lanes {

enum class Kind : std::uint8_t {
  kStore,    // a word, not atomic
  kLoad,     // likewise
  kAdd,      // to a word, atomic and relaxed; or another `Update` of it
  kArrive,   // at an mbarrier, release
  kWait,     // for a phase of one, by its parity, acquire
  kSet,      // a flag, release
  kBump,     // adds one to a flag, release; or makes it `value` at least
  kAwait,    // polls a flag until a `Test` with `value` holds, acquire
  kSync,     // bar.warp.sync of the lanes of the step
  kShuffle,  // shfl.sync of them: they meet, and no memory is ordered
  kFence,    // acquires what relaxed looks have seen, releases for relaxed words behind it
  kExpect,   // arrives at an mbarrier as kArrive, and expects `value` bytes
  kCopy,     // a `Copy` to a word of shared memory; mbarrier `value` counts it
  kAskLast,  // adds one to a flag, acq_rel; goes on if that was the `value`-th, else ends
};

/// What brings something, and is over when the mbarrier has counted it.
enum class Copy : std::uint8_t {
  kBulk,     // from `in`
  kStore,    // st.async of `data`
  kReduce,   // red.async, which adds `data`
  kCounted,  // cp.async and cp.async.mbarrier.arrive.noinc, which arrives at its end
  kPending,  // the same without .noinc: the phase takes one arrival more, which comes at its end
};
enum class Update : std::uint8_t { kAdds, kMax, kOr };
enum class Test : std::uint8_t { kAtLeast, kEqual, kNotOneLess, kAnyBit };

constexpr std::uint32_t kCopyBytes = 16;  // of a bulk copy
constexpr std::uint32_t kWordBytes = 4;
constexpr std::uint32_t kFlagsMax = 4;

/// What the lanes of one warp do, each by itself.
struct Step {
  Kind kind{};
  std::uint32_t warp = 0;
  std::uint32_t lanes = 0;   // a mask
  std::uint32_t object = 0;  // of the word, mbarrier or flag
  std::uint32_t value = 0;   // stored, added, set, awaited; the parity
  bool relaxed = false;      // no release, no acquire
  bool near = false;         // of the scope of the CTA, where the other is of the GPU's
  Copy copy = Copy::kBulk;
  Update update = Update::kAdds;
  Test test = Test::kAtLeast;
  std::uint32_t data = 0;  // that a copy stores or adds
};

/// Words [0, shared_words) are of shared memory, and hold nothing at first; those behind are of
/// global memory, and hold 0. What copies bring is 0. Warps, shared words and mbarriers are dealt
/// to the CTAs in turn.
struct LaneProgram {
  std::uint32_t ctas = 1;
  std::uint32_t warps = 2;
  std::uint32_t live = 1;  // the lanes that act, of each warp, as a mask; the others end at once
  std::uint32_t shared_words = 3;
  std::uint32_t words = 5;
  std::uint32_t flags = 2;
  bool relaxed = false;               // some accesses and arrivals are, or are of the CTA alone
  bool copies = false;                // copies write shared words, of which each has 16 bytes then
  bool counted = false;               // of every form; atomics and waits are of more kinds
  bool fences_of_met = false;         // granted: fences hold for lanes that theirs has met
  std::vector<std::uint32_t> counts;  // of the mbarriers
  std::vector<Step> steps;            // of each warp, in this order
};

inline std::uint32_t cta_of(const LaneProgram& program, std::uint32_t object) {
  return object % program.ctas;
}

/// What a draw has beside the rest.
struct Drawn {
  bool asks = false;     // at the end lanes ask which of them is the last
  bool counted = false;  // `LaneProgram::counted`
};
/// A program without a fault, then `edits` changes of one place each.
LaneProgram random_lane_program(std::mt19937_64& random, std::uint32_t edits, Drawn drawn = {});

/// The body of a kernel, for tests/sim/ptx/machine/one_kernel.hpp: flags and global words are words
/// of `in`.
std::string ptx_of(const LaneProgram& program);
/// A line for each step, to be read.
std::string listing_of(const LaneProgram& program);
/// How many words `in` has.
std::uint32_t input_words(const LaneProgram& program);

/// What all interleavings of all lanes show.
struct LaneAnswer {
  bool known = true;  // all were executed, or a fault was found
  std::string fault;  // empty: there is none
  std::uint64_t states = 0;
};
LaneAnswer ask_every_interleaving(const LaneProgram& program, std::uint64_t states_max);

}  // namespace warptwin::lanes
