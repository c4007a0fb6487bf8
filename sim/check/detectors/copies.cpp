/// Copies are what the hardware can do: size, alignment, coordinates, masks; stores are in groups
/// that somebody commits. Words, too, lie in their memory.
/// Source: PTX ISA, "cp.async.bulk", "cp.async.bulk.tensor", "cp.async.bulk.commit_group".

#include <map>

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

constexpr OpSet kCopyStores{Op::kBulkStore, Op::kTensorStore};
// Seen for what is wrong with them, and nothing else.
constexpr OpSet kSeenForFaults{Op::kBulkLoad,
                               Op::kGlobalLoad,
                               Op::kGlobalLoadAcquire,
                               Op::kGlobalRedAdd,
                               Op::kGlobalStore,
                               Op::kGlobalStoreRelease,
                               Op::kGlobalWait,
                               Op::kSharedLoad,
                               Op::kSharedStore,
                               Op::kTensorLoad,
                               Op::kTensormapReplace};

class CopiesDetector : public Detector {
 public:
  CopiesDetector(Reporter& reporter, Order&)
      : Detector{reporter,
                 kSeenForFaults | kCopyStores |
                     OpSet{Op::kBulkCommitGroup, Op::kBulkWaitGroup, Op::kWarpExit}} {
    narrow(kSeenForFaults, {});
    narrow(kCopyStores, {Step::kIssued});
  }

  void on_event(const Event& event) override {
    switch (event.op) {
      case Op::kTensorLoad:
      case Op::kTensorStore:
      case Op::kBulkLoad:
      case Op::kBulkStore:
        on_copy(event);
        break;
      case Op::kBulkCommitGroup:
        uncommitted_.erase(event.warp);
        check_lane(event);
        break;
      case Op::kBulkWaitGroup:
        check_lane(event);
        on_wait(event);
        break;
      case Op::kWarpExit:
        on_wait(event);
        break;
      default:
        on_word(event);
        break;
    }
  }

 private:
  void check_lane(const Event& event) {
    if (event.fault == Fault::kOtherLane) {
      reporter().report("BULK_WAIT_WRONG_THREAD",
                        event,
                        Object::other("bulk groups of " + naming().warp(event.warp)),
                        "another lane of the warp has stored or committed",
                        {"commit_group and wait_group are of what their own thread has stored"});
    }
  }
  static std::string name_of_copy(const Event& event) {
    constexpr const char* kReduces = "cp.reduce.async.bulk";
    return event.as<payload::Copy>().reduction == 0 ? name_of(event.op)
           : event.op == Op::kTensorStore           ? std::string{kReduces} + ".tensor"
                                                    : kReduces;
  }

  static const char* shape_fault(ShapeFault fault) {
    switch (fault) {
      case ShapeFault::kBeginsBefore:
        return "a store begins inside the tensor: no coordinate is negative";
      case ShapeFault::kMapMode:
        return "its map is of the other mode: one is of tiles, one of im2col";
      case ShapeFault::kRows:
        return "the box of a map for four rows has one row";
      case ShapeFault::kColumn:
        return "the first element of a row does not lie at a multiple of 16 bytes: a GPU traps";
      case ShapeFault::kOutsideBox:
        return "it begins outside the map's bounding box: a GPU traps";
      case ShapeFault::kOffset:
        return "an im2col offset is beyond 16 bits, of four dimensions 8, of five 5";
      case ShapeFault::kBoxOutside:
        return "a store's bounding box lies in the tensor: no lower corner is negative, and no "
               "upper one positive";
      case ShapeFault::kPaddedColumn:
        return "elements with padding are copied from a multiple of 128 on, along the first "
               "dimension";
      case ShapeFault::kLoadedOnly:
        return "elements of 16U4_ALIGN16B are loaded, and never stored";
      case ShapeFault::kPackedMap:
        return "no driver makes its map: address and strides are multiples of 16 bytes, a row of "
               "the box has a multiple of 16 bytes and no more than the swizzle spans; with "
               "padding the box has 128 elements along the first dimension and the tensor a "
               "multiple of 128, address and strides are multiples of 32, and there is no "
               "swizzle or one of 128 bytes";
      default:
        return "there are not as many coordinates as the tensor has dimensions";
    }
  }

  static bool is_store(Op op) { return op == Op::kTensorStore || op == Op::kBulkStore; }

