// Any bytes are the journal of a sweep, whose first line is the header, or an error that names the
// file. What was read is there again beside what is added.

#include "common/kernel/scenario.hpp"

#include "sim/sweep/journal.hpp"
#include "tests/fuzz/file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warptwin;
  constexpr std::size_t kColumns = 2;
  constexpr std::uint64_t kOther = ~std::uint64_t{0};  // no row of the input may have it
  const std::string text{fuzz::text_of(data, size)};
  const std::string header = text.substr(0, text.find('\n'));
  const fuzz::File file{text};
  try {
    std::size_t rows = 0;
    {
      sim::Journal journal{file.path(), header, kColumns};
      rows = journal.rows().size();
      for (const sim::SweepRow& row : journal.rows()) {
        fuzz::require(row.end != sim::SweepEnd::kRun || row.cells.size() == kColumns,
                      "a row of other columns",
                      text);
        if (row.index == kOther) {
          return 0;
        }
      }
      sim::SweepRow row;
      row.index = kOther;
      row.cells.assign(kColumns, 1);
      journal.add(row);
    }
    const sim::Journal again{file.path(), header, kColumns};
    fuzz::require(again.rows().size() == rows + 1, "another number of rows", text);
  } catch (const ConfigError& error) {
    fuzz::require_place(error.what(), file.path(), text);
  }
  return 0;
}
