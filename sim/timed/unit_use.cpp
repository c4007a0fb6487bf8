#include "sim/timed/unit_use.hpp"

#include <algorithm>

namespace warptwin::sim {

namespace {

template <class Busy>
UnitUse use(const std::string& name, Ticks run, std::size_t units, const Busy& busy) {
  UnitUse result{name, 0, 0, {}};
  const double whole = std::max<double>(static_cast<double>(run), 1.0);
  for (std::size_t i = 0; i < units; ++i) {
    const double share = static_cast<double>(busy(i)) / whole;
    result.mean += share / static_cast<double>(units);
    result.most = std::max(result.most, share);
  }
  return result;
}

}  // namespace

void UnitHistories::watch(const std::vector<std::unique_ptr<Sm>>& sms, MemorySystem& memory) {
  for (const auto& sm : sms) {
    sm->tensor.watch(&tensor_core);
    sm->warpgroups.watch(&tensor_core);
    sm->tma.watch(&tma);
    sm->shared.watch(&shared_reads, &shared_writes);
  }
  memory.watch(&l2_reads, &l2_writes, &dram);
}

void UnitHistories::add_to(TimedStats& stats,
                           std::size_t sms,
                           const MemorySystem& memory,
                           Ticks run) {
  UseHistory* const all[] = {
      &tensor_core, &tma, &shared_reads, &shared_writes, &l2_reads, &l2_writes, &dram};
  Ticks width = 0;
  for (const UseHistory* history : all) {
    width = std::max(width, history->width());
  }
  for (UseHistory* history : all) {
    while (history->width() < width) {
      history->widen();
    }
  }
  stats.stretch = to_cycles(width);
  // `whole` is what a bucket would have if every unit worked through it.
  const auto over_time = [&](const UseHistory& history, double whole) {
    std::vector<double> values;
    for (std::size_t i = 0; i < UseHistory::kBuckets && i * width < run; ++i) {
      values.push_back(static_cast<double>(history.busy(i)) / whole);
    }
    return values;
  };
  const auto use = [&](const char* name, const UseHistory& history, std::size_t count) {
    const auto unit = std::find_if(stats.units.begin(), stats.units.end(), [&](const UnitUse& one) {
      return one.name == name;
    });
    unit->over_time = over_time(history, static_cast<double>(width * count));
  };
  use("tensor core", tensor_core, sms);
  use("TMA engine", tma, sms);
  use("shared-memory read", shared_reads, sms);
  use("shared-memory write", shared_writes, sms);
  use("L2", l2_reads, memory.halves());
  use("DRAM", dram, 1);
  const auto moved = [&](const char* name, const UseHistory& history, double rate) {
    stats.moved.push_back({name, over_time(history, static_cast<double>(width) / rate)});
  };
  moved("L2 reads", l2_reads, memory.read_rate());
  moved("L2 writes", l2_writes, memory.store_rate());
  moved("DRAM", dram, memory.dram_rate());
}

std::vector<UnitUse> use_of_units(const std::vector<std::unique_ptr<Sm>>& sms,
                                  const MemorySystem& memory,
                                  Ticks run) {
  const auto of_sms = [&](const std::string& name, const auto& busy) {
    return use(name, run, sms.size(), [&](std::size_t i) { return busy(*sms[i]); });
  };
  const auto of_parts = [&](const std::string& name, const auto& busy) {
    return use(name, run, sms.size() * kSubPartitions, [&](std::size_t i) {
      return busy(*sms[i / kSubPartitions], static_cast<std::uint32_t>(i % kSubPartitions));
    });
  };
  const auto of_halves = [&](const std::string& name, const auto& busy) {
    return use(name, run, memory.halves(), [&](std::size_t i) {
      return busy(static_cast<std::uint32_t>(i));
    });
  };
  using Part = std::uint32_t;
  return {
      of_sms("tensor core", [](const Sm& sm) { return sm.tensor.busy() + sm.warpgroups.busy(); }),
      of_sms("TMA engine", [](const Sm& sm) { return sm.tma.busy(); }),
      of_sms("shared-memory read", [](const Sm& sm) { return sm.shared.reads().busy(); }),
      of_sms("shared-memory write", [](const Sm& sm) { return sm.shared.writes().busy(); }),
      of_sms("mbarrier unit", [](const Sm& sm) { return sm.barriers.port().busy(); }),
      of_parts("tensor-memory port", [](const Sm& sm, Part i) { return sm.tmem.port(i).busy(); }),
      of_parts("issue slot", [](const Sm& sm, Part i) { return sm.issue.slot(i).busy(); }),
      of_parts("converter", [](const Sm& sm, Part i) { return sm.issue.converter(i).busy(); }),
      of_parts("FMA", [](const Sm& sm, Part i) { return sm.issue.fma(i).busy(); }),
      of_parts("MUFU", [](const Sm& sm, Part i) { return sm.issue.mufu(i).busy(); }),
      of_parts("integers", [](const Sm& sm, Part i) { return sm.issue.integer(i).busy(); }),
      of_parts("mma.sync", [](const Sm& sm, Part i) { return sm.issue.mma(i).busy(); }),
      of_sms("cluster network", [](const Sm& sm) { return sm.network.busy(); }),
      of_halves("link of the halves", [&](std::uint32_t i) { return memory.link(i).busy(); }),
      of_halves("L2", [&](std::uint32_t i) { return memory.l2(i).busy(); }),
      use("DRAM", run, 1, [&](std::size_t) { return memory.dram().busy(); })};
}

}  // namespace warptwin::sim
