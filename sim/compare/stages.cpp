#include "sim/compare/stages.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

#include "common/trace/words.hpp"

#include "sim/compare/compare.hpp"
#include "sim/compare/values.hpp"

namespace warptwin::sim {

namespace {

// Where a load writes, and the barrier that counts it.
struct Stage {
  std::uint32_t owner = 0;  // CTA of the barrier
  std::string barrier;
  std::uint32_t cta = 0;  // that receives the bytes
  std::uint32_t address = 0;
  std::uint32_t bytes = 0;

  friend bool operator<(const Stage& a, const Stage& b) {
    return std::tie(a.owner, a.barrier, a.cta, a.address, a.bytes) <
           std::tie(b.owner, b.barrier, b.cta, b.address, b.bytes);
  }
};

// A checksum, and the operation that it is known from.
struct Saw {
  std::uint32_t warp = 0;
  std::size_t at = 0;
  std::uint32_t data = 0;
};

// What is known of one phase's bytes in one place.
struct Fill {
  std::vector<Saw> loads;  // also of data that is not known: 0
  std::vector<Saw> waits;

  // What the loads wrote, where it is known; else what the waits saw.
  std::vector<Saw> known() const {
    std::vector<Saw> known;
    std::copy_if(loads.begin(), loads.end(), std::back_inserter(known), [](const Saw& load) {
      return load.data != 0;
    });
    return known.empty() ? waits : known;
  }
};

using Fills = std::map<Stage, std::map<std::uint32_t, Fill>>;  // by phase

// What operation `at` of a warp reads or writes in global memory; null where it is not known.
const TraceBox* find_box(const Trace& trace, std::uint32_t warp, std::size_t at) {
  const std::vector<TraceBox>& boxes = trace.warps[warp].boxes;
  const auto box =
      std::lower_bound(boxes.begin(), boxes.end(), at, [](const TraceBox& one, std::size_t of) {
        return one.at < of;
      });
  return box == boxes.end() || box->at != at ? nullptr : &*box;
}

// The tensors that the kernel writes: what it loads from them it has computed.
void add_written(const Trace& trace, std::set<std::string>& written) {
  for (const WarpTrace& warp : trace.warps) {
    for (const TraceBox& box : warp.boxes) {
      if (!is_load(warp.ops[box.at].op)) {
        written.insert(trace.names[box.tensor]);
      }
    }
  }
}

// `passed_over`: tensors whose data is not compared.
Fills fills_of(const Trace& trace, const Replay& replay, const std::set<std::string>& passed_over) {
  const bool has_tokens = trace.has_tokens();
  std::map<Stage, std::vector<const Landing*>> landings;
  for (const Landing& landing : replay.landings) {
    const TraceOp& load = trace.warps[landing.warp].ops[landing.load];
    const TraceBox* box = find_box(trace, landing.warp, landing.load);
    if (box != nullptr && passed_over.count(trace.names[box->tensor]) != 0) {
      continue;
    }
    if (load.op != Op::kClcTryCancel && (load.data != 0 || has_tokens)) {
      const std::string& barrier = trace.names[landing.barrier];
      landings[{landing.owner, barrier, landing.cta, load.address, load.bytes}].push_back(&landing);
    }
  }
  Fills fills;
  for (const auto& [stage, all] : landings) {
    const auto barrier = replay.barriers.find({stage.owner, stage.barrier});
    const bool every_phase =
        barrier != replay.barriers.end() && barrier->second.completed() == all.size();
    std::map<std::uint32_t, Fill>& phases = fills[stage];
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      const Landing& landing = *all[i];
      phases[every_phase ? i : landing.phase].loads.push_back(
          {landing.warp, landing.load, trace.warps[landing.warp].ops[landing.load].data});
    }
  }
  for (std::uint32_t warp = 0; warp < trace.warps.size(); ++warp) {
    for (const TraceToken& token : trace.warps[warp].tokens) {
      if (token.at >= replay.reached[warp]) {
        break;
      }
      const TraceOp& wait = trace.warps[warp].ops[token.at];
      const auto stage =
          fills.find({wait.cta, trace.names[wait.object], token.cta, token.address, token.bytes});
      if (stage == fills.end()) {
        continue;
      }
      const auto fill = stage->second.find(replay.waited[warp][token.at]);
      if (fill != stage->second.end()) {
        fill->second.waits.push_back({warp, token.at, token.data});
      }
    }
  }
  return fills;
}

std::string name_of(const Trace& trace, const Fill& fill) {
  const Saw& load = fill.loads.front();
  return trace.names[trace.warps[load.warp].ops[load.at].object];
}

// ", the box of 32 x 128 bytes at row 64, byte 256 of a"; empty where it is not known.
std::string box_of(const Trace& trace, const Saw& load) {
  const TraceBox* box = find_box(trace, load.warp, load.at);
  if (box == nullptr) {
    return "";
  }
  const std::uint64_t pitch = box->pitch == 0 ? ~std::uint64_t{0} : box->pitch;
  return ", the box of " + std::to_string(box->rows) + " x " + plural(box->row_bytes, "byte") +
         " at row " + std::to_string(box->begin / pitch) + ", byte " +
         std::to_string(box->begin % pitch) + " of " + trace.names[box->tensor];
}

std::string text_of(const Trace& trace, const Saw& saw) {
  char sum[40];
  std::snprintf(sum, sizeof sum, "bytes of checksum %08x", saw.data);
  const TraceOp& op = trace.warps[saw.warp].ops[saw.at];
  return std::string{sum} + (is_load(op.op) ? box_of(trace, saw) + ": " : ", when ") +
         trace.warp_name(saw.warp) + " " + line_of(trace, saw.warp, op);
}

bool contains(const std::vector<Saw>& all, std::uint32_t data) {
  return std::any_of(all.begin(), all.end(), [&](const Saw& one) { return one.data == data; });
}

class Checker {
 public:
  // `clusters` are those of `seen`, by those of `known`.
  Checker(const Trace& known,
          const Trace& seen,
          const std::vector<std::uint32_t>& clusters,
          bool known_is_first)
      : known_{known}, seen_{seen}, clusters_{clusters}, known_is_first_{known_is_first} {}

