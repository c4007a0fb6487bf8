// Where the CTAs of a grid go, and what SMs share that ask for the same lines at the same time.
//
//   warptwin-measure-places OUT.json
//
// *Places*: each CTA of a grid notes its SM. Clusters of 1 to 8, one CTA an SM or two, three
// launches right behind each other. GPCs follow from clusters; which GPC's port an SM asks by that
// no cluster joins with others, from what the SMs of a GPC get beside it. `order` is what a chip
// file has as `places`.
//
// *Halves of L2*: each SM reads the same lines one after the other, each several
// times. SMs near the same half find the same lines near.
//
// *Shares*: every SM keeps boxes on their way. Some SMs, or all in groups, read the same lines: SMs
// of a TPC, of a part of a GPC, of a GPC, of different GPCs of one half, and of different halves.
// The second of a group begins `delay` cycles after the first, and so on.
// Exit codes: 0, 2 usage, 4 no device.

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "hw/bench/l2_streams.cuh"

namespace warptwin::hw::bench {
namespace {

using Sms = std::vector<std::uint32_t>;

// --- Places -----------------------------------------------------------------------------------

__global__ void __launch_bounds__(384, 1) note_place(std::uint32_t spin, std::uint32_t* sms) {
  const std::uint64_t begin = nanoseconds();
  if (threadIdx.x == 0) {
    sms[blockIdx.x] = own_sm();
  }
  while (nanoseconds() - begin < spin) {
  }
}

struct Grid {
  std::uint32_t clusters, size, threads, shared_bytes;
};

void note_grid(const Grid& grid, std::ostream& out) {
  constexpr int kInARow = 3;
  constexpr std::uint32_t kSpin = 20'000;
  const std::uint32_t ctas = grid.clusters * grid.size;
  SharedWithDevice<std::uint32_t> sms{std::size_t{ctas} * kInARow};
  for (int i = 0; i < kInARow; ++i) {
    std::uint32_t spin = kSpin;
    std::uint32_t* to = sms.get() + std::size_t{ctas} * i;
    void* arguments[] = {&spin, &to};
    launch(reinterpret_cast<const void*>(&note_place),
           {grid.clusters, grid.size, grid.threads, grid.shared_bytes},
           arguments,
           nullptr);
  }
  synchronize(nullptr);
  out << "{\"clusters\": " << grid.clusters << ", \"cluster_size\": " << grid.size
      << ", \"threads\": " << grid.threads << ", \"shared_bytes\": " << grid.shared_bytes
      << ", \"launches\": [";
  for (int i = 0; i < kInARow; ++i) {
    out << (i == 0 ? "\n [" : ",\n [");
    for (std::uint32_t cta = 0; cta < ctas; ++cta) {
      out << (cta == 0 ? "" : ",") << sms[std::size_t{ctas} * i + cta];
    }
    out << "]";
  }
  out << "]}";
}

// --- Halves of L2 -----------------------------------------------------------------------------

constexpr std::uint32_t kLines = 256;
constexpr std::uint32_t kWordsApart = 1056;  // 4 KiB and a line
constexpr std::uint32_t kChain = 8;

__global__ void __launch_bounds__(32, 1)
    read_lines(const std::uint32_t* data, std::uint32_t* cycles) {
  const std::uint32_t sm = own_sm();
  const std::uint64_t begin = nanoseconds();
  if (threadIdx.x == 0) {
    for (std::uint32_t i = 0; i < kLines; ++i) {
      const std::uint32_t line = (i + 2 * sm) % kLines;
      const std::uint32_t* at = data + std::size_t{line} * kWordsApart;
      std::uint32_t value = 0;  // as all of data: each load waits for the one before
      std::uint64_t before = 0;
      for (std::uint32_t load = 0; load <= kChain; ++load) {
        before = load == 1 ? now() : before;
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(at + value) : "memory");
      }
      cycles[sm * kLines + line] = static_cast<std::uint32_t>(now() - before);
      need(value + 1);
    }
  }
  while (nanoseconds() - begin < 20'000) {
  }
}

// Of each SM and line: cycles of `kChain` loads.
std::vector<double> latencies(std::uint32_t sms) {
  DeviceBuffer data{sizeof(std::uint32_t) * kLines * kWordsApart, 0};
  SharedWithDevice<std::uint32_t> cycles{std::size_t{kSmsMost} * kLines};
  const std::uint32_t* from = data.get<std::uint32_t>();
  std::uint32_t* to = cycles.get();
  void* arguments[] = {&from, &to};
  launch(reinterpret_cast<const void*>(&read_lines), {sms, 1, 32, 200 * 1024}, arguments, nullptr);
  synchronize(nullptr);
  return {to, to + std::size_t{sms} * kLines};
}

// How alike SMs see lines, by their correlation over lines, each line less its mean over SMs.
std::vector<double> alike(std::vector<double> cycles, std::uint32_t sms) {
  for (std::uint32_t line = 0; line < kLines; ++line) {
    double sum = 0;
    for (std::uint32_t sm = 0; sm < sms; ++sm) {
      sum += cycles[sm * kLines + line];
    }
    for (std::uint32_t sm = 0; sm < sms; ++sm) {
      cycles[sm * kLines + line] -= sum / sms;
    }
  }
  const auto product = [&](std::uint32_t x, std::uint32_t y) {
    double sum = 0;
    for (std::uint32_t line = 0; line < kLines; ++line) {
      sum += cycles[x * kLines + line] * cycles[y * kLines + line];
    }
    return sum;
  };
  std::vector<double> correlation(std::size_t{sms} * sms);
  for (std::uint32_t x = 0; x < sms; ++x) {
    for (std::uint32_t y = 0; y < sms; ++y) {
      correlation[x * sms + y] = product(x, y) / std::sqrt(product(x, x) * product(y, y));
    }
  }
  return correlation;
}

// The same of GPCs, in the mean.
std::vector<std::vector<double>> between_gpcs(const std::vector<double>& correlation,
                                              const std::vector<Sms>& gpcs) {
  const auto sms = static_cast<std::size_t>(std::sqrt(correlation.size()));
  std::vector<std::vector<double>> all;
  for (const Sms& one : gpcs) {
    std::vector<double>& row = all.emplace_back();
    for (const Sms& other : gpcs) {
      double sum = 0;
      double count = 0;
      for (const std::uint32_t x : one) {
        for (const std::uint32_t y : other) {
          sum += x == y ? 0 : correlation[x * sms + y];
          count += x == y ? 0 : 1;
        }
      }
      row.push_back(sum / count);
    }
  }
  return all;
}

// --- Shares -----------------------------------------------------------------------------------

class Shares {
 public:
  Shares(Ports& ports, std::ostream& out) : ports_{ports}, out_{out} {}

