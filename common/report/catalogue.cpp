#include "common/report/catalogue.hpp"

#include <algorithm>

namespace warptwin {

namespace {

using enum Severity;

constexpr DiagnosticInfo kCatalogue[] = {
    {"ASYNC_PENDING_AT_EXIT", kError, kError,
     "a CTA ends while a copy still writes its shared memory"},
    {"BULK_STORE_PENDING_AT_EXIT", kWarning, kError,
     "a CTA ends while a bulk store still reads its shared memory"},
    {"CLUSTER_BARRIER_DOUBLE_ARRIVE", kError, kError,
     "a warp arrives twice at one generation of the cluster barrier"},
    {"CLUSTER_BARRIER_WAIT_NO_ARRIVE", kError, kError,
     "a warp waits at the cluster barrier without having arrived"},
    {"CTA_EXIT_WITH_PENDING_REMOTE", kError, kError,
     "a CTA ends while an arrival, commit or copy of another CTA is on its way to it"},
    {"DEADLOCK", kFatal, kFatal, "nobody can go on, and some warp is not done"},
    {"LIVELOCK_SPIN", kFatal, kFatal, "warps poll, and nothing changes any more"},
    {"MBAR_ARRIVE_COUNT", kError, kError, "an arrival of count 0 or of more than 2^20 - 1"},
    {"MBAR_DROP_TO_ZERO", kError, kError, "arrive_drop leaves a barrier that expects nobody"},
    {"MBAR_EXPECT_AFTER_LAST_ARRIVE", kWarning, kError,
     "an expect-tx comes after the last arrival of its phase"},
    {"MBAR_EXPECT_MULTI_LANE", kWarning, kWarning,
     "several lanes expect bytes with one instruction"},
    {"MBAR_INIT_COUNT", kFatal, kFatal, "an mbarrier is initialised with a count outside 1 .. 2^20 - 1"},
    {"MBAR_INIT_NOT_CLUSTER_VISIBLE", kError, kError,
     "another CTA signals an mbarrier whose initialisation is not ordered before it"},
    {"MBAR_INIT_RACE", kError, kError,
     "a warp uses an mbarrier whose initialisation is not ordered before it"},
    {"MBAR_INVAL_IN_USE", kError, kError, "an mbarrier is invalidated in the middle of a phase"},
    {"MBAR_MEM_CLOBBER", kError, kError, "an ordinary access overlaps a live mbarrier"},
    {"MBAR_MISALIGNED", kFatal, kFatal, "an mbarrier address is not a multiple of 8"},
    {"MBAR_NOCOMPLETE", kError, kError, "a noComplete arrival completes its phase"},
    {"MBAR_OVERARRIVE", kError, kError, "more arrivals than the phase has pending"},
    {"MBAR_PARITY_VALUE", kError, kError, "the parity operand of a wait is neither 0 nor 1"},
    {"MBAR_PHASE_UNOBSERVED", kWarning, kError,
     "an arrival in a phase although nobody has waited for the one before"},
    {"MBAR_REINIT_LIVE", kError, kError, "an mbarrier is initialised again while it is live"},
    {"MBAR_SPACE", kFatal, kFatal, "an mbarrier operation on an address where it cannot be done"},
    {"MBAR_SURPLUS_ARRIVAL", kError, kError,
     "a participant arrives once too often: its arrival counts in a phase it was not meant for"},
    {"MBAR_SW_COMPLETE_WITH_HW", kWarning, kWarning,
     "software completes bytes on a phase that copies complete too"},
    {"MBAR_TX_MISMATCH", kError, kError,
     "all have arrived, but the bytes announced and the bytes delivered differ"},
    {"MBAR_TX_OVERFLOW", kError, kError, "an expect-tx takes the tx-count beyond 2^20 - 1"},
    {"MBAR_TX_UNDERFLOW", kError, kError, "a complete-tx takes the tx-count below -(2^20 - 1)"},
    {"MBAR_TX_WRONG_PHASE", kError, kError,
     "a copy's bytes are counted in another phase than they were announced in"},
    {"MBAR_TX_ZERO", kLint, kWarning, "0 bytes are announced or completed"},
    {"MBAR_UNDERARRIVE", kError, kError, "a phase that is waited for never gets all its arrivals"},
    {"MBAR_UNINIT", kFatal, kFatal, "an operation on memory that holds no mbarrier"},
    {"MBAR_WAIT_AHEAD", kError, kError,
     "a wait passes a phase early: the phase it means has not begun, and parity cannot tell"},
    {"MBAR_WAIT_PHASE_ALIASED", kError, kError,
     "a wait is a whole phase late: the phase it means can no longer be told by its parity"},
    {"MBAR_WAIT_REMOTE", kFatal, kFatal, "a wait on another CTA's mbarrier"},
    {"MBAR_WAIT_VACUOUS", kError, kError,
     "a consumer's first wait is satisfied by the phase before the first"},
    {"MBAR_WAIT_WRONG_PARITY", kError, kError,
     "a warp is stuck on a phase, and the other parity would have let it go on"},
    {"NAMED_BARRIER_COUNT", kFatal, kFatal, "a named barrier's thread count is impossible"},
    {"NAMED_BARRIER_COUNT_MISMATCH", kError, kError,
     "one generation of a named barrier is met with different thread counts"},
    {"NAMED_BARRIER_DOUBLE_ARRIVE", kError, kError,
     "a warp comes twice to one generation of a named barrier"},
    {"NAMED_BARRIER_ID", kFatal, kFatal, "a named barrier's id is above 15"},
    {"PIPELINE_COUNT_MISMATCH", kError, kError,
     "a stage barrier is initialised with another count than its declared participants make"},
    {"PIPELINE_STATE_DESYNC", kError, kError,
     "an arrival counts in an earlier phase than the lap it was made for"},
    {"PRODUCER_TAIL_MISSING", kWarning, kWarning,
     "a producer of a cluster leaves before its stages were released"},
    {"REMOTE_TO_EXITED_CTA", kFatal, kFatal, "an operation on a CTA that has ended"},
    {"STAGE_DOUBLE_RELEASE", kError, kError, "a stage is released twice"},
    {"STAGE_LEAK", kError, kError, "a stage is acquired and never released"},
    {"STAGE_USE_AFTER_RELEASE", kError, kError, "a stage's bytes are used after its release"},
    {"STAGE_USE_BEFORE_ACQUIRE", kError, kError, "a stage's bytes are used before they were waited for"},
    {"TCGEN05_SDESC", kError, kError, "a shared-memory descriptor no tensor core can read"},
    {"TCGEN05_SHAPE", kFatal, kFatal, "an MMA shape that does not exist"},
    {"TCGEN05_UNFINISHED_AT_EXIT", kError, kError, "a CTA ends with tcgen05 operations outstanding"},
    {"TMEM_ADDR_READ_EARLY", kError, kError,
     "the allocated address is read by another warp without order after the allocation"},
    {"TMEM_ALLOC_AFTER_RELINQUISH", kFatal, kFatal, "an allocation after the permit was given up"},
    {"TMEM_ALLOC_CONCURRENT", kWarning, kWarning, "different warps of a CTA allocate tensor memory"},
    {"TMEM_ALLOC_GROWS", kError, kError, "an allocation larger than an earlier one of the CTA"},
    {"TMEM_ALLOC_NCOLS", kFatal, kFatal, "a column count that is no power of two in 32 .. 512"},
    {"TMEM_ALLOC_NOT_CONVERGED", kFatal, kFatal, "an allocation or free by less than a whole warp"},
    {"TMEM_DEALLOC_IN_USE", kError, kError, "columns are freed while they are still used"},
    {"TMEM_DEALLOC_MISMATCH", kError, kError, "a free of something that is not exactly one allocation"},
    {"TMEM_DOUBLE_FREE", kError, kError, "columns are freed twice"},
    {"TMEM_LANE_VIOLATION", kError, kError, "a warp touches lanes of tensor memory that are not its own"},
    {"TMEM_LD_NO_WAIT", kError, kError, "registers of a tcgen05.ld are used before tcgen05.wait::ld"},
    {"TMEM_LEAK", kError, kError, "a CTA ends with tensor memory allocated"},
    {"TMEM_OOB", kFatal, kFatal, "an access leaves the 512 columns"},
    {"TMEM_READ_BEFORE_COMMIT", kError, kError,
     "an accumulator is loaded although its MMAs were not observed to be complete"},
    {"TMEM_UNALLOCATED", kError, kError, "an access to columns the CTA has not allocated"},
    {"TMEM_USE_AFTER_FREE", kError, kError, "an access to freed columns"},
    {"TMEM_WAR", kError, kError, "an accumulator is overwritten while an earlier load may still read it"},
};

}  // namespace

const char* name_of(Severity severity) {
  constexpr const char* kNames[] = {"off", "lint", "warning", "error", "fatal"};
  return kNames[static_cast<unsigned>(severity)];
}

std::span<const DiagnosticInfo> catalogue() { return kCatalogue; }

const DiagnosticInfo* find_diagnostic(std::string_view id) {
  const auto* found = std::find_if(std::begin(kCatalogue), std::end(kCatalogue),
                                   [id](const DiagnosticInfo& info) { return id == info.id; });
  return found == std::end(kCatalogue) ? nullptr : found;
}

}  // namespace warptwin
