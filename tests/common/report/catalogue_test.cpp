#include "common/report/catalogue.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace warptwin::catalogue_test {
namespace {

TEST(CatalogueTest, IsSortedAndHasEachIdOnce) {
  const auto all = catalogue();
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_LT(std::string{all[i - 1].id}, all[i].id);
  }
  for (const AbsentDiagnostic& absent : absent_diagnostics()) {
    EXPECT_EQ(find_diagnostic(absent.id), nullptr) << absent.id;
    EXPECT_STRNE(absent.reason, "") << absent.id;
  }
}

// Words for a report: there, in one line, and no sentence.
void expect_words(const DiagnosticInfo& info, const char* words) {
  ASSERT_NE(words, nullptr) << info.id;
  const std::string text{words};
  EXPECT_GE(text.size(), 5U) << info.id;
  EXPECT_FALSE(text.ends_with('.') || text.ends_with(' ') || text.starts_with(' ')) << info.id;
  EXPECT_EQ(text.find('\n'), std::string::npos) << info.id;
}

TEST(CatalogueTest, EveryDiagnosticIsExplained) {
  for (const DiagnosticInfo& info : catalogue()) {
    expect_words(info, info.meaning);
    expect_words(info, info.trigger);
    expect_words(info, info.hardware);
    expect_words(info, info.source);
    EXPECT_STRNE(info.meaning, info.trigger) << info.id;
    const std::string source{info.source};
    EXPECT_TRUE(source.starts_with("PTX ISA: ") ||
                source.starts_with("CUDA C++ Programming Guide: "))
        << info.id << ": " << source;
  }
}

TEST(CatalogueTest, StrictIsNeverMilder) {
  for (const DiagnosticInfo& info : catalogue()) {
    EXPECT_GE(info.strict, info.practical) << info.id;
  }
}

}  // namespace
}  // namespace warptwin::catalogue_test
