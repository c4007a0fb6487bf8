/// A chip as data: every constant of the timing model, with its unit and where it comes from.
///
/// A chip is a JSON file:
///   {"name": "b200", "summary": "...", "base": "...",
///    "constants": {"sms": {"value": 148, "unit": "SM", "source": "..."}, ...},
///    "tensor_core": {"1sm m128 ss": {"value": [0.5, 0, 0, 136, 0.5], "unit": "...", ...}, ...},
///    "places": {"order": {"value": [[16, 0, 0], [18, 1, 1]], "unit": "...", ...}}}
/// A constant may say how well it is known: "spread", a standard deviation as a share of it.
/// With `base` it starts from a shipped chip and gives only what differs. A source that is no
/// measurement of this chip says so; where there is none it is the word `assumed`.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warptwin::sim {

/// A chip that cannot be read. The message names the file and the key.
class ChipError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One form of `tcgen05.mma` or `wgmma` (64 rows), of 32 bytes of K, N columns wide.
struct MmaForm {
  double interval_per_column = 0;  // cycles from one instruction to the next, per column
  double interval_least = 0;       // cycles from one to the next, at least
  double read_extra = 0;           // cycles of the shared-memory read port beside the operands'
  double latency = 0;              // cycles from issue until a waiter of its commit goes on,
  double latency_per_column = 0;   // and per column
};

/// Their names. `ts`: A in tensor memory, or in registers.
inline constexpr std::array<std::string_view, 11> kMmaForms = {"1sm m64 ss",
                                                               "1sm m64 ts",
                                                               "1sm m128 ss",
                                                               "1sm m128 ts",
                                                               "2sm m128 ss",
                                                               "2sm m128 ts",
                                                               "2sm m256 ss",
                                                               "2sm m256 ts",
                                                               "1sm m128 scaled",
                                                               "2sm m128 scaled",
                                                               "2sm m256 scaled"};

/// SMs that have one turn when clusters are dealt out: those of a GPC, or a TPC of it that no
/// cluster joins with the others.
struct SmGroup {
  std::uint32_t sms = 0;
  std::uint32_t gpc = 0;   // by whose port they ask L2
  std::uint32_t half = 0;  // of L2, which they ask
};

/// The constants of the model. `chip_fields` says what each is called, its unit and its meaning.
struct Chip {
  std::string name;
  std::string summary;

  double sms = 0;
  double clock = 0;
  double power_kappa = 0;
  double launch_us = 0;
  double launch_gap_us = 0;
  double cluster_start = 0;
  double tensor_map_fetch = 0;
  double cta_start_us = 0;
  double cta_gap_us = 0;

  double sm_ctas = 0;
  double sm_threads = 0;
  double sm_registers = 0;
  double sm_shared_bytes = 0;
  double sm_shared_per_cta = 0;
  double sm_named_barriers = 0;

  double issue = 0;
  double mbarrier_arrive = 0;
  double mbarrier_test = 0;
  double mbarrier_wake = 0;
  double mbarrier_reach = 0;
  double mbarrier_port = 0;
  double named_barrier = 0;
  double named_barrier_per_warp = 0;
  double cluster_barrier_relaxed = 0;
  double cluster_barrier = 0;
  double fence_proxy_async = 0;
  double fence_gpu = 0;
  double setmaxnreg_dec = 0;
  double setmaxnreg_inc = 0;
  double convert_rate = 0;
  double fma_rate = 0;
  double mufu_rate = 0;
  double integer_rate = 0;
  double mma_sync_rate = 0;
  double alu_latency = 0;
  double mufu_latency = 0;
  double mma_sync_latency = 0;
  double branch_latency = 0;

  double tma_issue = 0;
  double tma_row = 0;
  double tma_instruction = 0;
  double tma_store_row = 0;
  double tma_store_instruction = 0;
  double tma_latency = 0;
  double tma_latency_per_row_byte = 0;
  double tma_store_latency = 0;

  double smem_read = 0;
  double smem_write = 0;
  double smem_conflict = 0;
  double smem_latency = 0;

  double mma_issue = 0;
  double wgmma_fence = 0;
  double wgmma_issue = 0;
  double wgmma_issue_per_column = 0;
  double mma_batch = 0;
  double commit_latency = 0;

  double tmem_rate = 0;
  double tmem_latency = 0;
  double tmem_busy_latency = 0;
  double tmem_alloc = 0;
  double tcgen05_cp = 0;

  double l2_bytes = 0;
  double l2_halves = 0;
  double l2_fill_spread = 0;
  double l2_rate = 0;
  double l2_store_rate = 0;
  double l2_clock = 0;
  double l2_latency_ns = 0;
  double gpcs = 0;
  double l2_multicast = 0;
  double l2_shared = 0;
  double l2_sm_rate = 0;
  double l2_far_latency = 0;
  double l2_link_rate = 0;
  double global_latency = 0;
  double dram_rate = 0;
  double dram_latency_ns = 0;
  double dsmem_latency = 0;
  double dsmem_relaxed = 0;
  double dsmem_rate = 0;
  double clc_latency = 0;

  double model_spread = 0;

  /// By name, one of kMmaForms. A form that is not here the chip has not.
  std::map<std::string, MmaForm, std::less<>> mma;

  /// In the order of their turns. Empty: as many GPCs of one size as `gpcs` says.
  std::vector<SmGroup> places;

  /// Where each value of this chip comes from, by its key.
  std::map<std::string, std::string, std::less<>> sources;
  /// How well a value is known, where the chip's file says so: see `spread_of`.
  std::map<std::string, double, std::less<>> spreads;

  /// Whether its warpgroups can multiply: where they can, no `wgmma.fence` is free.
  bool has_wgmma() const { return wgmma_fence > 0; }
};

/// One constant: its key in a file, its unit, the range it makes sense in.
struct ChipField {
  const char* key;
  double Chip::*member;
  const char* unit;
  double least;
  double most;
  const char* meaning;
};

std::span<const ChipField> chip_fields();
/// Gives a chip another value of one constant, as its file would. Throws ChipError for one that is
/// not there, or out of its range; `origin` names who asks.
void set_constant(Chip& chip, std::string_view key, double value, const std::string& origin);
/// Unit of a `tensor_core` row: its five numbers in order.
extern const char* const kMmaFormUnit;
/// Unit of `places`: its three numbers in order.
extern const char* const kPlacesUnit;
/// The key of `places` among the sources.
inline constexpr const char* kPlaces = "order";

/// Standard deviation of a constant, or of a form of an MMA, as a share of its value: what the file
/// says; else a quarter where the value is assumed, a fiftieth where it is not.
double spread_of(const Chip& chip, std::string_view key);

/// Names of the chips that are built in.
std::vector<std::string_view> shipped_chips();
/// The shipped chips that have wgmma: "h100, h200".
std::string names_of_chips_with_wgmma();
/// Parses a chip. `origin` names the text in errors.
Chip parse_chip(std::string_view text, const std::string& origin);
/// A shipped chip by its name, or one read from the file of that path.
Chip load_chip(const std::string& name_or_file);

}  // namespace warptwin::sim
