// Operands of an instruction, and the operation of the machine that it is.

#include <algorithm>
#include <array>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "common/trace/op_facts.hpp"

#include "sim/ptx/machine/missing_forms.hpp"
#include "sim/ptx/machine/warp.hpp"

namespace warptwin::ptx {

std::span<const WarpRun::HandlerRow> WarpRun::handlers() {
  static constexpr bool kGathers = true;
  static constexpr bool kSilent = true;
  static constexpr bool kBlind = true;
  static const HandlerRow kRows[] = {
      {"ld", &WarpRun::any_load},
      {"ldu", &WarpRun::any_load},
      {"st", &WarpRun::any_store, !kGathers, !kSilent, kBlind},
      {"red", &WarpRun::atomic, !kGathers, !kSilent, kBlind},
      {"atom", &WarpRun::atomic},
      {"cvta", &WarpRun::cvta},
      {"isspacep", &WarpRun::isspacep},
      {"mapa", &WarpRun::mapa},
      {"getctarank", &WarpRun::getctarank},
      {"prefetch", &WarpRun::prefetch, !kGathers, !kSilent, kBlind},
      {"prefetchu", &WarpRun::prefetch},
      {"applypriority", &WarpRun::applypriority},
      {"discard", &WarpRun::discard, !kGathers, !kSilent, kBlind},
      {"st.bulk", &WarpRun::store_bulk, !kGathers, !kSilent, kBlind},
      {"cp.async.bulk.prefetch", &WarpRun::prefetch_bulk},
      {"cp.async.bulk.prefetch.tensor", &WarpRun::prefetch_tensor},
      {"createpolicy.fractional", &WarpRun::createpolicy},
      {"createpolicy.range", &WarpRun::createpolicy},
      {"createpolicy.cvt", &WarpRun::createpolicy},
      {"mbarrier.init", &WarpRun::mbarrier_init},
      {"mbarrier.inval", &WarpRun::mbarrier_inval},
      {"mbarrier.expect_tx", &WarpRun::mbarrier_tx},
      {"mbarrier.complete_tx", &WarpRun::mbarrier_tx},
      {"mbarrier.arrive", &WarpRun::mbarrier_arrive},
      {"mbarrier.arrive_drop", &WarpRun::mbarrier_arrive},
      {"mbarrier.try_wait", &WarpRun::mbarrier_try},
      {"mbarrier.test_wait", &WarpRun::mbarrier_try},
      {"bar.sync", &WarpRun::bar, kGathers},
      {"bar.arrive", &WarpRun::bar, kGathers},
      {"barrier.sync", &WarpRun::bar, kGathers},
      {"barrier.arrive", &WarpRun::bar, kGathers},
      {"bar.red", &WarpRun::bar_red, kGathers},
      {"barrier.red", &WarpRun::bar_red, kGathers},
      {"mbarrier.pending_count", &WarpRun::mbarrier_pending_count},
      {"barrier.cluster.arrive", &WarpRun::cluster_barrier, kGathers},
      {"barrier.cluster.wait", &WarpRun::cluster_barrier, kGathers},
      {"bar.warp.sync", &WarpRun::sync_warp, kGathers, !kSilent, kBlind},
      {"fence", &WarpRun::fence, !kGathers, !kSilent, kBlind},
      {"membar", &WarpRun::fence, !kGathers, !kSilent, kBlind},
      {"fence.mbarrier_init", &WarpRun::fence_mbarrier_init},
      {"fence.proxy", &WarpRun::fence_proxy, !kGathers, !kSilent, kBlind},
      {"shfl.sync", &WarpRun::shfl, kGathers, kSilent, kBlind},
      {"vote.sync", &WarpRun::vote, kGathers, kSilent, kBlind},
      {"match.sync", &WarpRun::match, kGathers, kSilent},
      {"redux.sync", &WarpRun::redux_any, kGathers, kSilent},
      {"elect.sync", &WarpRun::elect, kGathers, kSilent},
      {"activemask", &WarpRun::activemask},
      {"setmaxnreg", &WarpRun::setmaxnreg, kGathers},
      {"griddepcontrol", &WarpRun::griddepcontrol},
      {"nanosleep", &WarpRun::nanosleep, !kGathers, !kSilent, kBlind},
      {"clusterlaunchcontrol.try_cancel", &WarpRun::try_cancel},
      {"clusterlaunchcontrol.query_cancel", &WarpRun::query_cancel},
      {"cp.async", &WarpRun::async_copy},
      {"cp.async.commit_group", &WarpRun::async_group},
      {"cp.async.wait_group", &WarpRun::async_group},
      {"cp.async.wait_all", &WarpRun::async_group},
      {"cp.async.mbarrier.arrive", &WarpRun::async_arrive},
      {"tensormap.replace", &WarpRun::replace_in_map},
      {"tensormap.cp_fenceproxy", &WarpRun::copy_map, kGathers},
      {"st.async", &WarpRun::async_store},
      {"red.async", &WarpRun::async_reduce},
      {"cp.async.bulk.tensor", &WarpRun::tensor_copy},
      {"cp.async.bulk", &WarpRun::bulk_copy},
      {"cp.reduce.async.bulk", &WarpRun::bulk_copy},
      {"cp.reduce.async.bulk.tensor", &WarpRun::tensor_copy},
      {"cp.async.bulk.commit_group", &WarpRun::bulk_group},
      {"cp.async.bulk.wait_group", &WarpRun::bulk_group},
      {"ldmatrix", &WarpRun::ldmatrix, kGathers, kSilent},
      {"stmatrix", &WarpRun::stmatrix, kGathers, kSilent},
      {"movmatrix", &WarpRun::movmatrix, kGathers, kSilent},
      {"mma", &WarpRun::mma, kGathers, kSilent},
      {"wgmma.mma_async", &WarpRun::wgmma, kGathers},
      {"wgmma.fence", &WarpRun::wgmma_step, kGathers},
      {"wgmma.commit_group", &WarpRun::wgmma_step, kGathers},
      {"wgmma.wait_group", &WarpRun::wgmma_step, kGathers},
      {"tcgen05.alloc", &WarpRun::tmem_alloc, kGathers},
      {"tcgen05.dealloc", &WarpRun::tmem_dealloc, kGathers},
      {"tcgen05.relinquish_alloc_permit", &WarpRun::tmem_relinquish, kGathers},
      {"tcgen05.fence::before_thread_sync", &WarpRun::tmem_fence},
      {"tcgen05.fence::after_thread_sync", &WarpRun::tmem_fence},
      {"tcgen05.ld", &WarpRun::tmem_load, kGathers},
      {"tcgen05.st", &WarpRun::tmem_store, kGathers},
      {"tcgen05.wait::ld", &WarpRun::tmem_wait, kGathers},
      {"tcgen05.wait::st", &WarpRun::tmem_wait, kGathers},
      {"tcgen05.mma", &WarpRun::tmem_mma},
      {"tcgen05.cp", &WarpRun::tmem_copy},
      {"tcgen05.commit", &WarpRun::tmem_commit},
  };
  return kRows;
}

sim::Operation WarpRun::make(warptwin::Op kind, const Request& request, Mask lanes) const {
  sim::Operation op{kind};
  op.lanes = static_cast<std::uint8_t>(std::popcount(lanes));
  op.lane =
      op.lanes == kLanes ? std::uint8_t{0} : static_cast<std::uint8_t>(std::countr_zero(lanes));
  op.some = op.lanes == kLanes || op.lanes == 1 ? 0 : lanes;
  op.site = kernel_.site_of(*request.strand.frame->routine, request.stop.op);
  return op;
}

// Whether the warp executes it. Lanes that have ended do not count, but where members are named and
// these are none: nobody knows by that what they did since all had met.
bool WarpRun::by_all(const Request& request) const {
  if (!alone(request.mask())) {
    return false;
  }
  const Mask ended = acted_ & ~live_;
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(request.mask()));
  return ended == 0 || !names_members(request.op) ||
         (ended & ~static_cast<Mask>(request.stop.operands.back().values[0].value[lane])) == 0;
}

