/// Small changes of a program: what somebody may have got wrong, one at a time.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/program/program.hpp"

namespace warptwin::sim {

enum class EditKind : std::uint8_t {
  kDrop,           // the operation is not there
  kDropLine,       // no warp executes the operations of this kind at this line
  kTwice,          // it is executed twice
  kSwap,           // it comes behind the next one
  kBarrier,        // the next mbarrier
  kStage,          // the next tile of shared memory
  kPhase,          // another phase or parity
  kCount,          // one more or one less: arrivals, threads, groups
  kBytes,          // 16 more or less
  kMask,           // a CTA more or less
  kRelaxed,        // no release, no acquire
  kScope,          // of the CTA alone
  kIterationLess,  // the last pass of a loop is not there
  kIterationMore,  // there is one more
  kExit,           // the warp ends here
};

const char* name_of(EditKind kind);

struct Edit {
  EditKind kind = EditKind::kDrop;
  std::uint32_t warp = 0;    // number in the grid
  std::uint32_t index = 0;   // of its instruction
  std::int32_t amount = 0;   // what is added, or the new mask
  std::uint32_t length = 0;  // of a pass of a loop, in instructions
  std::uint32_t lap = 0;     // after how many instructions the same barriers come again
};

/// Every edit that makes sense, warp by warp; of warps that do the same, the first one's. The
/// longest repeated piece of a straight-line warp counts as its loop.
std::vector<Edit> edits_of(const Program& program);

/// The program with one edit of `edits_of`.
Program apply(const Program& program, const Edit& edit);

/// "drop: elect mbarrier.arrive [empty[0]]", and what it is replaced by.
std::string describe(const Program& program, const Edit& edit);

}  // namespace warptwin::sim
