// A machine that is a copy of another.

#include <memory>

#include "sim/model/gpu.hpp"

namespace warptwin::sim {

namespace {

// An operation that has been taken up: only its registers are still needed of what it points to.
void part(Operation& op, FragmentCopies& fragments) {
  op.fragment = fragments.of(op.fragment);
  op.fragment_a = fragments.of(op.fragment_a);
  op.let_go();
}

void part(std::shared_ptr<WarpgroupRegisters>& registers, FragmentCopies& fragments) {
  if (registers != nullptr) {
    registers = std::make_shared<WarpgroupRegisters>(*registers);
    for (std::shared_ptr<FragmentData>& data : *registers) {
      data = fragments.of(data);
    }
  }
}

void part(AsyncOp& async, FragmentCopies& fragments) {
  part(async.operation, fragments);
  part(async.accumulators, fragments);
  part(async.registers_a, fragments);
}

}  // namespace

Gpu::Gpu(const Gpu& other, GlobalMemory& memory, FragmentCopies& fragments) : Gpu{other} {
  memory_ = &memory;
  observer_ = sink_ = nullptr;
  try_judge_ = nullptr;
  lane_judge_ = nullptr;
  ready_.watch(nullptr);
  for (Warp& warp : warps_) {
    part(warp.blocked_on, fragments);
    for (AsyncQueue* queue : {&warp.tensor_queue, &warp.tmem_queue}) {
      for (AsyncOp& async : *queue) {
        part(async, fragments);
      }
    }
    for (FormingWgmma& forming : warp.wgmma_forming) {
      part(forming.async, fragments);
    }
  }
  for (AsyncOp& async : async_) {
    part(async, fragments);
  }
}

}  // namespace warptwin::sim
