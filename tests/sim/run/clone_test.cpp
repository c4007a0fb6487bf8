// A machine is copied in the middle of a run: neither the original nor the copies see each other,
// and a copy that is led on as the original went does the same to the end.

#include <deque>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "sim/run/simulate.hpp"
#include "tests/sim/ptx/machine/one_kernel.hpp"
#include "tests/support/named_scenario.hpp"

namespace warptwin::sim::clone_test {
namespace {

/// An operation as its warp brought it, with what it points to.
struct Brought {
  explicit Brought(const Operation& op) : operation{op} {
    if (op.fragment != nullptr) {
      fragment = *op.fragment;
    }
    if (op.fragment_a != nullptr) {
      fragment_a = *op.fragment_a;
    }
    if (op.access() != nullptr) {
      EXPECT_NE(op.op, Op::kGlobalRedAdd) << "an update is more than an access";
      access = *op.access();
    }
    if (op.is<operands::MapChange>() && op.as<operands::MapChange>().replaced != nullptr) {
      replaced = *op.as<operands::MapChange>().replaced;
    }
    if (op.is<operands::Mbarrier>() && op.as<operands::Mbarrier>().copies != nullptr) {
      copies = *op.as<operands::Mbarrier>().copies;
    }
    if (op.race != nullptr) {
      race = *op.race;
    }
  }

  Operation operation;
  FragmentData fragment;
  FragmentData fragment_a;
  std::optional<LaneAccess> access;
  std::optional<TensorMapState> replaced;
  std::optional<std::vector<AsyncAccess>> copies;
  std::optional<LaneRace> race;
};

/// What a warp of the grid has done so far: the last operation is the one it is at.
struct Life {
  std::deque<Brought> brought;
  bool begun = false;
  bool over = false;  // but for its exit
};
using Lives = std::map<std::uint32_t, Life>;

struct Recording : EnginePort {
  Recording(SimMachine& inner, Life& of) : machine{inner}, life{of} {}
  void perform(Operation& operation) override {
    life.brought.emplace_back(operation);
    machine.perform(operation);
  }
  SimMachine& machine;
  Life& life;
};

WarpBody recorded(const WarpBody& body, std::uint32_t warps_per_cta, Lives& lives) {
  return [&body, warps_per_cta, &lives](SimMachine& machine) {
    const std::uint32_t cta = machine.cluster_index() * machine.cluster_size() + machine.cta_rank();
    Life& life = lives[cta * warps_per_cta + machine.warp_index()];
    life.begun = true;
    Recording port{machine, life};
    SimMachine watched{port,
                       {machine.warp_index(),
                        machine.cta_rank(),
                        machine.cluster_size(),
                        machine.cluster_index(),
                        machine.cluster_count(),
                        machine.elected_lane(),
                        machine.registers().unknown_any},
                       machine.registers(),
                       machine.moves_data()};
    body(watched);
    life.over = true;
  };
}

struct Events : EventSink {
  void on_event(const Event& event) override { all.push_back(event); }
  std::vector<Event> all;
};

auto fields(const Event& e) {
  const payload::Numbers said = e.numbers();
  return std::tuple{e.time,       e.op,        e.step,           e.fault,
                    e.lanes,      e.flags,     e.ordering.scope, e.ordering.semantics,
                    e.warp,       e.cta,       e.address,        e.kind(),
                    e.bytes,      e.phase,     e.lane,           e.mask,
                    e.serial,     e.global,    said.first,       said.second,
                    said.count,   said.wanted, said.place,       said.place_cta,
                    said.pending, said.tx,     said.expected,    e.site.line};
}

// Those of `all` from number `from` on are `others`.
void expect_same(const std::vector<Event>& all,
                 std::size_t from,
                 const std::vector<Event>& others) {
  ASSERT_EQ(all.size() - from, others.size());
  for (std::size_t i = 0; i < others.size(); ++i) {
    ASSERT_EQ(fields(all[from + i]), fields(others[i]))
        << "event " << from + i << ": " << name_of(others[i].op);
  }
}

/// Registers that operations on their way read or fill.
std::set<std::shared_ptr<FragmentData>> in_flight(const Gpu& gpu) {
  std::set<std::shared_ptr<FragmentData>> all;
  for (const AsyncOp* async : gpu.outstanding()) {
    all.insert({async->operation.fragment, async->operation.fragment_a});
    for (const auto& registers : {async->accumulators, async->registers_a}) {
      if (registers != nullptr) {
        all.insert(registers->begin(), registers->end());
      }
    }
  }
  all.erase(nullptr);
  return all;
}

auto fields(const FragmentData& data) {
  return std::tuple{data.registers,
                    data.last_wgmma,
                    data.touched,
                    data.touched_early,
                    data.settled,
                    data.reported,
                    data.bits};
}

/// A copy of a machine, and of what its warps are at.
class Copy {
 public:
  Copy(const Gpu& other, const GlobalMemory& its_memory, const Lives& lives, std::uint64_t steps)
      : memory{its_memory}, gpu{other, memory, fragments}, lives_{lives}, steps_{steps} {
    gpu.set_sink(&events);
    for (const auto& [number, life] : lives) {
      for (const Brought& brought : life.brought) {
        fragments.of(brought.operation.fragment);  // as they are now
        fragments.of(brought.operation.fragment_a);
      }
    }
    for (WarpSlot warp = 0; warp < gpu.warps().size(); ++warp) {
      const auto life = lives.find(gpu.warps()[warp].number);
      if (gpu.warps()[warp].status == WarpStatus::kDone || life == lives.end()) {
        continue;
      }
      At& at = at_[warp];
      at.next = life->second.brought.size();
      if (life->second.over) {
        at.operation = exit();
      } else {
        point(life->second.brought.back(), at);
      }
    }
  }