sim::Operation WarpRun::collective(warptwin::Op kind, const Request& request) const {
  sim::Operation op = make(kind, request, request.mask());
  if (by_all(request)) {
    op.lanes = kLanes;
    op.lane = 0;
    op.some = 0;
  }
  return op;
}

void WarpRun::for_equal(const Request& request,
                        std::initializer_list<std::size_t> operands,
                        const std::function<void(Mask)>& f) const {
  for (Mask left = request.mask(); left != 0;) {
    const auto first = static_cast<std::uint32_t>(std::countr_zero(left));
    Mask same = left;
    for (const std::size_t operand : operands) {
      for (const Lanes& lanes : request.stop.operands[operand].values) {
        same &= lanes.equal_to(first);
      }
    }
    f(same);
    left &= ~same;
  }
}

void WarpRun::perform(sim::Operation& operation, bool orders) {
  steps_ = 0;
  waited_apart_ = waited_apart_ || (parted_ && (has_trait(operation.op, op_trait::kMayBlock) ||
                                                has_trait(operation.op, op_trait::kLooks)));
  if (operation.op != warptwin::Op::kMbarrierTryWait) {
    forget_refused(serving_);
  }
  note_parted(operation);
  if (has_trait(operation.op, op_trait::kSynchronises)) {
    unmet_ = operation.lanes != kLanes || !has_trait(operation.op, op_trait::kCollective);
  }
  if (operation.lanes == kLanes && has_trait(operation.op, op_trait::kMeets)) {
    acted_ = performed_ = 0;
  } else {
    performed_ |= serving_;
  }
  operation.race = race_ ? &*race_ : nullptr;
  operation.state = this;
  execute(operation);
  race_.reset();
  note_order(operation, orders);
}