  // Each phase of each stage against the waits for it.
  StageCheck stage_by_stage(const Fills& known, const Fills& seen) {
    for (const auto& [stage, phases] : known) {
      const auto other = seen.find(renamed(stage));
      for (const auto& [phase, fill] : phases) {
        const bool is_there = other != seen.end() && other->second.count(phase) != 0;
        check(stage, phases, phase, is_there ? other->second.at(phase).waits : std::vector<Saw>{});
      }
    }
    return take();
  }

  // Each box once, in whichever cluster, at whichever stage.
  StageCheck box_by_box(const Fills& known, const Fills& seen) {
    std::map<Box, std::uint64_t> left;
    for_each_known(known,
                   [&](const Stage& stage, std::uint32_t, const Fill& fill, const auto& all) {
                     ++left[kind_of(known_, stage, fill, all.front().data)];
                     ++result_.unseen;
                   });
    for_each_known(seen,
                   [&](const Stage& stage, std::uint32_t phase, const Fill& fill, const auto& all) {
                     const std::string place = where(seen_, stage, phase, fill);
                     std::uint64_t& same = left[kind_of(seen_, stage, fill, all.front().data)];
                     if (same == 0) {
                       add(place,
                           "no load, or fewer, brings such bytes to " + tile_of(seen_, fill),
                           all.front());
                     } else {
                       --same;
                       --result_.unseen;
                       ++result_.loads;
                     }
                     result_.waits += fill.waits.size();
                     for (const Saw& one : fill.waits) {
                       if (one.data != all.front().data) {
                         add(place, text_of(seen_, all.front()), one);
                       }
                     }
                   });
    return take();
  }

 private:
  // Rank of the CTA, kind of tile, bytes, checksum.
  using Box = std::tuple<std::uint32_t, std::string, std::uint32_t, std::uint32_t>;

  template <class F>
  static void for_each_known(const Fills& fills, F&& f) {
    for (const auto& [stage, phases] : fills) {
      for (const auto& [phase, fill] : phases) {
        const std::vector<Saw> all = fill.known();
        if (!all.empty()) {
          f(stage, phase, fill, all);
        }
      }
    }
  }

  // "ring.tile", whichever stage.
  static std::string tile_of(const Trace& trace, const Fill& fill) {
    const std::string name = name_of(trace, fill);
    return name.substr(0, name.rfind('['));
  }
  static Box kind_of(const Trace& trace, const Stage& stage, const Fill& fill, std::uint32_t data) {
    return {stage.cta % trace.cluster_size, tile_of(trace, fill), stage.bytes, data};
  }
  // "ring.full[2] of cta 0, phase 3: 4096 bytes in ring.tile[2]"
  static std::string where(const Trace& trace,
                           const Stage& stage,
                           std::uint32_t phase,
                           const Fill& fill) {
    return stage.barrier + " of cta " + std::to_string(stage.owner) + ", phase " +
           std::to_string(phase) + ": " + plural(stage.bytes, "byte") + " in " +
           name_of(trace, fill) +
           (stage.cta == stage.owner ? "" : " of cta " + std::to_string(stage.cta));
  }

