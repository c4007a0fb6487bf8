
#include "sim/json/json_text.hpp"

#include <gtest/gtest.h>

namespace warptwin::json_text_test {
namespace {

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(JsonTextTest, AHundredListsMayStandInEachOther) {
  EXPECT_FALSE(nests_too_deep(nested(100)));
  EXPECT_TRUE(nests_too_deep(nested(101)));
  EXPECT_TRUE(nests_too_deep(std::string(101, '{')));
}

TEST(JsonTextTest, ListsBesideEachOtherAreNotDeep) {
  std::string text = "[";
  for (int i = 0; i < 300; ++i) {
    text += "[1], ";
  }
  EXPECT_FALSE(nests_too_deep(text + "{}]"));
}

TEST(JsonTextTest, BracketsInStringsCountForNothing) {
  EXPECT_FALSE(nests_too_deep('"' + std::string(500, '[') + '"'));
  EXPECT_FALSE(nests_too_deep("\"\\\"" + std::string(500, '[') + '"'));
  EXPECT_TRUE(nests_too_deep("\"\\\\\"" + std::string(500, '[')));
}

TEST(JsonTextTest, ALibrarysNumberIsLeftOut) {
  EXPECT_EQ(words_of_json_error("[json.exception.parse_error.101] parse error"), "parse error");
  EXPECT_EQ(words_of_json_error("no number"), "no number");
}

TEST(JsonTextTest, ATextComesBackWithItsKeysInTheirOrder) {
  const std::string text = R"({"b":[1,2.5],"a":null})";
  EXPECT_EQ(text_of_json(parsed_json<nlohmann::ordered_json>(text)), text);
  EXPECT_EQ(text_of_json(parsed_json<nlohmann::json>(text)), R"({"a":null,"b":[1,2.5]})");
  EXPECT_EQ(text_of_json(nlohmann::json{{"a", 1}}, 2), "{\n  \"a\": 1\n}");
  EXPECT_EQ(text_of_json(nlohmann::json("\xff")), "\"\xef\xbf\xbd\"");
}

TEST(JsonTextTest, WhatIsNoJsonIsDiscardedOrRefused) {
  EXPECT_TRUE(json_if_any<nlohmann::json>("{").is_discarded());
  EXPECT_THROW(parsed_json<nlohmann::json>("{"), nlohmann::json::parse_error);
}

}  // namespace
}  // namespace warptwin::json_text_test