void WarpRun::execute(sim::Operation& operation) {
  if (pace_) {
    pace_->hand_over();
  }
  machine_.perform(operation);
  if (pace_) {
    pace_->take_back();
  }
}

// All are there before any of them goes on. Only who synchronises with others can tell.
void WarpRun::come_together(const Request& request) {
  if (handler_of(request.op)->silent && unmet_ && by_all(request)) {
    sim::Operation op = collective(warptwin::Op::kElectSync, request);
    op.state = this;
    execute(op);
    unmet_ = false;
    acted_ = 0;
  }
}

// What the operation says about what lanes of this warp know of each other's accesses.
void WarpRun::note_order(const sim::Operation& operation, bool orders) {
  switch (operation.op) {
    case warptwin::Op::kSyncWarp:
    case warptwin::Op::kBarSync:
    case warptwin::Op::kClusterWait:
      touched_.meet(serving_, live_);
      break;
    case warptwin::Op::kMbarrierArrive:
      if (operation.ordering.semantics == warptwin::Semantics::kRelaxed) {
        break;
      }
      [[fallthrough]];
    case warptwin::Op::kBarArrive:
    case warptwin::Op::kClusterArrive:
      touched_.release(serving_);
      break;
    case warptwin::Op::kGlobalStoreRelease:
    case warptwin::Op::kGlobalRedAdd:
      if (orders || (serving_ & fenced_) != 0) {
        touched_.release(serving_);
      }
      relaxed_ |= orders ? Mask{0} : serving_;
      break;
    case warptwin::Op::kMbarrierTryWait:
      if (operation.result == 0) {
        break;
      }
      [[fallthrough]];
    case warptwin::Op::kMbarrierWait:
    case warptwin::Op::kGlobalLoadAcquire:
    case warptwin::Op::kGlobalWait:
      if (orders) {
        touched_.learn(serving_);
      } else {
        relaxed_ |= serving_;
        looked_alone_ |= alone(serving_) ? Mask{0} : serving_;
        waited_alone_ |= operation.op == warptwin::Op::kGlobalWait ? looked_alone_ & serving_ : 0;
      }
      break;
    case warptwin::Op::kFence:  // behind a relaxed load it acquires, before a store it releases
      if ((serving_ & relaxed_) != 0) {
        touched_.learn(serving_);
      }
      touched_.release(serving_);  // by the relaxed words behind it
      fenced_ |= serving_;
      break;
    default:
      break;
  }
}