  // Each of `groups` reads a stream; others are idle, or read lines of their own.
  void note(const std::string& what,
            const std::vector<Sms>& groups,
            std::uint32_t depth,
            std::uint32_t delay,
            const Sms& others = {}) {
    std::vector<Part> parts(ports_.sms(), Part{kIdle, 0});
    std::uint32_t stream = 0;
    Sms sharers;
    for (const Sms& group : groups) {
      for (std::uint32_t i = 0; i < group.size(); ++i) {
        parts[group[i]] = {stream, i * delay};
        sharers.push_back(group[i]);
      }
      ++stream;
    }
    for (const std::uint32_t sm : others) {
      parts[sm] = {stream++, 0};
    }
    const auto notes = ports_.run(parts, depth);
    out_ << between_ << "{\"what\": \"" << what << "\", \"depth\": " << depth
         << ", \"delay\": " << delay << ", \"groups\": " << groups.size()
         << ", \"sharers\": " << sharers.size() << ", \"others\": " << others.size()
         << ", \"rate\": " << number(mean_rate(notes, sharers))
         << ", \"rate_of_others\": " << number(mean_rate(notes, others)) << ", \"apart\": [";
    for (const std::uint32_t at : {0U, 8U, 20U, 38U}) {  // the last of a group behind its first
      double sum = 0;
      for (const Sms& group : groups) {
        sum += std::abs(double{1} * notes[group.back() * kNotes + at] -
                        notes[group.front() * kNotes + at]);
      }
      out_ << (at == 0 ? "" : ", ")
           << number(groups.empty() ? 0 : sum / static_cast<double>(groups.size()));
    }
    out_ << "]}";
    between_ = ",\n";
  }

