// A small kernel of a test: its instructions as text, words in and words out.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/run/proof/prove.hpp"
#include "sim/run/ptx_entry.hpp"

namespace warptwin::sim {

struct OneKernel {
  /// Behind declarations of %p, %h, %r, %f, %rd, %fd and `tile`, 16 KiB of shared memory: %r1 is
  /// %tid.x, %rd1 the address of `in`, %rd2 that of `out`, %rd20 and %rd21 those of the maps.
  std::string body;
  std::vector<std::uint32_t> in{};
  std::uint32_t out_words = 1024;
  std::uint32_t threads = 32;
  std::uint32_t ctas = 1;
  std::uint32_t cluster = 1;  // CTAs of one
  bool cooperative = false;
  bool control = true;                      // `in` is real in runs that move no data, too
  bool from_grid_before = false;            // `in` is what the grid before may still write
  bool read_by_grid_before = false;         // likewise: read
  std::string variables{};                  // of the module
  std::string directives{};                 // of the kernel
  std::vector<TensorMapSpec> maps{};        // at most two, of `in` (0) and `out` (1)
  std::uint32_t columns = 0;                // words of a row of both; 0: they are one row each
  ElementType element = ElementType::kF32;  // of 4 bytes
};

struct OneRun {
  RunResult result;
  std::vector<std::uint32_t> out;
  std::string printed{};
};

/// Of one module; an address of `in` and of `out` are the first parameters.
ScenarioEntry entry_of(const OneKernel& kernel);
OneRun run_of(const OneKernel& kernel);
ProofResult proof_of(const OneKernel& kernel);
/// Under a rule, NAME=VALUE.
ProofResult proof_under(const OneKernel& kernel, const char* rule);

/// Of a run, or of a proof and its refutations.
std::vector<std::string> ids_in(const RunResult& run);
std::vector<std::string> ids_in(const ProofResult& proof);

/// Proved, and nothing said against it; not proved, and `id` among what is said.
void expect_proved(const OneKernel& kernel);
void expect_found(const OneKernel& kernel, const char* id);
/// Undecided, nothing found, and `reason` in one of the reasons.
void expect_undecided(const OneKernel& kernel, const char* reason);

/// `text` with each `$` as the number: a few lines of PTX for each of several registers.
std::string repeated(const std::string& text, std::uint32_t count);

}  // namespace warptwin::sim
