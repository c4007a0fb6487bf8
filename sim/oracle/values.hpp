/// Oracle V: all interleavings of a small program on a machine of its own, whose memory holds *who
/// wrote it* instead of bytes. What it calls right is right in every interleaving; what it calls
/// wrong it shows by a schedule. It shares no code with the model, the detectors or the proof.
///
/// The machine. A step is one operation of a warp, or one step of an asynchronous operation: a
/// copy that lands in one CTA, a bulk store that reads its source or that writes, an MMA, an
/// arrival of a commit or from another CTA, a tcgen05.ld or .st, a response, the lanes that a wait
/// left behind. Steps interleave in every order; each acts at once (sequential consistency per
/// cell). What only a weaker memory shows, fences and proxies among it, is not this oracle's: they
/// do nothing here. A wait tests the parity of a phase, as hardware does.
///
/// Wrong is, in any interleaving:
///  - a hang: a state from which no fair continuation ends every warp;
///  - what hardware does not survive or the manual leaves undefined (PTX ISA 9.0, by section):
///    mbarriers: an operation on what is none, initialised twice, a count outside its range, more
///      arrivals than pending, a tx-count out of range, a .noComplete that completes, a drop to
///      zero, bytes of a valid one written or read by others;
///    bulk and tensor copies: misaligned, out of range, a bad mask, coordinates that do not fit;
///    clusters: shared memory, an mbarrier or tensor memory of a CTA that has ended (a bulk
///      store's late read only with `ValuesOptions::stores_need_their_cta`), an address of no CTA;
///    tensor memory: columns that are not allocated, an illegal or growing allocation, one after
///      relinquishing, a free of what is no allocation, an allocation left at the CTA's end, lanes
///      of another quarter, shapes and descriptors outside the manual's tables, scale factors in
///      the columns of the result;
///    layouts: what an MMA or a tensor store takes for a row of a matrix, and copies or row stores
///      left otherwise; one row twice; a swizzle's pattern entered in the middle;
///    named barriers: a bad id or count, two counts in one generation; the cluster barrier: a
///      second arrival in a generation, a wait without one; collective operations of single lanes;
///    setmaxnreg: out of range or in the wrong direction; cluster launch control: a request of a
///      CTA that has seen a failure;
///  - a value that nobody wrote and that decides a jump, or reaches an MMA or global memory;
///  - an operation that reads what different writers left, in two interleavings;
///  - global memory that ends with different writers, in two interleavings.
///
/// Words of global memory that a release store or a reduction wrote are compared by value: writers
/// of equal values may race, additions commute. Acquiring loads, polls and tries may see different
/// values in different interleavings; what then happens is judged. What cluster launch control
/// grants is enumerated, failures while clusters are left among it; reads and results are compared
/// among interleavings with the same grants. Whether the CTAs of a pair wait for each other where
/// they allocate, and where they free, is enumerated too.
///
/// Not supported, and said: wgmma, a tensor map that changes, a jump on a value or a poll of a word
/// that this oracle does not follow (inputs whose words the program does not say, words that a row
/// store wrote or whose bytes several accesses split), more than 200 operations on their way at a
/// time, 64 CTAs, 32 warps of a CTA.
///
/// Choices of this machine where the manual leaves room, each the model's own or weaker: the tensor
/// operations of a lane are done in order, its commits to its own CTA too; a tcgen05.ld and a .st
/// of a warp are unordered, two of a kind are not; a releasing barrier.cluster.arrive comes after
/// the warp's arrivals on other CTAs have been made, other releases do not wait for them; an
/// allocation takes the lowest free columns; 32 lanes that arrive are 32 arrivals, made without a
/// break; what is executed again by a jump back is told apart up to the sixteenth time.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/program/program.hpp"

namespace warptwin::sim {

struct ValuesOptions {
  std::uint64_t states_max = 20'000;   // beyond: kIncomplete
  bool reduce = true;                  // leave out interleavings that differ in nothing
  bool expect_completes = true;        // an expect-tx may be the last step of a phase (an H200)
  bool stores_need_their_cta = false;  // a bulk store that reads after its CTA's end is wrong
};

struct ValuesResult {
  enum Verdict : std::uint8_t { kRight, kWrong, kIncomplete, kUnsupported };
  Verdict verdict = kRight;
  /// What is wrong, what is not supported, or where the bound was hit; empty if right.
  std::string what;
  /// Of a wrong program: the schedule, step by step from the start.
  std::vector<std::string> path;
  std::uint64_t states = 0;  // distinct states looked at
};

const char* name_of(ValuesResult::Verdict verdict);

/// Decides `program` by looking at every interleaving. Deterministic; neither throws nor hangs,
/// whatever the program: one that does not fit its own launch is kUnsupported.
ValuesResult judge_values(const Program& program, const ValuesOptions& options = {});

}  // namespace warptwin::sim