 private:
  Ports& ports_;
  std::ostream& out_;
  const char* between_ = "\n";
};

// What SMs share: `groups` of places in a GPC read the same, the others lines of their own. Places
// are those of SMs in the order of their numbers: two of a TPC, every third TPC of one part.
struct Kind {
  const char* what;
  std::vector<Sms> groups;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"pairs of a TPC", {{0, 1}, {2, 3}, {4, 5}}},
      {"pairs of a part, two TPCs", {{0, 6}, {2, 8}, {4, 10}}},
      {"pairs of two parts", {{0, 8}, {2, 10}, {4, 6}}},
      {"six of a part", {{0, 1, 6, 7, 12, 13}}},
      {"six of three parts", {{0, 2, 4, 6, 8, 10}}},
  };
  return all;
}

// SMs that a GPC's groups leave.
Sms others_of(const Sms& gpc, const std::vector<Sms>& groups) {
  Sms others;
  for (const std::uint32_t sm : gpc) {
    const bool has = std::any_of(groups.begin(), groups.end(), [&](const Sms& group) {
      return std::find(group.begin(), group.end(), sm) != group.end();
    });
    if (!has) {
      others.push_back(sm);
    }
  }
  return others;
}

void append(Sms& to, const Sms& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// `gpcs` together, in each of which SMs share as the kind says.
void note_kind(Shares& shares,
               const std::string& which,
               const std::vector<Sms>& gpcs,
               const Kind& kind,
               std::uint32_t depth,
               std::uint32_t delay) {
  std::vector<Sms> groups;
  Sms others;
  for (const Sms& gpc : gpcs) {
    std::vector<Sms> own = kind.groups;
    for (Sms& group : own) {
      for (std::uint32_t& sm : group) {
        sm = gpc[sm];
      }
    }
    append(others, others_of(gpc, own));
    groups.insert(groups.end(), own.begin(), own.end());
  }
  shares.note(which + kind.what, groups, depth, delay, others);
}

// Six SMs of each of two GPCs read the same, an SM of one and an SM of the other.
void note_two_gpcs(Shares& shares,
                   const std::string& which,
                   const Sms& one,
                   const Sms& two,
                   std::uint32_t depth,
                   std::uint32_t delay) {
  std::vector<Sms> groups;
  for (std::uint32_t i = 0; i < 6; ++i) {
    groups.push_back({one[i], two[i]});
  }
  Sms others = others_of(one, groups);
  append(others, others_of(two, groups));
  shares.note(which, groups, depth, delay, others);
}

void note_shares(Ports& ports, const std::vector<Sms>& gpcs, std::ostream& out) {
  Shares shares{ports, out};
  Sms all(ports.sms());
  std::iota(all.begin(), all.end(), 0);
  Sms lone;
  std::vector<Sms> large;
  Sms small;  // the GPC that clusters see fewest SMs of, beside lone TPCs
  for (const Sms& gpc : gpcs) {
    if (gpc.size() <= 2) {
      append(lone, gpc);
    } else if (gpc.size() >= 16) {
      large.push_back(gpc);
    } else {
      small = gpc;
    }
  }
  Sms joined = small;
  append(joined, lone);
  // Whose port the lone TPCs ask by.
  for (std::uint32_t i = 0; i < gpcs.size(); ++i) {
    shares.note("GPC " + std::to_string(i) + " alone", {}, 24, 0, gpcs[i]);
    if (gpcs[i].size() > 2) {
      Sms both = gpcs[i];
      append(both, lone);
      shares.note("GPC " + std::to_string(i) + " beside lone TPCs", {}, 24, 0, both);
    }
  }
  const std::vector<Sms> largest{large.back()};
  for (const std::uint32_t depth : {6U, 12U, 24U}) {
    shares.note("one GPC, own lines", {}, depth, 0, largest[0]);
    shares.note("small GPC and lone TPCs, own lines", {}, depth, 0, joined);
    Sms of_large;
    for (const Sms& gpc : large) {
      append(of_large, gpc);
    }
    shares.note("GPCs of 16 and more, own lines", {}, depth, 0, of_large);
    shares.note("all SMs, own lines", {}, depth, 0, all);
    Sms two = large[0];
    append(two, large.back());
    for (const std::uint32_t delay : {0U, 125U, 250U, 500U, 1000U, 2000U, 4000U}) {
      for (const Kind& kind : kinds()) {
        note_kind(shares, "one GPC, ", largest, kind, depth, delay);
        note_kind(shares, "GPCs of 16 and more, ", large, kind, depth, delay);
      }
      for (std::uint32_t i = 1; i < large.size(); ++i) {
        note_two_gpcs(shares,
                      "one SM of GPC " + std::to_string(ports.gpc()[large[0][0]]) +
                          " and one of GPC " + std::to_string(ports.gpc()[large[i][0]]),
                      large[0],
                      large[i],
                      depth,
                      delay);
      }
      if (joined.size() >= 12 && small.size() >= 6 && lone.size() >= 6) {
        std::vector<Sms> groups;
        for (std::uint32_t i = 0; i < 6; i += 2) {
          groups.push_back({small[i], lone[i]});
        }
        shares.note("one SM of the small GPC and one of a lone TPC",
                    groups,
                    depth,
                    delay,
                    others_of(joined, groups));
      }
    }
  }
}

void measure(const char* path) {
  Ports ports;
  std::ofstream out{path};
  const std::uint32_t sms = ports.sms();
  const std::vector<Sms> gpcs = members_of(ports.gpc());
  cudaDeviceProp device{};
  require_cuda(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties", "see the error");
  out << "{\"device\": \"" << device.name << "\",\n\"gpc_of_sm\": [";
  for (std::uint32_t sm = 0; sm < sms; ++sm) {
    out << (sm == 0 ? "" : ", ") << ports.gpc()[sm];
  }
  out << "],\n\"grids\": [\n";
  const char* between = "";
  constexpr std::uint32_t kOne = 200 * 1024;  // one CTA an SM
  constexpr std::uint32_t kTwo = 100 * 1024;
  for (const Grid& grid : {Grid{sms, 1, 384, kOne},
                           {sms * 3 / 4, 1, 384, kOne},
                           {sms * 2, 1, 384, kOne},
                           {sms * 2, 1, 128, kTwo},
                           {sms / 2, 2, 384, kOne},
                           {sms, 2, 384, kOne},
                           {sms, 2, 128, kTwo},
                           {sms / 4, 4, 384, kOne},
                           {sms / 2, 4, 384, kOne},
                           {sms / 8, 8, 384, kOne}}) {
    out << between;
    between = ",\n";
    note_grid(grid, out);
  }
  const std::vector<double> cycles = latencies(sms);
  const std::vector<double> correlation = alike(cycles, sms);
  out << "],\n\"latency_of_sm\": [";
  for (std::uint32_t sm = 0; sm < sms; ++sm) {
    double sum = 0;
    for (std::uint32_t line = 0; line < kLines; ++line) {
      sum += cycles[sm * kLines + line];
    }
    out << (sm == 0 ? "" : ", ") << number(sum / kLines / kChain);
  }
  out << "],\n\"alike_in_gpcs\": [";
  const std::vector<std::vector<double>> alike_gpcs = between_gpcs(correlation, gpcs);
  for (std::size_t i = 0; i < gpcs.size(); ++i) {
    out << (i == 0 ? "\n [" : ",\n [");
    for (std::size_t j = 0; j < gpcs.size(); ++j) {
      out << (j == 0 ? "" : ", ") << number(alike_gpcs[i][j]);
    }
    out << "]";
  }
  out << "],\n\"order\": [";
  const Sms asked = asked_ports(ports);
  std::vector<bool> seen(gpcs.size());
  for (const std::uint32_t sm : sms_of_ctas(sms)) {  // the first of each: a group's turn
    const std::uint32_t gpc = ports.gpc()[sm];
    if (!seen[gpc]) {
      const bool first = std::find(seen.begin(), seen.end(), true) == seen.end();
      out << (first ? "[" : ", [") << gpcs[gpc].size() << ", " << asked[sm] << ", "
          << (alike_gpcs[gpc][0] > 0 ? 0 : 1) << "]";
      seen[gpc] = true;
    }
  }
  out << "],\n\"shares\": [";
  note_shares(ports, gpcs, out);
  out << "\n]}\n";
}

}  // namespace
}  // namespace warptwin::hw::bench

int main(int count, char** arguments) {
  return warptwin::hw::bench::measure_to_file(
      count, arguments, "usage: warptwin-measure-places OUT.json", warptwin::hw::bench::measure);
}
