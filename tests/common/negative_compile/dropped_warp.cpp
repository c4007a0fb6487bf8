// expect: ignoring return value of (function|type .*) declared with 'nodiscard' attribute
// gcc: ignoring returned value of type .* declared with attribute 'nodiscard'

#include "common/warp/mma_warp.hpp"

#include "tests/common/negative_compile/accumulators.hpp"

namespace warptwin::tests {

void multiply(RecordingMachine& machine,
              const Accumulators::Storage& accum,
              const TmemDeallocStorage<>& tmem) {
  MmaWarp<RecordingMachine, Accumulators>::create(machine, accum, tmem);
}

}  // namespace warptwin::tests