// Notes what the lanes touch; the next operation shows a race. What is stored has to be known where
// two of them store.
void WarpRun::touch(const Request& request,
                    const sim::LaneAccess& access,
                    std::uint64_t base,
                    Touch touch) {
  const SourceSite site = kernel_.site_of(*request.strand.frame->routine, request.stop.op);
  const auto race = touched_.access(access, base, touch, site);
  if (!race) {
    return;
  }
  if (race->strong) {
    grid_.parted.insert(kernel_.line_of(*request.strand.frame->routine, request.stop.op));
    return;
  }
  if (race->by_value && !machine_.moves_data()) {
    refuse_unknown(request.strand, request.stop.op, "lanes store data to one place");
  }
  race_ = race_ ? race_ : race;
}

// The same for a word that each lane has the address of.
void WarpRun::touch_words(const Request& request,
                          Mask lanes,
                          const std::array<Place, kLanes>& places,
                          Touch touch) {
  const std::uint32_t size = bytes_of(request.modifiers.type());
  for (Mask left = lanes; left != 0;) {
    const auto first = static_cast<std::uint32_t>(std::countr_zero(left));
    const bool global = places[first].space == Space::kGlobal;
    sim::LaneAccess access{size};
    for (std::uint32_t lane = first; lane < kLanes; ++lane) {
      const bool same = (left >> lane & 1U) != 0 && places[lane].space == places[first].space &&
                        places[lane].rank == places[first].rank;
      access.mask |= Mask{same} << lane;
      access.address[lane] = places[lane].address;
    }
    this->touch(
        request, access, global ? LaneWords::kGlobal : shared_base(places[first].rank), touch);
    left &= ~access.mask;
  }
}

// Lanes that use the machine apart from others that do so too, before all are together again: their
// order is the one in which strands take turns here, and no other is looked at.
void WarpRun::note_parted(const sim::Operation& operation) {
  if (operation.lanes == kLanes) {
    used_apart_.clear();
    return;
  }
  const Mask lanes = serving_;
  const bool other = std::any_of(
      used_apart_.begin(), used_apart_.end(), [&](Mask mask) { return (mask & lanes) == 0; });
  if (other) {
    grid_.parted.insert(std::string{operation.site.file} + ":" +
                        std::to_string(operation.site.line));
  }
  if (std::find(used_apart_.begin(), used_apart_.end(), lanes) == used_apart_.end()) {
    used_apart_.push_back(lanes);
  }
}

// The bits of an operand in the first lane of `lanes`; one that nobody has written is refused.
std::uint64_t WarpRun::known(const Request& request,
                             std::size_t operand,
                             Mask lanes,
                             std::size_t part) const {
  const Lanes& value = request.value(operand, part);
  if (value.any_poison() && (value.poisoned() & lanes) != 0) {
    refuse_unknown(request.strand,
                   request.stop.op,
                   "operand " + std::to_string(operand) +
                       " has bytes that nobody has written, or that are still on their way");
  }
  return value.value[static_cast<std::uint32_t>(std::countr_zero(lanes))];
}

