/// How operands lie: what an MMA may not say by the manual's tables, and whether what is taken for
/// the rows of a matrix are the rows of one, as copies and stores left them.

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/oracle/values_footprint.hpp"
#include "sim/oracle/values_plan.hpp"

namespace warptwin::sim::values {

/// 16 bytes of an operand: row and byte of the matrix that they are taken for, and where they are.
struct LayoutUnit {
  std::uint32_t row = 0;
  std::uint32_t byte = 0;
  std::uint32_t shared = 0;
};

/// What one copy or store leaves: where in a matrix each 16 bytes of shared memory come from.
struct LayoutBox {
  std::uint64_t token = 0;  // of its writes
  std::uint32_t cta = 0;
  std::uint64_t pitch = 0;
  std::map<std::uint32_t, std::uint64_t> source;
};

/// What one operation takes for a matrix.
struct LayoutView {
  std::uint32_t cta = 0;
  Major major = Major::kK;
  bool begins = true;  // where a swizzle's pattern does
  std::vector<LayoutUnit> units;
};

/// Rows may come in any order and from several copies. Each has to be a row all the same: its bytes
/// side by side, those of K-major operands in the same columns, none of them twice. What other
/// accesses have written fits everything.
class Layouts {
 public:
  /// Marks what is misused whatever comes before it.
  Layouts(const Program& program, Plan& plan);

  /// Whether it takes anything for a matrix that something has left as one.
  bool reads(const Planned& planned) const {
    return !boxes_.empty() && views_.contains(planned.token);
  }
  /// What is wrong when `planned` reads what the writes of these tokens left; empty: nothing.
  std::string misuse(const Planned& planned, std::vector<std::uint64_t> tokens) const;

 private:
  void add_copy(const Program& program, const Planned& planned, std::uint32_t cta);
  void add_rows(Planned& planned, std::uint32_t cta);
  void add_operands(const Planned& planned, std::uint32_t cta, std::uint32_t cluster_size);
  static std::string misuse_of(const LayoutView& view, const std::vector<const LayoutBox*>& boxes);

  std::vector<LayoutBox> boxes_;
  std::map<std::uint64_t, std::vector<LayoutView>> views_;  // by the operation's token
  mutable std::map<std::pair<std::uint64_t, std::vector<std::uint64_t>>, std::string> known_;
};

}  // namespace warptwin::sim::values
