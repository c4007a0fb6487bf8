/// One page that shows a verdict or a run, and fetches nothing.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/pictures/drawings.hpp"
#include "sim/pictures/recording.hpp"
#include "sim/report/judged.hpp"

namespace warptwin::sim {

/// Where two runs differ, in the words of `compare`.
struct PageMismatch {
  std::string where;
  std::string first;
  std::string second;
  std::string before;
};

struct PageContents {
  enum class Verdict : std::uint8_t { kRight, kWrong, kOpen };
  Verdict verdict = Verdict::kRight;
  std::string word;    // of the verdict: "proved"
  std::string title;   // "gemm (m=256 n=256)"
  std::string answer;  // what the command says on a terminal
  std::vector<Recording> recordings;
  std::vector<JudgedFinding> findings;  // the first recording is of the first one's schedule
  bool compares = false;
  std::vector<PageMismatch> mismatches;
  std::string source_root;  // where files of steps are looked for
};

/// So many of a finding's last steps are shown.
inline constexpr std::size_t kPageSteps = 400;

/// The page. Throws ConfigError where Graphviz is not there.
std::string page_of(const PageContents& contents);

}  // namespace warptwin::sim
