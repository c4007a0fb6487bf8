#include "sim/timed/accounts.hpp"

#include <algorithm>
#include <map>

namespace warptwin::sim {

namespace {

std::string name_of_wait(const WarpAccount::Wait& wait, const Symbols& symbols) {
  return wait.op == Op::kMbarrierWait ? barrier_name(wait.address, symbols) : name_of(wait.op);
}

struct Sum {
  std::uint32_t runs = 0;
  Ticks alive = 0;
  Ticks issuing = 0;
  std::map<std::string, Ticks> waits;
};

RoleTime average(Role role, const Sum& sum) {
  RoleTime time;
  time.role = role;
  time.warps = sum.runs;
  const double warps = std::max(1U, sum.runs);
  time.alive = to_cycles(sum.alive) / warps;
  time.issuing = to_cycles(sum.issuing) / warps;
  for (const auto& [what, ticks] : sum.waits) {
    time.waits.push_back({what, to_cycles(ticks) / warps});
  }
  std::stable_sort(time.waits.begin(), time.waits.end(), [](const WaitTime& a, const WaitTime& b) {
    return a.cycles > b.cycles;
  });
  return time;
}

}  // namespace

std::string barrier_name(std::uint32_t address, const Symbols& symbols) {
  const Region* region = symbols.find(address);
  return region == nullptr ? symbols.name(address) : region->owner + "." + region->part;
}

void WarpAccount::wait(Op op, std::uint32_t address, Ticks ticks) {
  for (Wait& known : waits_) {
    if (known.op == op && known.address == address) {
      known.ticks += ticks;
      return;
    }
  }
  waits_.push_back({op, address, ticks});
}

std::vector<RoleTime> by_role(const std::vector<WarpAccount>& accounts, const Gpu& gpu) {
  const std::uint32_t warps = gpu.config().warps_per_cta;
  std::map<Role, Sum> sums;
  for (std::size_t slot = 0; slot < accounts.size(); ++slot) {
    const WarpAccount& account = accounts[slot];
    const auto index = static_cast<std::uint32_t>(slot % warps);
    Sum& sum = sums[gpu.symbols().role_of(index)];
    sum.runs += account.runs();
    sum.alive += account.alive();
    sum.issuing += account.issuing();
    for (const WarpAccount::Wait& wait : account.waits()) {
      sum.waits[name_of_wait(wait, gpu.symbols())] += wait.ticks;
    }
  }
  std::vector<RoleTime> times;
  for (const auto& [role, sum] : sums) {
    times.push_back(average(role, sum));
  }
  return times;
}

}  // namespace warptwin::sim
