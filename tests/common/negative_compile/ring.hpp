/// The ring that the cases of this folder misuse.

#pragma once

#include <utility>

#include "common/machine/shared_layout.hpp"
#include "common/pipeline/producer_consumer_pipeline.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::tests {

using Ring = ProducerConsumerPipeline<RecordingMachine,
                                      From<Role::kProducer, TmaBytes>,
                                      To<Role::kConsumer, EveryLane>>;

}  // namespace warptwin::tests
