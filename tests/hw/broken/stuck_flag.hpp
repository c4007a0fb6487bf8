/// A consumer that waits for a word of global memory that nobody writes.

#pragma once

#include "scenarios/producer_consumer.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct StuckFlagKernel {
  using Storage = ProducerConsumerStorage<Extents>;
  static constexpr auto kRoles = kProducerConsumerRoles;

  struct Problem {
    GlobalAddress flag;
    [[no_unique_address]] Extents extents;
  };
  static Problem problem(const ParameterSet&,
                         const Extents& extents,
                         std::span<const typename M::TensorMap>,
                         std::span<const GlobalAddress> tensors) {
    return {tensors[0], extents};
  }

  static constexpr void producer(M&, const Problem&, const Storage&) {}
  static constexpr void consumer(M& machine, const Problem& problem, const Storage&) {
    machine.wait_global_u32(problem.flag, 1);
  }
};

struct StuckFlag {
  static constexpr ScenarioInfo kInfo{
      "stuck_flag", ScenarioKind::kBroken, "nobody sets the flag", "DEADLOCK"};
  using StaticExtents = ProducerConsumerExtents<16, 4>;
  template <Machine M, class Extents>
  using Kernel = StuckFlagKernel<M, Extents>;

  static std::span<const Parameter> parameters() { return ProducerConsumer::parameters(); }
  static ProducerConsumerExtents<> extents(const ParameterSet& p) {
    return ProducerConsumer::extents(p);
  }
  static Workload workload(const ParameterSet&) {
    return {.tensors = {matrix("flag", TensorUse::kScratch, 1, 8)}, .maps = {}};
  }
  static void reference(const ParameterSet&, std::span<HostTensor>) {}
};

}  // namespace warptwin::scenarios
