#include "sim/timed/causes.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "sim/timed/engine.hpp"

namespace warptwin::sim::causes_test {
namespace {

std::string unit_name(StepName what) {
  return name_of(static_cast<Unit>(what.id));
}

template <class Part>
Part find(const std::vector<Part>& parts, const std::string& what) {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&](const Part& p) { return p.what == what; });
  return found == parts.end() ? Part{} : *found;
}

// A copy and a multiplication, and what needs both: at `copied` and 100.
CriticalPath join_at(Ticks copied) {
  CauseLog log;
  const Cause start = log.add(Unit::kCtaStart, 10 * kTicksPerCycle, kNoCause);
  const Cause copy = log.add(Unit::kDram, copied, start);
  const Cause multiply = log.add(Unit::kTensorCore, 100 * kTicksPerCycle, start);
  log.add(Unit::kTmemPort, std::max(copied, 100 * kTicksPerCycle) + kTicksPerCycle, copy, multiply);
  return log.critical_path(unit_name);
}

TEST(CauseLog, ThePathGoesThroughTheLaterCause) {
  const CriticalPath before = join_at(100 * kTicksPerCycle - 1);
  EXPECT_EQ(find(before.parts, "DRAM").steps, 0U);
  EXPECT_EQ(find(before.parts, "tensor core").cycles, 90);
  EXPECT_EQ(find(before.slack, "DRAM").least, to_cycles(1));
  EXPECT_EQ(find(before.slack, "tensor core").least, 0);
  const CriticalPath after = join_at(100 * kTicksPerCycle + 1);
  EXPECT_EQ(find(after.parts, "tensor core").steps, 0U);
  EXPECT_EQ(find(after.parts, "DRAM").cycles, 90 + to_cycles(1));
  EXPECT_EQ(find(after.slack, "DRAM").least, 0);
  EXPECT_EQ(find(after.slack, "tensor core").least, to_cycles(1));
}

TEST(CauseLog, WithoutAnythingToSpareNeitherMayBeLater) {
  const CriticalPath path = join_at(100 * kTicksPerCycle);
  EXPECT_EQ(find(path.slack, "DRAM").least, 0);
  EXPECT_EQ(find(path.slack, "tensor core").least, 0);
}

TEST(CauseLog, ThePathIsAsLongAsTheRun) {
  const CriticalPath path = join_at(300 * kTicksPerCycle);
  double sum = 0;
  for (const PathPart& part : path.parts) {
    sum += part.cycles;
  }
  EXPECT_EQ(path.cycles, 301);
  EXPECT_EQ(sum, path.cycles);
}

TEST(CauseLog, AnEarlierStepMayBeAsLateAsAllBehindItAllow) {
  CauseLog log;
  const Cause first = log.add(Unit::kL2, 64, kNoCause);
  const Cause second = log.add(Unit::kL2, 128, first);
  log.add(Unit::kTmemPort, 192, second);  // nobody waits for it
  log.add(Unit::kTensorCore, 640, first);
  const CriticalPath path = log.critical_path(unit_name);
  EXPECT_EQ(log.end(second), 128U);
  EXPECT_EQ(find(path.slack, "L2").least, 0);  // the first
  EXPECT_EQ(find(path.slack, "L2").mean, to_cycles(640 - 192) / 2);
  EXPECT_EQ(find(path.slack, "tensor-memory port").steps, 0U);
}

TEST(CauseLog, WhereThereAreTooManyStepsTheLatestAreKept) {
  CauseLog log{8};
  Cause last = kNoCause;
  for (Ticks i = 1; i <= 100; ++i) {
    last = log.add(Unit::kTmaEngine, i * kTicksPerCycle, last);
  }
  EXPECT_EQ(log.end(last), 100 * kTicksPerCycle);
  EXPECT_EQ(log.end(1), 0U);
  const CriticalPath path = log.critical_path(unit_name);
  EXPECT_GE(path.cycles, 3);
  EXPECT_LE(path.cycles, 8);
}

// --- A ring of two stages: warp 0 copies, warp 1 works on what has come -----------------------

constexpr std::uint32_t kSteps = 64;
constexpr std::uint32_t kStages = 2;
constexpr std::uint32_t kBytes = 1024;

Mbarrier full(std::uint32_t stage) {
  return {{1024 + 8 * stage}};
}
Mbarrier empty(std::uint32_t stage) {
  return {{1040 + 8 * stage}};
}

void copy_and_work(SimMachine& machine) {
  if (machine.warp_index() == 0) {
    machine.elect_one([&] {
      for (std::uint32_t stage = 0; stage < kStages; ++stage) {
        machine.mbarrier_init(full(stage), 1);
        machine.mbarrier_init(empty(stage), 1);
      }
    });
  }
  machine.cta_sync();
  machine.elect_one([&] {
    for (std::uint32_t i = 0; i < kSteps; ++i) {
      const std::uint32_t stage = i % kStages;
      const std::uint32_t lap = i / kStages;
      if (machine.warp_index() == 0) {
        machine.mbarrier_wait_parity(empty(stage), WaitPhase::number(lap - 1));
        machine.mbarrier_arrive_expect_tx(full(stage), kBytes);
        machine.cp_async_bulk_load(
            {2048 + stage * kBytes}, {1U << 20}, kBytes, CopyTarget{full(stage)});
      } else {
        machine.mbarrier_wait_parity(full(stage), WaitPhase::number(lap));
        machine.fence({Semantics::kAcqRel, Scope::kGpu});  // as long as the chip says
        machine.mbarrier_arrive(empty(stage));
      }
    }
  });
}