  /// Lets one act, as the functional engine does.
  void step(AgentSlot agent) {
    gpu.set_time(++steps_);
    if (!gpu.agents().is_warp(agent)) {
      gpu.advance(agent);
    } else if (const WarpSlot warp = gpu.agents().warp_of(agent); !at_.contains(warp)) {
      come(warp);
    } else if (gpu.execute(warp, at_[warp].operation)) {
      if (at_[warp].operation.op == Op::kWarpExit) {
        at_.erase(warp);
      } else {
        come(warp);
      }
    }
    for (const WarpSlot warp : gpu.take_started()) {
      at_.erase(warp);
    }
  }

  /// Goes another way: all that is asynchronous at once, the last first, then each warp.
  void go_astray() {
    const auto last = [&](bool warps) {
      AgentSlot found = AgentSlot::nobody();
      for (std::uint32_t i = 0; i < gpu.ready().size(); ++i) {
        const AgentSlot agent = gpu.ready()[i];
        if (gpu.agents().is_warp(agent) == warps &&
            (found == AgentSlot::nobody() || agent > found)) {
          found = agent;
        }
      }
      return found;
    };
    for (AgentSlot agent = last(false); agent != AgentSlot::nobody(); agent = last(false)) {
      step(agent);
    }
    for (const auto& [warp, at] : std::map<WarpSlot, At>{at_}) {
      if (gpu.ready().contains(Agents::warp(warp)) && !gpu.trapped()) {
        step(Agents::warp(warp));
      }
    }
  }

  GlobalMemory memory;
  FragmentCopies fragments;
  Gpu gpu;
  Events events;

 private:
  struct At {
    std::size_t next = 0;  // of the operations of its life
    Operation operation;
    std::optional<LaneAccess> access;
  };

  static Operation exit() { return Operation{Op::kWarpExit}; }

  // What the operation of `at` points to is the copy's.
  void point(const Brought& brought, At& at) {
    Operation& op = at.operation = brought.operation;
    op.fragment = fragments.of(op.fragment);
    op.fragment_a = fragments.of(op.fragment_a);
    at.access = brought.access;
    if (at.access) {
      op.as<operands::LaneBytes>().access = &*at.access;
    }
    if (brought.replaced) {
      op.as<operands::MapChange>().replaced = &*brought.replaced;
    }
    if (brought.copies) {
      op.as<operands::Mbarrier>().copies = &*brought.copies;
    }
    op.race = brought.race ? &*brought.race : nullptr;
    op.state = nullptr;
  }

