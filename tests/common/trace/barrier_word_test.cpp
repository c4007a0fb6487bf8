#include "common/trace/barrier_word.hpp"

#include <random>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warptwin::barrier_word_test {
namespace {

using ::testing::HasSubstr;

struct Measured {
  std::uint64_t word;
  BarrierWord state;
};

// What tests/hw/mbarrier_words.cu printed on an H200: the first column of its lines.
constexpr Measured kMeasured[] = {
    {0x7ffff800001ffffe, {0, 1, 1, 0, 0}},                // init 1
    {0x7ffff000001ffffc, {0, 2, 2, 0, 0}},                // init 2
    {0x7fffe800001ffffa, {0, 3, 3, 0, 0}},                // init 3
    {0x7fff0000001fffc0, {0, 32, 32, 0, 0}},              // init 32
    {0x5555580000155556, {0, 0x55555, 0x55555, 0, 0}},    // init 0x55555
    {0x0000080000000002, {0, 0xfffff, 0xfffff, 0, 0}},    // init 0xfffff
    {0x7fffe000001ffff6, {0, 4, 5, 0, 0}},                // init 5, 1 arrival
    {0x7ffff800001ffff6, {0, 1, 5, 0, 0}},                // init 5, 4 arrivals
    {0xffffd800001ffff6, {1, 5, 5, 0, 0}},                // init 5, 5 arrivals
    {0x7fffd800001ffff6, {0, 5, 5, 0, 0}},                // init 5, 5 + 5 arrivals
    {0xffffe800001ffff6, {1, 3, 5, 0, 0}},                // init 5, 5 + 5 + 5 + 2 arrivals
    {0x7ffff000001ffffc, {0, 2, 2, 0, 0}},                // init 3, arrive_drop
    {0xfffff000001ffffc, {1, 2, 2, 0, 0}},                // init 3, arrive_drop, 2 arrivals
    {0x7ffff3fffffffffc, {0, 2, 2, 1, 0}},                // init 2, expect_tx 1
    {0x7ffff3fdb99ffffc, {0, 2, 2, 0x1234, 0}},           // init 2, expect_tx 0x1234
    {0x7ffff200003ffffc, {0, 2, 2, 0xfffff, 0}},          // init 2, expect_tx 0xfffff
    {0x7ffff3ffb99ffffc, {0, 2, 2, 0x1234 - 0x1000, 0}},  // ..., complete_tx 0x1000
    {0x7ffff000003ffffc, {0, 2, 2, -1, 0}},               // init 2, complete_tx 1
    {0x7ffff1fffffffffc, {0, 2, 2, -0xfffff, 0}},         // init 2, complete_tx 0xfffff
    {0x000003fe001ffffc, {0, 0, 2, 4096, 0}},             // init 2, expect_tx 4096, 2 arrivals
    {0x00000000061ffffe, {0, 0, 1, -48, 0}},              // init 1, complete_tx 48, 1 arrival
};

TEST(BarrierWordTest, EveryMeasuredWordIsTakenApartAndPutTogether) {
  for (const Measured& line : kMeasured) {
    EXPECT_EQ(BarrierWord::of(line.word), line.state) << std::hex << line.word;
    EXPECT_EQ(line.state.bits(), line.word);
    EXPECT_TRUE(line.state.is_possible()) << std::hex << line.word;
  }
}

TEST(BarrierWordTest, AnyWordComesBack) {
  std::mt19937_64 random{1};
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t word = random();
    EXPECT_EQ(BarrierWord::of(word).bits(), word);
    EXPECT_FALSE(sentence_of(BarrierWord::of(word)).empty());
  }
}

TEST(BarrierWordTest, SentencesSayWhatIsMissing) {
  EXPECT_THAT(sentence_of(BarrierWord::of(0x7ffff3fe001ffffc)),
              HasSubstr("lacks 2 arrivals of 2 and 4096 bytes"));
  EXPECT_THAT(sentence_of(BarrierWord::of(0x00000000061ffffe)),
              HasSubstr("lacks nothing, with 48 bytes more than announced"));
  EXPECT_THAT(sentence_of(BarrierWord::of(0xffffd800001ffff6)), HasSubstr("an odd phase is open"));
  EXPECT_THAT(sentence_of(BarrierWord::of(0)), HasSubstr("all zero"));
  EXPECT_THAT(sentence_of(BarrierWord::of(1)), HasSubstr("no state of an mbarrier"));
}

TEST(BarrierWordTest, ParitiesOfARingSayWhereItStands) {
  const auto of_parities = [](std::initializer_list<std::uint32_t> parities) {
    std::vector<BarrierWord> words;
    for (const std::uint32_t parity : parities) {
      words.push_back({parity, 1, 1, 0, 0});
    }
    return sentence_of_ring(words);
  };
  EXPECT_EQ(of_parities({1}), "");
  EXPECT_THAT(of_parities({1, 1, 1}), HasSubstr("stands at stage 0"));
  EXPECT_THAT(of_parities({1, 1, 0}), HasSubstr("stands at stage 2"));
  EXPECT_THAT(of_parities({1, 0, 1}), HasSubstr("no ring"));
}

TEST(BarrierWordTest, WordsAreReadAsDebuggersWriteThem) {
  EXPECT_EQ(parse_barrier_word("0x7ffff800001ffffe"), 0x7ffff800001ffffeU);
  EXPECT_EQ(parse_barrier_word("0X1"), 1U);
  EXPECT_EQ(parse_barrier_word("7ffff800001ffffe"), 0x7ffff800001ffffeU);
  EXPECT_EQ(parse_barrier_word("9223363240763850750"), 0x7ffff800001ffffeU);
  EXPECT_EQ(parse_barrier_word("18446744073709551615"), ~std::uint64_t{0});
  for (const char* bad : {"",
                          "0x",
                          "0x7ffff800001ffffe0",
                          "18446744073709551616",
                          "-1",
                          "12 ",
                          "full",
                          "0x12g4",
                          "7ffff800001ffff"}) {
    EXPECT_THROW(parse_barrier_word(bad), std::invalid_argument) << bad;
  }
}

}  // namespace
}  // namespace warptwin::barrier_word_test