std::uint64_t WarpRun::uniform(const Request& request,
                               std::size_t operand,
                               std::size_t part) const {
  const std::uint64_t first = known(request, operand, request.mask(), part);
  const Mask others = ~request.value(operand, part)
                           .equal_to(static_cast<std::uint32_t>(std::countr_zero(request.mask())));
  const bool alike = (request.mask() & others) == 0;
  if (!alike) {
    refuse(request, "operand " + std::to_string(operand) + " is not the same in all lanes");
  }
  return first;
}

namespace {

std::string hexadecimal(std::uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, number);
  return text;
}

}  // namespace

// An address of shared memory, generic or not, as one of the cluster's window: rank << 24 | offset.
std::uint32_t WarpRun::shared_of(const Request& request, std::uint64_t address) const {
  if (address >= kSharedWindow && address - kSharedWindow < kWindowBytes) {
    address -= kSharedWindow;
  }
  if (address >= kWindowBytes) {
    leave_memory(
        request, request.mask(), "at " + hexadecimal(address) + ", which is not in shared memory");
  }
  if (address >> 24 >= machine_.cluster_size()) {
    leave_memory(request,
                 request.mask(),
                 "at " + hexadecimal(address) + ", which is in the shared memory of CTA rank " +
                     std::to_string(address >> 24) + " of a cluster of " +
                     std::to_string(machine_.cluster_size()));
  }
  if ((address & 0xFFFFFFU) < sim::kSharedBase) {
    leave_memory(request,
                 request.mask(),
                 "at " + hexadecimal(address) +
                     ", which is in front of the CTA's shared memory, in the system's");
  }
  return static_cast<std::uint32_t>(address);
}

bool WarpRun::is_constant(std::uint64_t address) const {
  const auto& all = grid_.constants;
  return std::any_of(all.begin(), all.end(), [&](const auto& range) {
    return address >= range.first && address < range.second;
  });
}

// Constant memory is the module's variables there, and is not written (PTX ISA, "st": "Stores to
// const memory are illegal").
void WarpRun::require_constant(const Request& request, Space space, std::uint64_t address) const {
  if (space == Space::kConst && !is_constant(address)) {
    leave_memory(request,
                 request.mask(),
                 "at " + hexadecimal(address) + ", which is in no variable of constant memory");
  }
  constexpr std::array kWriters = {"st", "atom", "red", "discard", "tensormap.replace"};
  if (std::any_of(
          kWriters.begin(), kWriters.end(), [&](const char* one) { return request.op.is(one); })) {
    require_writable(request, address);
  }
}

void WarpRun::require_writable(const Request& request, std::uint64_t address) const {
  if (is_constant(address)) {
    leave_memory(
        request,
        request.mask(),
        "at " + hexadecimal(address) + ", which is in constant memory, and that is not written");
  }
}

void WarpRun::require_form(const Request& request) const {
  if (const char* why = missing_form(request.op); why != nullptr) {
    refuse(request, why);
  }
}

// One that has to be of the own CTA, as an offset.
std::uint32_t WarpRun::own_shared(const Request& request, std::uint64_t address) const {
  const std::uint32_t at = shared_of(request, address);
  if (at >> 24 != machine_.cta_rank()) {
    refuse(request, "the address is in the shared memory of another CTA");
  }
  return at & 0xFFFFFFU;
}

std::uint32_t WarpRun::window_of(std::uint32_t offset) const {
  return machine_.cta_rank() << 24 | offset;
}

std::uint32_t WarpRun::map_of(const Request& request, std::uint64_t address) {
  if (address < kParameterWindow || address - kParameterWindow >= kWindowBytes) {
    return map_in_memory(request, address);
  }
  const auto found = grid_.maps.find(address - kParameterWindow);
  if (found == grid_.maps.end()) {
    refuse(request, "no tensor map stands at address " + std::to_string(address));
  }
  return found->second;
}

CtaGroup WarpRun::group_of(const Request& request) const {
  return request.modifiers.has("cta_group::2"_mod) ? CtaGroup::kTwo : CtaGroup::kOne;
}

}  // namespace warptwin::ptx
