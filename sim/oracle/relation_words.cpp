#include "sim/oracle/relation_words.hpp"

namespace warptwin::sim::relation {

std::string in_words(const Who& who) {
  return std::string{name_of(who.op)} + " of warp " + std::to_string(who.warp) + ", line " +
         std::to_string(who.site.line);
}

const char* words_of(Fault fault) {
  switch (fault) {
    case Fault::kNone:
      return "nothing";
    case Fault::kUninitialised:
      return "no mbarrier there";
    case Fault::kMisaligned:
      return "misaligned";
    case Fault::kOutOfRange:
      return "out of range";
    case Fault::kBadCount:
      return "a count out of its range";
    case Fault::kAlreadyInitialised:
      return "initialised already";
    case Fault::kInUse:
      return "in use";
    case Fault::kOverArrive:
      return "more arrivals than pending";
    case Fault::kTxOverflow:
    case Fault::kTxUnderflow:
      return "tx-count out of its range";
    case Fault::kWouldComplete:
      return "a noComplete that completes";
    case Fault::kDropToZero:
      return "the last one drops";
    case Fault::kBadParity:
      return "no parity";
    case Fault::kExitedCta:
      return "the CTA has ended";
    case Fault::kNotWholeWarp:
      return "not by the whole warp";
    case Fault::kGrows:
      return "larger than an allocation before";
    case Fault::kAfterRelinquish:
      return "after the permit was relinquished";
    case Fault::kNotAllocated:
    case Fault::kFreed:
      return "columns that are not allocated";
    case Fault::kWrongAllocation:
      return "no allocation";
    case Fault::kLaneSlice:
      return "lanes of another warp";
    case Fault::kUnsettled:
      return "registers before their wait";
    case Fault::kBadDescriptor:
      return "a bad descriptor";
    case Fault::kBadShape:
      return "a bad shape";
    case Fault::kCountMismatch:
      return "two thread counts in one generation";
    case Fault::kDoubleArrive:
      return "a second arrival in one generation";
    case Fault::kNoArrive:
      return "a wait without an arrival";
    case Fault::kOverlap:
      return "the bytes of a live mbarrier";
    case Fault::kBadMask:
      return "a mask beyond the cluster";
    case Fault::kFailedResponse:
      return "a response that names no cluster";
    case Fault::kOtherLane:
      return "issued by another lane";
    case Fault::kNotWarpgroup:
      return "not by the whole warpgroup";
    case Fault::kUnwaited:
      return "an accumulator before its wait";
    case Fault::kNoFence:
      return "registers without wgmma.fence";
    case Fault::kLaneRace:
      return "two lanes at one word";
    case Fault::kOnItsWay:
      return "bytes that a copy still writes";
    case Fault::kStopped:
      return "the kernel ends itself";
  }
  return "a fault";
}

std::string in_words(const Access& access, const Footprint& where) {
  const std::string range =
      std::to_string(where.front().first) + " to " + std::to_string(where.front().second);
  switch (access.space) {
    case Space::kShared:
      return "bytes " + range + " of cta " + std::to_string(access.cta);
    case Space::kGlobal:
      return "global bytes " + range;
    case Space::kTensor:
      break;
  }
  const std::uint64_t group = where.front().first / kGroupCells;
  return "tensor memory of cta " + std::to_string(access.cta) + ", lanes from " +
         std::to_string(group * kGroupLanes) + ", columns from " +
         std::to_string(where.front().first % kGroupCells);
}

}  // namespace warptwin::sim::relation
