#include "sim/micro/words.hpp"

#include <cstdio>

#include "common/machine/note.hpp"
#include "common/machine/umma_descriptor.hpp"

namespace warptwin::sim {

namespace {

std::string hex(const char* space, std::uint64_t value) {
  char text[48];
  std::snprintf(text, sizeof text, "%s+0x%llx", space, static_cast<unsigned long long>(value));
  return text;
}

std::string shared(std::uint32_t address, const BarrierAddresses& barriers) {
  const auto found = barriers.find(address);
  if (found == barriers.end()) {
    return "[" + hex("shared", address) + "]";
  }
  const auto number = std::distance(barriers.begin(), found);
  return barriers.size() == 1 ? "[bar]" : "[bar" + std::to_string(number) + "]";
}

std::string object(const Event& event, const BarrierAddresses& barriers) {
  if ((event.flags & event_flag::kRemote) == 0) {
    return shared(event.address, barriers);
  }
  std::string text = shared(event.address & 0xFFFFFFU, barriers);
  text.insert(text.size() - 1, " of cta " + std::to_string(event.cta));
  return text;
}

std::string tensor_memory(std::uint32_t address) {
  const TmemAddress at{address};
  return "[tmem lane " + std::to_string(at.lane()) + ", column " + std::to_string(at.column()) +
         "]";
}

// The leading offset means something of an MN-major operand alone.
std::string descriptor(std::uint64_t bits, Major major = Major::kK) {
  const UmmaSmemDescriptor operand{bits};
  if (operand.fixed() == 0) {
    return "no descriptor";
  }
  constexpr const char* kSwizzles[8] = {
      "no swizzle", "128B by 32B", "128B", "?", "64B", "?", "32B", "?"};
  return hex("shared", operand.start().value) + " (" + kSwizzles[operand.swizzle_code()] +
         ", stride " + std::to_string(operand.stride_bytes()) +
         (major == Major::kMn ? ", leading " + std::to_string(operand.leading_bytes()) : "") + ")";
}

std::string ordering(const Event& event) {
  constexpr const char* kSemantics[] = {".relaxed", ".acquire", ".release", ".acq_rel"};
  constexpr const char* kScopes[] = {".cta", ".cluster", ".gpu"};
  return std::string{kSemantics[static_cast<unsigned>(event.ordering.semantics)]} +
         kScopes[static_cast<unsigned>(event.ordering.scope)];
}

// What stands behind the name, up to the blank.
std::string suffix(const Event& event) {
  const auto has = [&](std::uint32_t flag) { return (event.flags & flag) != 0; };
  constexpr const char* kSpaces[] = {"", ".shared::cta", ".shared::cluster", ".global"};
  switch (event.op) {
    case Op::kMbarrierArrive:
      return std::string{has(event_flag::kDrop) ? "_drop" : ""} +
             (has(event_flag::kExpectTx) ? ".expect_tx" : "") +
             (has(event_flag::kNoComplete) ? ".noComplete" : "") + ordering(event);
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
    case Op::kFence:
    case Op::kFenceProxyTensormap:
    case Op::kClusterArrive:
      return ordering(event);
    case Op::kFenceProxyAsync:
      return kSpaces[static_cast<unsigned>(event.as<payload::ProxyFence>().space) % 4];
    case Op::kBulkWaitGroup:
      return has(event_flag::kRead) ? ".read" : "";
    case Op::kGlobalLoad:
      return has(event_flag::kReadOnly) ? ".nc" : "";
    case Op::kSetmaxnreg:
      return has(event_flag::kIncrease) ? ".inc" : ".dec";
    case Op::kWgmma:
      return ".m64n" + std::to_string(event.product().columns);
    case Op::kTcgen05Ld:
    case Op::kTcgen05St:
      return ".32x32b.x" + std::to_string(event.as<payload::TmemAccess>().columns);
    case Op::kTcgen05Cp: {
      constexpr const char* kShapes[] = {".128x256b", ".128x128b", ".32x128b.warpx4"};
      return std::string{has(event_flag::kPair) ? ".cta_group::2" : ""} +
             kShapes[static_cast<unsigned>(event.as<payload::TmemCopy>().shape) % 3];
    }
    case Op::kClcTryCancel:
      return event.signal().mask != 0 ? ".multicast::cluster::all" : "";
    default:
      return has(event_flag::kPair) ? ".cta_group::2" : "";
  }
}

std::string barrier_operands(const Event& event, const BarrierAddresses& barriers) {
  const std::string at = object(event, barriers);
  // A step at once counts what all lanes do; one that is on its way, what one of them does.
  const std::uint32_t lanes =
      event.step == Step::kIssued || event.lanes == 0 ? std::uint32_t{1} : event.lanes;
  switch (event.op) {
    case Op::kMbarrierInit:
      return at + ", " + std::to_string(event.as<payload::Mbarrier>().arrivals);
    case Op::kMbarrierArrive:
      return at + ", " +
             ((event.flags & event_flag::kExpectTx) != 0
                  ? std::to_string(event.bytes / lanes) + " bytes"
                  : std::to_string(event.as<payload::Mbarrier>().arrivals / lanes));
    case Op::kMbarrierExpectTx:
    case Op::kMbarrierCompleteTx:
      return at + ", " + std::to_string(event.bytes / lanes) + " bytes";
    default:
      break;
  }
  if (event.op != Op::kMbarrierWait && event.op != Op::kMbarrierTryWait) {
    return at;
  }
  const bool exact = (event.flags & event_flag::kExactPhase) != 0;
  return at + (exact ? ", phase " : ", parity ") +
         std::to_string(static_cast<std::int32_t>(event.as<payload::Mbarrier>().wanted)) +
         (event.op == Op::kMbarrierWait             ? ""
          : (event.flags & event_flag::kFalse) != 0 ? " -> no"
                                                    : " -> yes");
}

std::string copy_operands(const Event& event, const BarrierAddresses& barriers) {
  const std::string here = shared(event.address, barriers);
  const std::string there = "[" + hex("global", event.global) + "]";
  const std::string bytes = ", " + std::to_string(event.bytes) + " bytes";
  const payload::Signal& signal = event.signal();
  const std::string mask = signal.mask == 0 ? "" : ", " + hex("mask 0", signal.mask);
  switch (event.op) {
    case Op::kTensorLoad:
    case Op::kBulkLoad:
      return here + ", " + there + bytes + ", " + shared(signal.barrier, barriers) + mask;
    default:
      return there + ", " + here + bytes;
  }
}

std::string scales(const Event& event, UmmaInstructionDescriptor instruction) {
  const auto& mma = event.as<payload::Mma>();
  return ", scales " + tensor_memory(mma.scale_a) + " byte " +
         std::to_string(instruction.scale_byte_a()) + ", " + tensor_memory(mma.scale_b) + " byte " +
         std::to_string(instruction.scale_byte_b());
}

std::string mma_operands(const Event& event, const payload::Mma& mma) {
  const UmmaInstructionDescriptor instruction{mma.instruction};
  const bool scaled = (event.flags & event_flag::kBlockScale) != 0;
  return tensor_memory(event.address) + ", " +
         ((event.flags & event_flag::kTmemA) != 0 ? tensor_memory(mma.tmem_a)
                                                  : descriptor(mma.a, instruction.a_major())) +
         ", " + descriptor(mma.b, instruction.b_major()) + ", m" + std::to_string(instruction.m()) +
         "n" + std::to_string(instruction.n()) +
         (instruction.a_major() == Major::kMn ? ", A MN-major" : "") +
         (instruction.b_major() == Major::kMn ? ", B MN-major" : "") +
         ((event.flags & event_flag::kSparse) != 0
              ? ", metadata " + tensor_memory(mma.tmem_a) + " selector " +
                    std::to_string(instruction.sparsity_selector())
              : "") +
         (scaled                         ? scales(event, instruction)
          : (mma.instruction >> 29) != 0 ? ", reserved bits"
                                         : "") +
         ((event.flags & event_flag::kAccumulate) != 0 ? ", accumulate" : "");
}

std::string tensor_operands(const Event& event, const BarrierAddresses& barriers) {
  switch (event.op) {
    case Op::kTcgen05Alloc:
      return shared(event.address, barriers) + ", " + std::to_string(event.numbers().count) +
             " columns";
    case Op::kTcgen05Dealloc:
      return tensor_memory(event.address) + ", " + std::to_string(event.numbers().count) +
             " columns";
    case Op::kTcgen05Cp:
      return tensor_memory(event.address) + ", " + descriptor(event.as<payload::TmemCopy>().source);
    case Op::kTcgen05Mma:
      return mma_operands(event, event.as<payload::Mma>());
    case Op::kWgmma:
      return descriptor(event.product().a) + ", " + descriptor(event.product().b) +
             ((event.flags & event_flag::kAccumulate) != 0 ? ", accumulate" : "");
    case Op::kTcgen05Commit: {
      const std::uint32_t mask = event.as<payload::Mbarrier>().mask;
      return shared(event.address, barriers) + (mask == 0 ? "" : ", " + hex("mask 0", mask));
    }
    case Op::kTcgen05Ld:
    case Op::kTcgen05St:
      return tensor_memory(event.address) +
             ((event.flags & event_flag::kOwnQuarter) != 0 ? ", without its quarter" : "");
    default:
      return "";
  }
}

std::string note_operands(const Event& event) {
  constexpr const char* kSteps[] = {"producer acquires",
                                    "producer releases",
                                    "consumer acquires",
                                    "consumer releases",
                                    "handle dropped,",
                                    "released once more,"};
  const auto& note = event.as<payload::Note>();
  const auto step = static_cast<unsigned>(note.step);
  return std::string{step < 6 ? kSteps[step] : "?"} + " stage " + std::to_string(note.index) +
         ", lap " + std::to_string(note.lap);
}

std::string rows(const payload::Rows& said) {
  return said.pitch == 0 ? ""
                         : ", rows from " + std::to_string(said.row) + ", " +
                               (said.swizzle == 0 ? std::string{"no swizzle"}
                                                  : std::to_string(said.swizzle) + "B");
}

std::string got(const payload::ClcRequest& said) {
  return said.got == 0 ? " -> none" : " -> cluster " + std::to_string(said.got - 1);
}

std::string operands_of(const Event& event, const BarrierAddresses& barriers) {
  switch (event.op) {
    case Op::kMbarrierInit:
    case Op::kMbarrierInval:
    case Op::kMbarrierArrive:
    case Op::kMbarrierExpectTx:
    case Op::kMbarrierCompleteTx:
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
      return barrier_operands(event, barriers);
    case Op::kBarSync:
    case Op::kBarArrive:
      // The event has the count of those who came first.
      return std::to_string(event.address) +
             (event.fault == Fault::kCountMismatch ? ", not " : ", ") +
             std::to_string(event.as<payload::NamedBarrier>().threads);
    case Op::kTensorLoad:
    case Op::kTensorStore:
    case Op::kBulkLoad:
    case Op::kBulkStore:
      return copy_operands(event, barriers);
    case Op::kBulkWaitGroup:
    case Op::kWgmmaWait:
    case Op::kSetmaxnreg:
      return std::to_string(event.numbers().count);
    case Op::kTensormapReplace:
      return "[map " + std::to_string(event.as<payload::Map>().number) + "], " +
             hex("global", event.global);
    case Op::kFenceProxyTensormap:
      return event.ordering.semantics == Semantics::kAcquire
                 ? "[map " + std::to_string(event.as<payload::Map>().number) + "], 128"
                 : "";
    case Op::kSharedStore:
      return shared(event.address, barriers) + (event.rows() != nullptr ? rows(*event.rows()) : "");
    case Op::kSharedLoad:
      return shared(event.address, barriers);
    case Op::kGlobalLoad:
    case Op::kGlobalLoadAcquire:
      return "[" + hex("global", event.global) + "]";
    case Op::kGlobalStoreRelease:
    case Op::kGlobalRedAdd:
    case Op::kGlobalWait:
      return "[" + hex("global", event.global) + "], " +
             std::to_string(event.as<payload::GlobalWord>().value);
    case Op::kClcTryCancel:
      return shared(event.address, barriers) + ", " + shared(event.signal().barrier, barriers) +
             got(event.as<payload::ClcRequest>());
    case Op::kClcQuery:
      return shared(event.address, barriers) +
             (event.as<payload::ClcQuery>().word == 0 ? ", is_canceled" : ", get_first_ctaid") +
             " -> " + std::to_string(event.as<payload::ClcQuery>().answer);
    case Op::kStageNote:
      return note_operands(event);
    default:
      return tensor_operands(event, barriers);
  }
}

// How many lanes do it, where that is not what the operation is made for.
std::string lanes_of(const Event& event) {
  switch (event.op) {
    case Op::kMbarrierInit:
    case Op::kMbarrierArrive:
    case Op::kMbarrierExpectTx:
    case Op::kMbarrierCompleteTx:
      return event.lanes > 1 ? "  (" + std::to_string(event.lanes) + " lanes)" : "";
    case Op::kSyncWarp:
    case Op::kElectSync:
    case Op::kBarSync:
    case Op::kBarArrive:
    case Op::kClusterArrive:
    case Op::kClusterWait:
    case Op::kTcgen05WaitLd:
    case Op::kTcgen05WaitSt:
    case Op::kTcgen05Alloc:
    case Op::kTcgen05Dealloc:
    case Op::kTcgen05Relinquish:
    case Op::kTcgen05Ld:
    case Op::kTcgen05St:
    case Op::kWgmma:
    case Op::kWgmmaFence:
    case Op::kWgmmaCommit:
    case Op::kWgmmaWait:
    case Op::kSetmaxnreg:
      return event.lanes == kWarpLanes ? "" : "  (" + std::to_string(event.lanes) + " lane)";
    default:
      return "";
  }
}

}  // namespace

std::string words_of(const Event& event, const BarrierAddresses& barriers) {
  const std::string what = operands_of(event, barriers);
  return name_of(event.op) + suffix(event) + (what.empty() ? "" : " " + what) + lanes_of(event);
}

}  // namespace warptwin::sim