  // The warp has come to its next operation; what it did on its registers before is done on those
  // of the copy.
  void come(WarpSlot warp) {
    const Life& life = lives_.at(gpu.warps()[warp].number);
    At& at = at_[warp];
    while (at.next < life.brought.size()) {
      const Brought& brought = life.brought[at.next++];
      point(brought, at);
      const Op op = at.operation.op;
      const bool only_looks =
          op == Op::kFragmentRead || op == Op::kTcgen05WaitLd || op == Op::kWgmmaWait;
      if (at.operation.fragment != nullptr && only_looks) {
        ASSERT_EQ(fields(*at.operation.fragment), fields(brought.fragment)) << name_of(op);
      } else if (at.operation.fragment != nullptr) {
        *at.operation.fragment = brought.fragment;
      }
      if (at.operation.fragment_a != nullptr) {
        *at.operation.fragment_a = brought.fragment_a;
      }
      if (op != Op::kStageNote) {
        gpu.announce(warp, at.operation);
        return;
      }
      gpu.execute(warp, at.operation);
    }
    at.operation = exit();
    gpu.announce(warp, at.operation);
  }

  const Lives& lives_;
  std::uint64_t steps_;
  std::map<WarpSlot, At> at_;
};

/// Makes the choices of another scheduler, and copies of the machine at some of its steps.
class Copying : public Scheduler {
 public:
  Copying(Gpu& gpu, const Events& events, const Lives& lives, std::uint64_t every)
      : gpu_{gpu}, events_{events}, lives_{lives}, every_{every} {}

  AgentSlot pick(const ReadySet& ready, AgentSlot previous) override {
    const bool flies = !in_flight(gpu_).empty();
    if (every_ != 0 && (steps_ % every_ == every_ - 1 || (flies && !has_flown_))) {
      copy();
    }
    has_flown_ = has_flown_ || flies;
    ++steps_;
    return turns_->pick(ready, previous);
  }
  void yielded(AgentSlot slot) override { turns_->yielded(slot); }

  struct Kept {
    std::unique_ptr<Copy> copy;
    std::uint64_t steps = 0;
    std::size_t events = 0;
  };
  std::vector<Kept> kept;
  std::uint64_t with_registers = 0;

 private:
  void copy() {
    const auto registers = in_flight(gpu_);
    std::vector<FragmentData> before;
    for (const auto& data : registers) {
      before.push_back(*data);
    }
    kept.push_back(
        {std::make_unique<Copy>(gpu_, gpu_.memory(), lives_, steps_), steps_, events_.all.size()});
    Copy astray{gpu_, gpu_.memory(), lives_, steps_};
    for (const auto& data : in_flight(astray.gpu)) {
      EXPECT_FALSE(registers.contains(data));
      EXPECT_FALSE(in_flight(kept.back().copy->gpu).contains(data));
    }
    EXPECT_EQ(in_flight(kept.back().copy->gpu).size(), registers.size());
    astray.go_astray();
    EXPECT_FALSE(astray.events.all.empty());
    std::size_t i = 0;
    for (const auto& data : registers) {
      EXPECT_EQ(fields(*data), fields(before[i++])) << "a copy has changed it";
    }
    with_registers += registers.empty() ? 0 : 1;
  }

