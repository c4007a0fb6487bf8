#include "sim/timed/chip.hpp"

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warptwin::sim::chip_test {
namespace {

using testing::HasSubstr;

// What parsing `text` says; empty when it is a chip.
std::string refusal(const std::string& text) {
  try {
    parse_chip(text, "my.json");
  } catch (const ChipError& error) {
    return error.what();
  }
  return "";
}

std::string with_constants(const std::string& constants, const std::string& rest = "") {
  return R"({"name": "mine", "summary": "s", "base": "b200", "constants": {)" + constants + "}" +
         rest + "}";
}

TEST(Chip, EveryShippedOneIsComplete) {
  ASSERT_EQ(shipped_chips().size(), 5U);
  for (const std::string_view name : shipped_chips()) {
    const Chip chip = load_chip(std::string{name});
    EXPECT_EQ(chip.name, name);
    EXPECT_FALSE(chip.mma.empty());
    for (const ChipField& field : chip_fields()) {
      EXPECT_NE(chip.sources.at(field.key), "") << name << " " << field.key;
    }
  }
}

TEST(Chip, AFileSaysWhatDiffersFromItsBase) {
  const Chip base = load_chip("b200");
  const Chip chip = parse_chip(
      with_constants(R"("sms": {"value": 12, "unit": "SM", "source": "assumed"})"), "my.json");
  EXPECT_EQ(chip.name, "mine");
  EXPECT_EQ(chip.sms, 12);
  EXPECT_EQ(chip.sources.at("sms"), "assumed");
  EXPECT_EQ(chip.tma_latency, base.tma_latency);
  EXPECT_EQ(chip.mma.size(), base.mma.size());
}

TEST(Chip, AValueIsKnownAsWellAsItsFileSaysOrItsSource) {
  const Chip chip = parse_chip(with_constants(
                                   R"("sms": {"value": 12, "unit": "SM", "source": "assumed"},
             "clock": {"value": 1.9, "unit": "GHz", "source": "measured here"},
             "l2_rate": {"value": 9e3, "unit": "B/cycle", "source": "assumed", "spread": 0.07})"),
                               "my.json");
  EXPECT_DOUBLE_EQ(spread_of(chip, "sms"), 0.25);
  EXPECT_DOUBLE_EQ(spread_of(chip, "clock"), 0.02);  // not the base's
  EXPECT_DOUBLE_EQ(spread_of(chip, "l2_rate"), 0.07);
  EXPECT_DOUBLE_EQ(spread_of(chip, "1sm m128 ss"), 0.02);
  EXPECT_DOUBLE_EQ(spread_of(load_chip("b200"), "l2_rate"), 0.07);
  Chip other = chip;
  set_constant(other, "l2_rate", 1e4, "what if");
  EXPECT_DOUBLE_EQ(spread_of(other, "l2_rate"), 0);
}

std::string with_places(const std::string& value) {
  return R"({"name": "mine", "summary": "s", "base": "h200", "places": {"order": {"value": )" +
         value + R"(, "unit": "SM, GPC, half of L2", "source": "seen"}}})";
}

TEST(Chip, PlacesAreThoseOfTheFileOrOfItsBase) {
  const Chip base = load_chip("h200");
  std::uint32_t sms = 0;
  for (const SmGroup& group : base.places) {
    sms += group.sms;
  }
  EXPECT_EQ(sms, base.sms);
  const Chip chip = parse_chip(with_places("[[2, 7, 1], [16, 0, 0]]"), "my.json");
  ASSERT_EQ(chip.places.size(), 2U);
  EXPECT_EQ(chip.places[0].sms, 2);
  EXPECT_EQ(chip.places[0].gpc, 7);
  EXPECT_EQ(chip.places[0].half, 1);
  EXPECT_EQ(chip.sources.at(kPlaces), "seen");
  EXPECT_TRUE(load_chip("b200").places.empty());
}

TEST(Chip, OtherGpcsHaveNoPlacesOfTheBase) {
  Chip chip = load_chip("h200");
  set_constant(chip, "gpcs", 4, "what if");
  EXPECT_TRUE(chip.places.empty());
}

TEST(Chip, PlacesThatCannotBeAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"[[2, 0]]", "places: order: 'value' is a list of three numbers each"},
      {"[[0, 0, 0]]", "places: order: 0 is out of range: use 1 to 4096"},
      {"[[2, 0.5, 0]]", "places: order: has whole numbers"},
      {"[[2, 8, 0]]", "places: name a GPC or a half of L2 that is not among"},
      {"[[2, 0, 2]]", "places: name a GPC or a half of L2 that is not among"},
  };
  for (const auto& [value, expected] : cases) {
    EXPECT_NE(refusal(with_places(value)).find(expected), std::string::npos)
        << value << ": " << refusal(with_places(value));
  }
}