  void on_copy(const Event& event) {
    if (event.step == Step::kIssued && is_store(event.op)) {
      uncommitted_[event.warp] = event;
    }
    if (event.step != Step::kDone) {
      return;
    }
    const Object object{.kind = ObjectKind::kOther,
                        .name = name_of_copy(event) + " at shared+" + std::to_string(event.address),
                        .address = event.address,
                        .bytes = event.bytes};
    const bool tensor = event.op == Op::kTensorLoad || event.op == Op::kTensorStore;
    switch (event.fault) {
      case Fault::kMisaligned:
        reporter().report("BULK_ADDR_ALIGN",
                          event,
                          object,
                          tensor ? "a tensor tile begins at a multiple of 128 bytes"
                                 : "both addresses are multiples of 16 bytes");
        break;
      case Fault::kOutOfRange:
        reporter().report("BULK_OOB",
                          event,
                          object,
                          std::to_string(event.bytes) +
                              " bytes that do not all lie in shared memory and in one buffer of "
                              "global memory");
        break;
      case Fault::kBadCount:
        reporter().report("BULK_SIZE_ALIGN",
                          event,
                          object,
                          std::to_string(event.bytes) + " bytes: not a multiple of 16");
        break;
      case Fault::kBadMask:
      case Fault::kExitedCta:
        if (event.op == Op::kBulkLoad && (event.flags & event_flag::kSharedSource) != 0) {
          break;  // exit_life reports it
        }
        reporter().report("BULK_MCAST_MASK",
                          event,
                          object,
                          "multicast mask " + std::to_string(event.signal().mask) + " names " +
                              (event.fault == Fault::kBadMask ? "CTAs the cluster does not have"
                                                              : "a CTA that has ended"));
        break;
      case Fault::kBadShape:
        reporter().report(
            "TMA_COORD", event, object, shape_fault(event.as<payload::Copy>().shape_fault));
        break;
      default:
        break;
    }
  }

  // Stores that are in no group: no wait waits for them.
  void on_wait(const Event& event) {
    const auto open = uncommitted_.find(event.warp);
    if (open == uncommitted_.end()) {
      return;
    }
    Event at = open->second;
    at.time = event.time;
    reporter().report("BULK_GROUP_UNCOMMITTED",
                      at,
                      naming().warp_object(event.warp),
                      name_of_copy(at) + " is in no committed group when the warp " +
                          (event.op == Op::kWarpExit ? "ends" : "waits for its groups"),
                      {mend("cp.async.bulk.commit_group after it")});
    uncommitted_.erase(open);
  }

  // A cp.async writes at any time until the thread that made it has waited for it.
  void on_early_use(const Event& event) {
    const bool stores = event.op == Op::kSharedStore;
    const auto& early = event.as<payload::OnItsWay>();
    const std::string copy =
        "the cp.async at " + naming().site({early.file, early.line}) + ", which still writes them";
    reporter().report(early.at_exit ? "ASYNC_PENDING_AT_EXIT"
                      : stores      ? "SMEM_WAW_ASYNC"
                                    : "SMEM_RAW_NO_WAIT",
                      event,
                      Object{.kind = ObjectKind::kOther,
                             .name = std::to_string(event.bytes) + " bytes from shared+" +
                                     std::to_string(event.address),
                             .address = event.address,
                             .bytes = event.bytes},
                      early.at_exit ? "the warp ends before " + copy
                      : stores      ? "written in front of the wait for " + copy
                                    : "read in front of the wait for " + copy,
                      {mend("cp.async.wait_group for its group, or cp.async.wait_all")});
  }

  void on_word(const Event& event) {
    const bool shared = event.op == Op::kSharedLoad || event.op == Op::kSharedStore;
    if (event.fault == Fault::kOnItsWay) {
      on_early_use(event);
      return;
    }
    if (event.fault != Fault::kOutOfRange && event.fault != Fault::kMisaligned) {
      return;
    }
    reporter().report(event.fault == Fault::kOutOfRange ? "WORD_OOB" : "WORD_MISALIGNED",
                      event,
                      shared ? Object::other("shared+" + std::to_string(event.address))
                             : Object::global(event.global),
                      event.fault == Fault::kOutOfRange
                          ? "outside its memory, or in a buffer that holds tile data only"
                          : "not a multiple of its size");
  }

  std::map<std::uint32_t, Event> uncommitted_;  // the last such store of a warp
};

}  // namespace

std::unique_ptr<Detector> make_copies(Reporter& reporter, Order& order) {
  return std::make_unique<CopiesDetector>(reporter, order);
}

}  // namespace warptwin::sim
