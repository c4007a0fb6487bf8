// Micro-programs about declared rings: notes of the protocol layer, and copies into its stages.

#include "sim/micro/building.hpp"

namespace warptwin::sim::micro {

namespace {

constexpr Mbarrier kEmpty{{kRing.address.value + 8 * kStages}};

void note(M& m, StageStep step, std::uint32_t index) {
  m.note_stage({step, kRing, kStages, index, 0, SourceSite::current()});
}

void fill_stage(M& m) {
  m.elect_one([&] {
    m.mbarrier_arrive_expect_tx(kRing, 32);
    m.cp_async_bulk_load(kRingTiles, kSource, 32, CopyTarget{kRing});
  });
}

Body ring_of_one(std::function<void(M&)> f) {
  return [=](M& m) {
    m.elect_one([&] {
      m.mbarrier_init(kRing, 1);
      m.mbarrier_init(kEmpty, 1);
      m.fence_mbarrier_init();
    });
    m.barrier_cluster_arrive();
    m.barrier_cluster_wait();
    f(m);
    m.barrier_cluster_arrive();
    m.barrier_cluster_wait();
  };
}

// Stages: who has them, and when.
void add_stages(List& list) {
  const auto init_ring = [](std::uint32_t count) -> Body {
    return [=](M& m) { m.elect_one([&] { m.mbarrier_init(kRing, count); }); };
  };
  list.with_ring("PIPELINE_COUNT_MISMATCH", init_ring(2), init_ring(1));
  list.with_ring(
      "STAGE_LEAK",
      [=](M& m) {
        note(m, StageStep::kProducerAcquired, 0);
        note(m, StageStep::kDropped, 0);
      },
      [=](M& m) {
        note(m, StageStep::kProducerAcquired, 0);
        note(m, StageStep::kProducerReleased, 0);
      });
  list.with_ring(
      "STAGE_DOUBLE_RELEASE",
      [=](M& m) {
        note(m, StageStep::kProducerAcquired, 0);
        note(m, StageStep::kProducerReleased, 0);
        note(m, StageStep::kReleasedTwice, 0);
      },
      [=](M& m) {
        note(m, StageStep::kProducerAcquired, 0);
        note(m, StageStep::kProducerReleased, 0);
      });
  // Acquires stage 0, or acquires and releases it, and copies into `stage`.
  const auto copy_into = [=](std::uint32_t stage, bool released) -> Body {
    return [=](M& m) {
      m.elect_one([&] { m.mbarrier_init(kRing, 1); });
      m.sync_warp();
      note(m, StageStep::kProducerAcquired, 0);
      if (released) {
        note(m, StageStep::kProducerReleased, 0);
      }
      m.elect_one([&] {
        m.mbarrier_arrive_expect_tx(kRing, 32);
        m.cp_async_bulk_load(kRingTiles + stage * kStageBytes, kSource, 32, CopyTarget{kRing});
      });
      m.mbarrier_wait_parity(kRing, WaitPhase::number(0));
      m.sync_warp();
      if (!released) {
        note(m, StageStep::kProducerReleased, 0);
      }
    };
  };
  list.with_ring("STAGE_USE_BEFORE_ACQUIRE", copy_into(1, false), copy_into(0, false));
  list.with_ring("STAGE_USE_AFTER_RELEASE", copy_into(0, true), copy_into(0, false));
  const auto laps = [](std::uint32_t skipped) -> Body {
    return [=](M& m) {
      const auto at = [&](StageStep step, std::uint32_t iteration) {
        m.note_stage(
            {step, kBar, kStages, iteration % kStages, iteration / kStages, SourceSite::current()});
      };
      for (std::uint32_t i = 0; i < 4; ++i) {
        at(StageStep::kProducerAcquired, i);
        at(StageStep::kProducerReleased, i);
        if (i != skipped) {
          at(StageStep::kConsumerAcquired, i < skipped ? i : i + 1);
        }
      }
      m.sync_warp();
    };
  };
  list.add("PIPELINE_STATE_DESYNC", 1, laps(2), laps(4));
}

// Phases of a ring of one stage.
void add_phases(List& list) {
  const auto wait_parity = [](M& m, Mbarrier bar, std::uint32_t parity) {
    m.mbarrier_wait_parity(bar, WaitPhase::parity_only(parity));
    m.sync_warp();
  };
  const auto consume_with = [=](std::uint32_t first) {
    return ring_of_one([=](M& m) {
      if (first == 0) {
        fill_stage(m);
      }
      wait_parity(m, kRing, first);
      if (first == 1) {
        fill_stage(m);
      }
      m.mbarrier_wait_parity(kRing, WaitPhase::number(0));
      m.sync_warp();
    });
  };
  list.with_ring("MBAR_WAIT_VACUOUS", consume_with(1), consume_with(0));
  const auto produce_with = [=](std::uint32_t first) {
    return ring_of_one([=](M& m) {
      wait_parity(m, kEmpty, first);
      fill_stage(m);
      m.mbarrier_wait_parity(kRing, WaitPhase::number(0));
      m.sync_warp();
    });
  };
  list.with_ring("MBAR_WAIT_WRONG_PARITY", produce_with(0), produce_with(1));
  const auto arrives = [=](std::uint32_t times) {
    return ring_of_one([=](M& m) {
      note(m, StageStep::kProducerAcquired, 0);
      for (std::uint32_t i = 0; i < times; ++i) {
        fill_stage(m);
        m.mbarrier_wait_parity(kRing, WaitPhase::number(i));
        m.sync_warp();
      }
      note(m, StageStep::kProducerReleased, 0);
    });
  };
  list.with_ring("MBAR_SURPLUS_ARRIVAL", arrives(2), arrives(1));
  const auto announces = [=](bool first) {
    return ring_of_one([=](M& m) {
      m.elect_one([&] {
        if (first) {
          m.mbarrier_arrive_expect_tx(kRing, 32);
        } else {
          m.mbarrier_arrive(kRing);
          m.mbarrier_expect_tx(kRing, 32);
        }
        m.cp_async_bulk_load(kRingTiles, kSource, 32, CopyTarget{kRing});
      });
      m.mbarrier_wait_parity(kRing, WaitPhase::number(0));
      m.sync_warp();
    });
  };
  list.with_ring("MBAR_TX_WRONG_PHASE", announces(false), announces(true));
}

// Who fills and who frees.
void add_roles(List& list) {
  // The one arrival of the ring's phase, by a role.
  const auto arrives_as = [=](std::uint32_t warp) -> Body {
    return [=](M& m) {
      if (m.warp_index() == 0) {
        m.elect_one([&] {
          m.mbarrier_init(kRing, 1);
          m.fence_mbarrier_init();
        });
        m.sync_warp();
      }
      m.cta_sync();
      if (m.warp_index() == warp) {
        fill_stage(m);
      }
      m.mbarrier_wait_parity(kRing, WaitPhase::number(0));
      m.sync_warp();
    };
  };
  MicroProgram other_role{"PIPELINE_ROLE_MISMATCH", arrives_as(1), arrives_as(0), 2};
  other_role.ring = true;
  list.push(std::move(other_role));
  const auto uses = [=](std::uint32_t stage) -> Body {
    return [=](M& m) {
      note(m, StageStep::kProducerAcquired, stage);
      note(m, StageStep::kProducerReleased, stage);
    };
  };
  list.with_ring("PIPELINE_STAGE_OOB", uses(kStages), uses(0));
  // A producer of a cluster, whose stage another CTA frees.
  const auto drains = [=](bool waits) {
    return ring_of_one([=](M& m) {
      fill_stage(m);
      m.mbarrier_wait_parity(kRing, WaitPhase::number(0));
      m.elect_one([&] { m.mbarrier_arrive(m.mapa(kEmpty, m.cta_rank() ^ 1U)); });
      m.sync_warp();
      if (waits) {
        m.mbarrier_wait_parity(kEmpty, WaitPhase::number(0));
        m.sync_warp();
      }
    });
  };
  MicroProgram tail{"PRODUCER_TAIL_MISSING", drains(false), drains(true), 1, 2};
  tail.ring = true;
  list.push(std::move(tail));
}

}  // namespace

void add_pipelines(List& list) {
  add_stages(list);
  add_phases(list);
  add_roles(list);
}

}  // namespace warptwin::sim::micro
