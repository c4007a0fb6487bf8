/// A scenario's barrier table against its declarations, so that the table cannot lie.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "common/machine/shared_layout.hpp"

namespace warptwin::tests {

/// A layout that keeps each barrier region's contract by its name: "input.full".
class ContractLayout : public SharedLayout {
 public:
  ContractLayout() : SharedLayout{SharedAddress{}} {}

  MbarrierArray barriers(RegionName name, std::uint32_t count, const BarrierContract& contract) {
    if (count != 0) {
      contracts[std::string{name.owner} + "." + name.part] = contract;
    }
    return SharedLayout::barriers(name, count, contract);
  }

  std::map<std::string, BarrierContract> contracts;
};

/// A row of a barrier table: "input.empty[s]   1   mma, tcgen05.commit ...".
struct BarrierRow {
  std::uint32_t arrivals = 0;
  std::string role;
  std::string how;            // the words after the role, up to the next column
  bool counts_bytes = false;  // the column after that is not "-"
};

/// The rows of the table at the top of a source file, by barrier.
inline std::map<std::string, BarrierRow> barrier_table(const std::string& path) {
  std::ifstream file{path};
  std::map<std::string, BarrierRow> rows;
  for (std::string line; std::getline(file, line) && line.rfind("///", 0) == 0;) {
    std::istringstream words{line.substr(3)};
    std::string barrier;
    BarrierRow row;
    words >> barrier;
    if (barrier.find('[') == std::string::npos || !(words >> row.arrivals >> row.role)) {
      continue;
    }
    row.role = row.role.substr(0, row.role.find(','));
    std::string rest;
    std::getline(words, rest);
    const std::size_t end = std::min(rest.find("  "), rest.size());
    const std::size_t bytes = std::min(rest.find_first_not_of(' ', end), rest.size() - 1);
    row.how = rest.substr(1, end - 1);
    row.counts_bytes = rest[bytes] != '-';
    rows[barrier.substr(0, barrier.find('['))] = row;
  }
  return rows;
}

/// How a table words a kind of arrival.
inline std::string wording(ArrivalKind kind) {
  switch (kind) {
    case ArrivalKind::kUmmaCommit:
      return "tcgen05.commit";
    case ArrivalKind::kEveryLane:
      return "every lane";
    default:
      return "elected lane";
  }
}

}  // namespace warptwin::tests
