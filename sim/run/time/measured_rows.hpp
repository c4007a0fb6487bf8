/// Measurements of kernels, as a file of rows gives them, and what scenario each is a run of.
///
/// A file is a JSON list of rows, or an object with such a list as `rows`. Rows whose `kind` is
/// neither `sweep` nor `kernel` are passed over. A sweep row is a main loop in one CTA:
///   {"name": "...", "kind": "sweep", "value": 206.3, "unit": "ns per k-iteration", "chip": "B200",
///    "config": {"tile_m": 128, "tile_n": 128, "tile_k": 64, "stages": 7, "dtype": "BF16",
///               "K": 131072, "clock_ghz": 1.3}}
/// a kernel row a whole GEMM:
///   {"name": "...", "kind": "kernel", "value": 1053.6, "unit": "TFLOP/s", "chip": "B200",
///    "M": 4096, "N": 4096, "K": 4096, "dtype": "bf16",
///    "config": {"tile": "128x128", "bk": 64, "stages": 7, "sm": 1, "persistent": false,
///               "ws": true}}
/// Any row may name the scenario that is like it, and parameters beside those of its config:
///   "scenario": "mainloop_wgmma", "set": {"in_flight": 1}
/// One that names none is a run of a scenario on tcgen05, or, on a chip of Hopper, on wgmma: see
/// `validate`.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace warptwin::sim {

struct MeasuredRow {
  std::string name;
  std::string kind;   // "sweep" or "kernel"
  std::string split;  // what the row is for, as in "calibrate" and "held_out"; may be empty
  std::string chip;   // in small letters; empty where the row does not say
  double value = 0;
  std::string unit;
  double clock = 0;      // GHz; 0: the chip's
  std::string scenario;  // empty: there is none like it
  std::map<std::string, std::int64_t> parameters;
  bool names_scenario = false;  // the row itself does
  /// A kernel that was launched again and again, each launch behind the one before: L2 keeps what
  /// fits, and the time is that from launch to launch.
  bool repeated = false;
  bool fills_chip = false;  // a persistent kernel that does not say of how many CTAs
  std::string reason;       // why there is no scenario, or what in the row cannot be read
  std::uint64_t steps = 1;  // k-iterations of a sweep row
  std::string family;       // rows that differ from it in `order` alone
  std::int64_t order = 0;
};

/// A row that is not of this form has a `reason` with file, row and key, and no scenario.
///
/// Errors: ConfigError for a file that cannot be read, is not JSON, or has no list of rows.
std::vector<MeasuredRow> read_measured_rows(const std::string& path);
std::vector<MeasuredRow> parse_measured_rows(const std::string& text, const std::string& origin);

}  // namespace warptwin::sim
