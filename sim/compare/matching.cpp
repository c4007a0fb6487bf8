#include "sim/compare/matching.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sim/compare/compare.hpp"

namespace warptwin::sim {

namespace {

// The operations of one warp that mean something for the order.
std::vector<std::uint32_t> meaningful(const WarpTrace& warp) {
  std::vector<std::uint32_t> ops;
  for (std::uint32_t at = 0; at < warp.ops.size(); ++at) {
    if ((warp.ops[at].flags & event_flag::kFalse) == 0) {
      ops.push_back(at);
    }
  }
  return ops;
}

// What an operation says to the protocol, with the cluster's first CTA as CTA 0.
using Meaning = std::tuple<Op,
                           std::uint32_t,
                           std::string,
                           std::string,
                           std::uint32_t,
                           std::uint32_t,
                           std::uint32_t,
                           std::uint32_t,
                           std::uint16_t>;

bool waits_for_phase(const TraceOp& op) {
  return op.op == Op::kMbarrierWait || op.op == Op::kMbarrierTryWait;
}

// Whether some wait of the trace says a parity alone: a kernel in PTX knows nothing else.
bool says_parity(const Trace& trace) {
  return std::any_of(trace.warps.begin(), trace.warps.end(), [](const WarpTrace& warp) {
    return std::any_of(warp.ops.begin(), warp.ops.end(), [](const TraceOp& op) {
      return waits_for_phase(op) && (op.flags & event_flag::kExactPhase) == 0;
    });
  });
}

// `by_parity`: of the phase that a wait is for its parity counts.
Meaning meaning_of(const Trace& trace, const TraceOp& op, bool by_parity) {
  const bool waits = waits_for_phase(op);
  const bool exact = !by_parity && (op.flags & event_flag::kExactPhase) != 0;
  const std::uint32_t flags = by_parity ? op.flags & ~event_flag::kExactPhase : op.flags;
  return {waits ? Op::kMbarrierWait : op.op,
          op.cta % trace.cluster_size,
          trace.names[op.object],
          trace.names[op.on],
          op.count,
          op.bytes,
          waits && !exact ? op.wanted & 1U : op.wanted,
          op.mask,
          flags};
}

// What every warp of a cluster did, warp after warp.
std::vector<Meaning> meaning_of_cluster(const Trace& trace, std::uint32_t cluster, bool by_parity) {
  const std::uint32_t warps = trace.warps_per_cta() * trace.cluster_size;
  std::vector<Meaning> all;
  for (std::uint32_t i = 0; i < warps; ++i) {
    const WarpTrace& warp = trace.warps[cluster * warps + i];
    for (const std::uint32_t at : meaningful(warp)) {
      all.push_back(meaning_of(trace, warp.ops[at], by_parity));
    }
    all.push_back({Op::kCount, i, "", "", 0, 0, 0, 0, 0});  // the end of a warp
  }
  return all;
}

// Clusters that did the same in both are partners; what is left goes by its number.
std::vector<std::uint32_t> match_clusters(const Trace& first, const Trace& second, bool by_parity) {
  const std::uint32_t clusters = first.clusters;
  std::multimap<std::vector<Meaning>, std::uint32_t> of_second;
  std::set<std::uint32_t> left;
  for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
    of_second.emplace(meaning_of_cluster(second, cluster, by_parity), cluster);
    left.insert(cluster);
  }
  constexpr std::uint32_t kNone = ~0U;
  std::vector<std::uint32_t> partners(clusters, kNone);
  for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
    const auto [begin, end] = of_second.equal_range(meaning_of_cluster(first, cluster, by_parity));
    auto found = std::find_if(begin, end, [&](const auto& row) { return row.second == cluster; });
    found = found == end ? begin : found;
    if (begin != end) {
      partners[cluster] = found->second;
      left.erase(found->second);
      of_second.erase(found);
    }
  }
  for (std::uint32_t& partner : partners) {
    if (partner == kNone) {
      partner = *left.begin();
      left.erase(left.begin());
    }
  }
  return partners;
}

}  // namespace

Matching match(const Trace& first, const Trace& second) {
  Matching matching;
  const bool by_parity = says_parity(first) || says_parity(second);
  matching.clusters = match_clusters(first, second, by_parity);
  const std::uint32_t per_cluster = first.warps_per_cta() * first.cluster_size;
  for (std::uint32_t warp = 0; warp < first.warps.size(); ++warp) {
    MatchedWarp& matched = matching.warps.emplace_back();
    matched.other = matching.clusters[warp / per_cluster] * per_cluster + warp % per_cluster;
    const WarpTrace& a = first.warps[warp];
    const WarpTrace& b = second.warps[matched.other];
    matched.first = meaningful(a);
    matched.second = meaningful(b);
    matched.whole = a.overwritten + a.lost + b.overwritten + b.lost == 0;
    while (matched.whole && matched.same < matched.first.size() &&
           matched.same < matched.second.size() &&
           meaning_of(first, a.ops[matched.first[matched.same]], by_parity) ==
               meaning_of(second, b.ops[matched.second[matched.same]], by_parity)) {
      ++matched.same;
    }
  }
  return matching;
}

Matching reversed(const Matching& matching) {
  Matching result;
  result.warps.resize(matching.warps.size());
  result.clusters.resize(matching.clusters.size());
  for (std::uint32_t warp = 0; warp < matching.warps.size(); ++warp) {
    const MatchedWarp& matched = matching.warps[warp];
    result.warps[matched.other] = {
        warp, matched.second, matched.first, matched.same, matched.whole};
  }
  for (std::uint32_t cluster = 0; cluster < matching.clusters.size(); ++cluster) {
    result.clusters[matching.clusters[cluster]] = cluster;
  }
  return result;
}

std::string line_of(const Trace& trace, std::uint32_t warp, const TraceOp& op) {
  const std::string& site = trace.names[op.site];
  return text_of(trace, warp, op) + (site.empty() ? "" : "  [" + site + "]");
}

}  // namespace warptwin::sim