  std::uint32_t renamed(std::uint32_t cta) const {
    const std::uint32_t size = known_.cluster_size;
    return clusters_[cta / size] * size + cta % size;
  }
  Stage renamed(Stage stage) const {
    stage.owner = renamed(stage.owner);
    stage.cta = renamed(stage.cta);
    return stage;
  }

  void check(const Stage& stage,
             const std::map<std::uint32_t, Fill>& phases,
             std::uint32_t phase,
             const std::vector<Saw>& waits) {
    const Fill& fill = phases.at(phase);
    const std::vector<Saw> known = fill.known();
    if (known.empty()) {
      return;
    }
    ++(waits.empty() ? result_.unseen : result_.loads);
    result_.waits += waits.size();
    for (const Saw& wait : waits) {
      if (contains(known, wait.data)) {
        continue;
      }
      add(where(known_, stage, phase, fill), text_of(known_, known.back()), wait, &known.back());
      for (const auto& [other, brought] : phases) {
        if (contains(brought.known(), wait.data)) {
          all_.back().seen += "; those are the bytes of phase " + std::to_string(other);
        }
      }
    }
  }

  // `saw` differs, in `seen_`, from what is known; since `from`, where that is one operation.
  void add(std::string where, std::string known, const Saw& saw, const Saw* from = nullptr) {
    const std::uint64_t time = !known_is_first_  ? seen_.warps[saw.warp].ops[saw.at].time
                               : from == nullptr ? ~std::uint64_t{0}
                                                 : known_.warps[from->warp].ops[from->at].time;
    all_.push_back({time, saw.warp, std::move(where), std::move(known), text_of(seen_, saw)});
  }

  // The earliest of each warp that saw other bytes.
  StageCheck take() {
    std::stable_sort(all_.begin(), all_.end(), [](const Difference& a, const Difference& b) {
      return a.time < b.time;
    });
    std::set<std::uint32_t> said;
    for (Difference& one : all_) {
      if (said.insert(one.warp).second) {
        std::string& first = known_is_first_ ? one.known : one.seen;
        std::string& second = known_is_first_ ? one.seen : one.known;
        result_.mismatches.push_back(
            {std::move(one.where), std::move(first), std::move(second), "", one.time});
      }
    }
    return std::move(result_);
  }

  struct Difference {
    std::uint64_t time = 0;
    std::uint32_t warp = 0;
    std::string where;
    std::string known;
    std::string seen;
  };

  const Trace& known_;
  const Trace& seen_;
  const std::vector<std::uint32_t>& clusters_;
  bool known_is_first_;
  std::vector<Difference> all_;
  StageCheck result_;
};

}  // namespace

bool claims_work(const Trace& trace) {
  return std::any_of(trace.warps.begin(), trace.warps.end(), [](const WarpTrace& warp) {
    return std::any_of(warp.ops.begin(), warp.ops.end(), [](const TraceOp& op) {
      return op.op == Op::kClcTryCancel;
    });
  });
}

bool has_data_of_loads(const Trace& trace) {
  return std::any_of(trace.warps.begin(), trace.warps.end(), [](const WarpTrace& warp) {
    return std::any_of(
        warp.ops.begin(), warp.ops.end(), [](const TraceOp& op) { return op.data != 0; });
  });
}

StageCheck check_stages(const Trace& first,
                        const Trace& second,
                        const Matching& matching,
                        const Replay& of_first,
                        const Replay& of_second) {
  std::set<std::string> computed;
  if (sums_may_differ(first, second)) {
    add_written(first, computed);
    add_written(second, computed);
  }
  const Fills a = fills_of(first, of_first, computed);
  const Fills b = fills_of(second, of_second, computed);
  const bool first_knows = has_data_of_loads(first) || !has_data_of_loads(second);
  const Matching back = reversed(matching);
  Checker checker = first_knows ? Checker{first, second, matching.clusters, true}
                                : Checker{second, first, back.clusters, false};
  const Fills& known = first_knows ? a : b;
  const Fills& seen = first_knows ? b : a;
  return claims_work(first) || claims_work(second) ? checker.box_by_box(known, seen)
                                                   : checker.stage_by_stage(known, seen);
}

}  // namespace warptwin::sim
