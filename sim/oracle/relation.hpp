/// Oracle R: PTX's memory order of one execution as a bit matrix over all of its operations, and
/// every pair of accesses that conflict looked up in it. No clocks, nothing left out, and no code
/// shared with the detectors or the proof.
///
/// The nodes. An operation is one; what may block is two, its *look* and its *pass*; what is
/// asynchronous has its *issue* in the warp's program order, a *begin*, and an end for each step:
/// source read, destination written, arrival made. An access lies between two nodes, its start and
/// its end; one precedes another when its end reaches the other's start.
///
/// Two matrices, edge by edge as the manual has them (PTX ISA 9.0, "Memory Consistency Model" and
/// the instructions' own pages):
///  - *memory*: what one access may take for granted of another. Program order of a warp; program
///    order to the begin of what is issued, but not through it: a copy's end publishes the copy, a
///    commit the tensor operations of its thread. Releases to the acquires that observe them, by
///    mbarrier phase, named and cluster barrier, global word, where both scopes hold both threads;
///    relaxed ones by the fences around them. fence.mbarrier_init: initialisations alone.
///    Proxies: a generic access before an asynchronous one needs fence.proxy.async in between, of a
///    space that holds the bytes. tcgen05 across threads needs the two fences. MMAs of one thread
///    whose accumulators overlap have an order where they begin alike and have one shape.
///  - *execution*: the same, and what merely happens before: relaxed arrivals, an operation's own
///    course. The ends of CTAs are judged on it.
///
/// A pair of conflicting accesses without an order of its own is none of a race where accesses of
/// the same bytes, each in conflict and in order with the next, lead from one to the other.
///
/// Lanes: each lane that ever acts alone is a thread here, and all others of its warp are one until
/// the warp comes together; each of them has lanes that a wait leaves behind. Loads and stores of
/// one warp's lanes are compared with each other where they are of one word: elsewhere it is not
/// known which lane has which bytes.
///
/// The same is done with an execution in turn in which every try fails, and with random ones; an
/// execution that does not end, that does what the machine calls a fault, or in which a contributor
/// or wait acts in another phase than in the first, is a finding too.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/functional/engine.hpp"
#include "sim/program/program.hpp"

namespace warptwin::sim {

/// What the manual leaves open, each at its weak side, and how much is run.
struct RelationOptions {
  /// A releasing fence counts for every thread that its own has met since, as PTX says of fence.sc
  /// alone: a relaxed arrival publishes what it covers.
  bool fences_of_met = false;
  /// An elect.sync of all lanes brings them together in memory order, as PTX says of bar.warp.sync.
  bool elections_meet = false;
  /// A tcgen05.commit also publishes the copies that its warp had waited for.
  bool commit_copies = false;
  /// Neither CTA of a pair goes on from tcgen05.alloc before both have come.
  bool pair_alloc_meets = false;
  /// MMAs and tcgen05.cp of a warp are done in order, beyond the pairs of the manual.
  bool tensor_in_order = false;
  /// Other warps' tensor memory needs tcgen05.fence::before_thread_sync and ::after_thread_sync.
  bool tensor_fences = true;
  /// A wait of CTA scope does not see what the engines of another CTA signal.
  bool strict_wait_scope = true;
  /// A generic read before an asynchronous write needs the fence too.
  bool fence_after_reads = true;
  /// A bulk store has to have read its source when its CTA ends.
  bool stores_end_with_cta = true;
  /// Registers of a tcgen05.ld that are used before its wait.
  bool unsettled_registers = true;

  /// A load of words that nobody wrote is wrong, whatever is done with them.
  bool words_need_data = true;

  /// A try says no, and is a wait when it is made again, which its lanes leave one by one. It may
  /// say no where PTX says that it cannot: evidence for a defect that was found otherwise, no more.
  bool tries_fail = false;

  std::uint32_t interleavings = 16;
  std::uint64_t seed = 1;
  bool first_only = false;  // stop after the first execution that shows something
};

/// As the profile `practical` chooses: what production kernels take for granted is granted.
RelationOptions practical_relation();

enum class RelationKind : std::uint8_t {
  kEnding,        // deadlock, livelock, trap
  kFault,         // of one operation, in the machine's words
  kPhase,         // a wait or a contribution in another phase than meant, or than elsewhere
  kRace,          // two accesses in no order
  kProxy,         // in order, without a proxy fence
  kTensorFence,   // in order, without the tcgen05 fences
  kUnwritten,     // bytes of an operand that nobody writes
  kBarrierLife,   // an mbarrier's use and its init or inval
  kBarrierBytes,  // data on the bytes of a live mbarrier
  kAllocation,    // tensor memory: use, allocation, free, permit
  kExit,          // a CTA ends before what acts on it
  kTensorMap,
  kGridBefore,  // memory of the grid before without griddepcontrol.wait
  kIncomplete,  // a bound was hit: nothing is known
};

const char* name_of(RelationKind kind);

struct RelationFinding {
  RelationKind kind = RelationKind::kRace;
  std::string why;
  std::string schedule;  // of the execution
  SourceSite first{};
  SourceSite second{};
};

/// Something that runs under any schedule: every event of a run goes to the sink. It must do the
/// same under the same schedule, and move data, so that words which copies bring decide.
struct RelationInput {
  LaunchConfig launch;
  std::function<Ending(const ScheduleSpec&, EventSink&)> run;
};

/// A run of more than `steps_max` steps is given up: the matrices grow by the square of them. The
/// program has to outlive the input.
RelationInput relation_input(const Program& program, std::uint64_t steps_max = 5'000);

/// What is wrong in the executions, each cause once; empty: nothing.
std::vector<RelationFinding> judge_relation(const RelationInput& input,
                                            const RelationOptions& options = {});

}  // namespace warptwin::sim