TEST(Chip, ARefusalNamesFileAndKey) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "my.json: is not JSON"},
      {"[]", "my.json: is not a JSON object"},
      {"{}", "has no 'name'"},
      {R"({"name": "x", "summary": "s"})", "sms: is missing"},
      {with_constants(R"("sms": {"value": 1, "unit": "SM", "source": "s", "spread": "wide"})"),
       "sms: 'spread' is a number"},
      {with_constants(R"("sms": {"value": 1, "unit": "SM", "source": "s", "spread": -1})"),
       "sms: -1 is out of range"},
      {R"({"name": "x", "summary": "s", "base": "b2000"})", "base: 'b2000' is no shipped chip"},
      {R"({"name": "", "summary": "s", "base": "b200"})", "'name' is a text"},
      {R"({"name": "x", "summary": "s", "base": "b200", "constants": 3})", "constants: is an"},
      {R"({"name": "x", "summary": "s", "base": "b200", "extra": 3})", "no 'extra' here"},
      {with_constants(R"("smss": {"value": 1, "unit": "SM", "source": "s"})"), "smss: is no"},
      {with_constants(R"("sms": 148)"), "my.json: sms: is an object"},
      {with_constants(R"("sms": {"unit": "SM", "source": "s"})"), "sms: has no 'value'"},
      {with_constants(R"("sms": {"value": 1, "source": "s"})"), "sms: has no 'unit'"},
      {with_constants(R"("sms": {"value": 1, "unit": "SM"})"), "sms: has no 'source'"},
      {with_constants(R"("sms": {"value": 1, "unit": "SM", "source": ""})"), "'source' is a text"},
      {with_constants(R"("sms": {"value": 1, "unit": "ns", "source": "s"})"), "is in 'SM'"},
      {with_constants(R"("sms": {"value": "1", "unit": "SM", "source": "s"})"), "is a number"},
      {with_constants(R"("sms": {"value": 0, "unit": "SM", "source": "s"})"), "use 1 to 4096"},
      {with_constants(R"("sms": {"value": 1.5, "unit": "SM", "source": "s"})"), "whole number"},
      {with_constants(R"("sms": {"value": 1e999, "unit": "SM", "source": "s"})"), "not JSON"},
      {with_constants("", R"(, "tensor_core": {"3sm": {}})"), "tensor_core: 3sm: is no form"},
      {with_constants("",
                      R"(, "tensor_core": {"1sm m64 ss": {"value": [1], "unit": ")" +
                          std::string{kMmaFormUnit} + R"(", "source": "s"}})"),
       "1sm m64 ss: 'value' is a list of five"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_THAT(refusal(text), HasSubstr(expected)) << text;
  }
}

TEST(Chip, AFileThatIsNotThereIsRefusedWithTheNamesThatAre) {
  for (const char* path : {"/nowhere.json", "b201", "/tmp", ""}) {
    try {
      load_chip(path);
      ADD_FAILURE() << path;
    } catch (const ChipError& error) {
      EXPECT_THAT(error.what(), HasSubstr("b200, gb200, b300, h100, h200")) << path;
    }
  }
}

// Bytes of a right file changed at random: read or refused, never a crash.
TEST(Chip, GarbageIsRefused) {
  const std::string right = with_constants(
      R"("sms": {"value": 12, "unit": "SM", "source": "a"})",
      R"(, "tensor_core": {"1sm m64 ss": {"value": [1, 2, 3, 4, 5], "unit": "u", "source": "s"}})");
  std::mt19937 random{7};
  for (int i = 0; i < 20000; ++i) {
    std::string text = right;
    for (std::uint32_t change = 0; change <= random() % 4; ++change) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    refusal(text.substr(0, random() % 8 == 0 ? random() % text.size() : text.size()));
  }
  EXPECT_THAT(refusal(std::string(100'000, '[')), HasSubstr("my.json"));
  EXPECT_THAT(refusal(std::string(2 << 20, ' ')), HasSubstr("larger than any chip"));
}

}  // namespace
}  // namespace warptwin::sim::chip_test