  Gpu& gpu_;
  const Events& events_;
  const Lives& lives_;
  std::uint64_t every_;
  std::uint64_t steps_ = 0;
  bool has_flown_ = false;
  std::unique_ptr<Scheduler> turns_ = make_scheduler(ScheduleSpec::parse("random:7"));
};

struct Case {
  std::string name;
  ScenarioEntry entry;
  bool has_registers = false;  // that asynchronous operations fill
  std::vector<std::pair<const char*, std::int64_t>> parameters{};
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

std::vector<std::byte> bytes_of(GlobalMemory& memory,
                                const Workload& workload,
                                const std::vector<GlobalAddress>& addresses) {
  std::vector<std::byte> all;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const std::uint64_t size = workload.tensors[i].bytes();
    if (const std::byte* at = memory.at(addresses[i].value, size); at != nullptr) {
      all.insert(all.end(), at, at + size);
    }
  }
  return all;
}

struct Execution {
  Events events;
  RunResult result;
  std::uint64_t copies = 0;
  std::uint64_t with_registers = 0;
};

// Copies the machine every so many steps; 0: never. Leads each copy to the end of the run.
void execute(const Case& of, std::uint64_t every, Execution& run) {
  ScenarioEntry entry = of.entry;
  ParameterSet parameters{entry.parameters};
  for (const auto& [name, value] : of.parameters) {
    parameters.set(name, value);
  }
  std::vector<GlobalAddress> addresses;
  entry.body = [&, body = entry.body](const ParameterSet& set,
                                      std::span<const SimTensorMap> maps,
                                      std::span<const GlobalAddress> where) {
    addresses.assign(where.begin(), where.end());
    return body(set, maps, where);
  };
  RunOptions options;
  options.observer = &run.events;
  options.engine = [&](Gpu& gpu, const WarpBody& body) {
    Lives lives;
    Copying scheduler{gpu, run.events, lives, every};
    std::vector<AgentSlot> choices;
    const RunStats stats = run_functional(
        gpu, recorded(body, gpu.config().warps_per_cta, lives), scheduler, {}, &choices);
    run.copies = scheduler.kept.size();
    run.with_registers = scheduler.with_registers;
    const Workload workload = entry.workload(parameters);
    const std::vector<std::byte> left = bytes_of(gpu.memory(), workload, addresses);
    for (const Copying::Kept& kept : scheduler.kept) {
      Copy& copy = *kept.copy;
      for (std::size_t i = kept.steps; i < choices.size(); ++i) {
        copy.step(choices[i]);
        if (testing::Test::HasFatalFailure()) {
          return stats;
        }
      }
      expect_same(run.events.all, kept.events, copy.events.all);
      EXPECT_EQ(copy.gpu.finished(), gpu.finished());
      EXPECT_EQ(copy.gpu.trapped(), gpu.trapped());
      EXPECT_EQ(copy.gpu.operations(), gpu.operations());
      EXPECT_EQ(copy.gpu.changes(), gpu.changes());
      EXPECT_EQ(bytes_of(copy.memory, workload, addresses), left);
      for (std::size_t cta = 0; cta < gpu.ctas().size(); ++cta) {
        EXPECT_EQ(copy.gpu.ctas()[cta].shared, gpu.ctas()[cta].shared);
      }
    }
    return stats;
  };
  run.result = simulate(entry, parameters, options);
}

class CloneTest : public testing::TestWithParam<Case> {};

TEST_P(CloneTest, GoesOnAsTheOriginalAndIsNotSeenByIt) {
  Execution alone;
  execute(GetParam(), 0, alone);
  ASSERT_EQ(alone.result.end, Ending::kDone);
  Execution copied;
  execute(GetParam(), alone.result.stats.steps / 4, copied);
  EXPECT_GE(copied.copies, 3U);
  EXPECT_EQ(copied.with_registers != 0, GetParam().has_registers);
  expect_same(alone.events.all, 0, copied.events.all);
  EXPECT_EQ(copied.result.findings.size(), alone.result.findings.size());
  for (const Comparison& comparison : copied.result.comparisons) {
    EXPECT_TRUE(comparison.agrees()) << comparison.tensor;
  }
}

// Threads bring two tiles, a warpgroup multiplies them twice, and stores its registers.
OneKernel wgmma() {
  OneKernel kernel;
  kernel.threads = 128;
  kernel.out_words = 128 * 4;
  for (std::uint32_t i = 0; i < 1024; ++i) {
    kernel.in.push_back(0x3F803F80 + i % 5 * 0x00400040);  // bf16, two a word
  }
  const std::string multiply =
      "  wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd5, %rd6, "
      "%p1, 1, 1, 0, 0;\n  wgmma.commit_group.sync.aligned;\n";
  kernel.body =
      "  mov.u32 %r20, tile;\n  mad.lo.u32 %r20, %r1, 4, %r20;\n"
      "  mul.wide.u32 %rd4, %r1, 4;\n  add.u64 %rd4, %rd1, %rd4;\n" +
      repeated(
          "  ld.global.u32 %r4$, [%rd4];\n  st.shared.u32 [%r20], %r4$;\n"
          "  add.u64 %rd4, %rd4, 512;\n  add.u32 %r20, %r20, 512;\n",
          8) +
      "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n"
      "  mov.u32 %r30, tile;\n  shr.u32 %r30, %r30, 4;\n  cvt.u64.u32 %rd5, %r30;\n"
      // K-major without a swizzle: 128 B from column to column of cores, 256 B from row to row.
      "  or.b64 %rd5, %rd5, 68720001024;\n  or.b64 %rd6, %rd5, 0;\n"
      "  setp.ne.u32 %p1, 0, 1;\n  mov.f32 %f0, 0f00000000;\n  mov.f32 %f1, %f0;\n"
      "  mov.f32 %f2, %f0;\n  mov.f32 %f3, %f0;\n  wgmma.fence.sync.aligned;\n" +
      multiply + multiply +
      "  wgmma.wait_group.sync.aligned 0;\n  mul.wide.u32 %rd10, %r1, 16;\n"
      "  add.u64 %rd11, %rd2, %rd10;\n" +
      repeated("  st.global.f32 [%rd11], %f$;\n  add.u64 %rd11, %rd11, 4;\n", 4);
  return kernel;
}

// One warp stores to tensor memory and loads it again.
OneKernel tensor_memory() {
  OneKernel kernel;
  kernel.out_words = 32 * 2;
  kernel.body =
      "  mov.u32 %r20, tile;\n"
      "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r20], 32;\n"
      "  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
      "  bar.sync 0;\n  ld.shared.u32 %r21, [%r20];\n"
      "  mul.lo.u32 %r40, %r1, 1000;\n  add.u32 %r41, %r40, 1;\n"
      "  tcgen05.st.sync.aligned.32x32b.x2.b32 [%r21], {%r40, %r41};\n"
      "  tcgen05.wait::st.sync.aligned;\n"
      "  tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r50, %r51}, [%r21];\n"
      "  tcgen05.wait::ld.sync.aligned;\n"
      "  mul.wide.u32 %rd10, %r1, 8;\n  add.u64 %rd11, %rd2, %rd10;\n"
      "  st.global.u32 [%rd11], %r50;\n  st.global.u32 [%rd11+4], %r51;\n"
      "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r21, 32;\n";
  return kernel;
}

std::vector<Case> cases() {
  using Parameters = std::vector<std::pair<const char*, std::int64_t>>;
  const auto scenario = [](const char* name, bool has_registers, const Parameters& parameters) {
    return Case{name, named_scenario(name), has_registers, parameters};
  };
  std::vector<Case> all{
      scenario("multicast_ring", false, {}),
      scenario("gemm", true, {{"m", 256}, {"n", 128}, {"k", 384}}),
      scenario("gemm_2sm", true, {{"m", 256}, {"n", 256}, {"k", 320}}),
      scenario("gemm_persistent", true, {{"n", 256}, {"k", 128}, {"resident", 1}}),
      scenario("gemm_split_k", true, {{"m", 128}}),
      scenario("gemm_wgmma", true, {{"m", 128}, {"n", 128}, {"k", 384}}),
      scenario("attention", true, {{"q", 256}, {"kv", 256}})};
  all.push_back({"ptx_wgmma", entry_of(wgmma()), true});
  all.push_back({"ptx_tensor_memory", entry_of(tensor_memory()), true});
  return all;
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Programs, CloneTest, testing::ValuesIn(cases()), name_of_case);

}  // namespace
}  // namespace warptwin::sim::clone_test
