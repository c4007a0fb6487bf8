// expect: nothing

#include "common/tile/input_tile_pipeline.hpp"

#include "tests/common/negative_compile/ring.hpp"

namespace warptwin::tests {

using Stage = ConsumerStage<RecordingMachine, To<Role::kConsumer, EveryLane>>;

unsigned read(WARPTWIN_HELD Stage& stage) {
  return stage.index();
}

void consume(Ring& ring, int count) {
  for (int i = 0; i < count; ++i) {
    auto stage = ring.acquire_consumer(ring.try_wait_producer());
    static_cast<void>(read(stage));
    std::move(stage).release();
  }
  {
    auto stage = ring.consume();
    static_cast<void>(stage->index());
  }
  {
    auto stage = ring.consume_explicit();
    stage->arrive();
  }
  auto first = ring.acquire_consumer();
  auto second = ring.acquire_consumer();
  auto moved = std::move(first);
  std::move(second).release();
  std::move(moved).release_without_signal();
}

void produce(Ring& ring, bool wanted) {
  auto stage = ring.acquire_producer();
  if (wanted) {
    std::move(stage).release();
  } else {
    std::move(stage).release_without_signal();
  }
  ring.producer_signal_and_step();
  {
    auto scoped = ring.produce();
    static_cast<void>(scoped->index());
  }
}

using Input = InputTilePipeline<RecordingMachine,
                                StandardTilePayload<bf16, bf16>,
                                From<Role::kLoad, TmaBytes>,
                                To<Role::kMma, UmmaCommit>>;

void load(InputProducer<Input>& input) {
  input.acquire_stage().release();
  auto stage = input.acquire_if_needed(input.try_acquire());
  std::move(stage).release();
  auto scoped = input.acquire();
  static_cast<void>(scoped->index());
}

void multiply(InputConsumer<Input>& input) {
  auto stage = input.acquire_stage();
  std::move(stage).release();
  auto scoped = input.acquire();
  static_cast<void>(scoped->index());
}

}  // namespace warptwin::tests