struct Ring {
  double work = 0;
  double latency = 400;

  TimedStats run() const {
    LaunchConfig config;
    config.warps_per_cta = 2;
    config.shared_bytes = 4096;
    GlobalMemory memory;
    memory.add("input", kBytes, true);
    Symbols symbols;
    symbols.roles = {RoleWarps{Role::kLoad, 1}, RoleWarps{Role::kEpilogue, 1}};
    symbols.regions = {
        {RegionKind::kBarriers, "input", "full", 1024, kStages, 8, BarrierContract{}},
        {RegionKind::kBarriers, "input", "empty", 1040, kStages, 8, BarrierContract{}}};
    Gpu gpu{config, memory, symbols};
    Chip chip = load_chip("b200");
    chip.fence_gpu = work;
    chip.tma_latency = latency;
    TimedOptions options;
    options.causes = CauseLog::kStepsMost;
    return run_timed(gpu, copy_and_work, chip, options);
  }
};

TEST(CriticalPath, OfSlowWorkIsTheWork) {
  const TimedStats stats = Ring{.work = 2000}.run();
  ASSERT_EQ(stats.ending, Ending::kDone);
  const CriticalPath& path = *stats.path;
  EXPECT_NEAR(path.cycles, stats.cycles, 1);
  EXPECT_GE(find(path.parts, "epilogue").cycles, 2000 * kSteps);
  EXPECT_EQ(find(path.parts, "input.full").steps, 1U);  // the first; then it has always come
  EXPECT_EQ(find(path.parts, "input.empty").steps, 0U);
  EXPECT_GT(find(path.slack, "input.full").mean, 1000);
  EXPECT_GT(find(path.slack, "input.empty").least, 1000);
  EXPECT_EQ(find(path.slack, "epilogue").least, 0);
}

TEST(CriticalPath, OfFastWorkGoesRoundTheRing) {
  const TimedStats stats = Ring{.work = 50}.run();
  ASSERT_EQ(stats.ending, Ending::kDone);
  const CriticalPath& path = *stats.path;
  EXPECT_EQ(find(path.parts, "input.full").steps, kSteps / kStages);
  EXPECT_EQ(find(path.parts, "input.empty").steps, kSteps / kStages - 1);
  EXPECT_NEAR(find(path.parts, "copy latency").cycles,
              (400 + 0.56 * 128) * kSteps / kStages,
              5.0 * kSteps / kStages);
  EXPECT_EQ(find(path.slack, "input.full").least, 0);
  EXPECT_EQ(find(path.slack, "input.empty").least, 0);
}

// What is on the path as often as it says delays the end as often, and what is not does not.
TEST(CriticalPath, SaysWhatALittleMoreWouldCost) {
  for (const double work : {50.0, 2000.0}) {
    const TimedStats before = Ring{.work = work, .latency = 400}.run();
    const TimedStats after = Ring{.work = work, .latency = 401}.run();
    const PathPart copies = find(before.path->parts, "copy latency");
    EXPECT_EQ(copies.steps, work < 1000 ? kSteps / kStages : 1U);
    EXPECT_NEAR(after.cycles - before.cycles, static_cast<double>(copies.steps), 0.5);
  }
}

// Slack: so much longer may the work be, and the ring is as slow as its copies; no longer.
TEST(CriticalPath, SlackIsWhatMayBeAdded) {
  const TimedStats stats = Ring{.work = 2000}.run();
  const double spare = find(stats.path->slack, "input.empty").least;
  // A copy that takes longer by less than its slack delays the first step alone.
  const double within = Ring{.work = 2000, .latency = 400 + spare - 2}.run().cycles;
  EXPECT_NEAR(within - stats.cycles, spare - 2, 1);
  const double beyond = Ring{.work = 2000, .latency = 400 + spare + 200}.run().cycles;
  EXPECT_GT(beyond - stats.cycles, spare + 200 + 100 * (kSteps / kStages - 2));
}

TEST(CriticalPath, IsCollectedOnlyWhereItIsAskedFor) {
  LaunchConfig config;
  config.warps_per_cta = 1;
  config.shared_bytes = 64;
  GlobalMemory memory;
  const Symbols symbols;
  Gpu gpu{config, memory, symbols};
  EXPECT_FALSE(
      run_timed(gpu, [](SimMachine& m) { m.sync_warp(); }, load_chip("b200"), {}).path.has_value());
}

}  // namespace
}  // namespace warptwin::sim::causes_test
