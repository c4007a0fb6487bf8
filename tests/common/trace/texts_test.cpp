#include "common/trace/texts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warptwin::texts_test {
namespace {

TEST(Texts, HaveOneNumberAndOnePlaceForEver) {
  const std::uint32_t number = number_of_text("a.ptx");
  const char* const place = kept_text("a.ptx");
  for (int i = 0; i < 1000; ++i) {
    number_of_text("b" + std::to_string(i) + ".ptx");
  }
  EXPECT_EQ(number_of_text(std::string{"a.ptx"}), number);
  EXPECT_EQ(kept_text(std::string{"a.ptx"}), place);
  EXPECT_STREQ(place, "a.ptx");
  EXPECT_EQ(text_of_number(number), "a.ptx");
}

}  // namespace
}  // namespace warptwin::texts_test
