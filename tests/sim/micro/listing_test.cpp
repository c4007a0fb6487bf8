#include "sim/micro/listing.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warptwin::sim {

// How a test names its parameter.
void PrintTo(const MicroProgram& micro, std::ostream* out) {
  *out << micro.id;
}

namespace {

using ::testing::HasSubstr;

std::vector<ListedOperation> all_of(const std::vector<WarpListing>& listings) {
  std::vector<ListedOperation> all;
  for (const WarpListing& listing : listings) {
    all.insert(all.end(), listing.operations.begin(), listing.operations.end());
  }
  return all;
}

std::vector<std::string> texts_of(const std::vector<WarpListing>& listings) {
  std::vector<std::string> texts;
  for (const ListedOperation& one : all_of(listings)) {
    texts.push_back(one.text + (one.found ? " <--" : "") + (one.differs ? " *" : ""));
  }
  return texts;
}

class ListingTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  const MicroProgram& micro() const { return micro_programs()[GetParam()]; }
};

TEST_P(ListingTest, MarksOneOperationAndWhatDiffers) {
  const MicroListing listing = list_micro(micro());
  const auto found = [](const ListedOperation& one) { return one.found; };
  const auto differs = [](const ListedOperation& one) { return one.differs; };
  const auto wrong = all_of(listing.wrong);
  const auto right = all_of(listing.right);
  EXPECT_EQ(std::count_if(wrong.begin(), wrong.end(), found), 1);
  EXPECT_EQ(std::count_if(right.begin(), right.end(), found), 0);
  EXPECT_TRUE(std::any_of(wrong.begin(), wrong.end(), differs) ||
              std::any_of(right.begin(), right.end(), differs));
  EXPECT_EQ(listing.wrong.size(), micro().warps * micro().ctas * micro().clusters);
  EXPECT_EQ(listing.right.size(), listing.wrong.size());
}

TEST_P(ListingTest, IsTheSameEveryTime) {
  const MicroListing one = list_micro(micro());
  const MicroListing two = list_micro(micro());
  EXPECT_EQ(texts_of(one.wrong), texts_of(two.wrong));
  EXPECT_EQ(texts_of(one.right), texts_of(two.right));
}

INSTANTIATE_TEST_SUITE_P(Diagnostics,
                         ListingTest,
                         ::testing::Range<std::size_t>(0, micro_programs().size()),
                         [](const auto& micro) { return micro_name(micro.param); });

TEST(ListingOfOneTest, SaysWhatTheOperationsAreAbout) {
  const MicroListing listing = list_micro(*find_micro("MBAR_PHASE_UNOBSERVED"));
  EXPECT_THAT(texts_of(listing.wrong),
              ::testing::ElementsAre("mbarrier.init [bar], 1",
                                     "bar.sync 0, 32",
                                     "mbarrier.arrive.release.cta [bar], 1",
                                     "mbarrier.arrive.release.cta [bar], 1 <--"));
  EXPECT_THAT(texts_of(listing.right),
              ::testing::ElementsAre("mbarrier.init [bar], 1",
                                     "bar.sync 0, 32",
                                     "mbarrier.arrive.release.cta [bar], 1",
                                     "mbarrier.wait.acquire.cta [bar], phase 0 *",
                                     "mbarrier.arrive.release.cta [bar], 1"));
}

TEST(ListingOfOneTest, AWaitOrABarrierIsOneOperationHoweverOftenItLooks) {
  const MicroListing listing = list_micro(*find_micro("ORDER_LOOK"));
  EXPECT_THAT(texts_of({listing.wrong[0]}),
              ::testing::ElementsAre("mbarrier.init [bar], 1",
                                     "bar.sync 0, 64",
                                     "mbarrier.arrive.release.cta [bar], 1",
                                     "bar.sync 1, 64",
                                     "mbarrier.arrive.release.cta [bar], 1"));
  const auto spins = texts_of(list_micro(*find_micro("LIVELOCK_SPIN")).wrong);
  EXPECT_EQ(spins.size(), 3U);
  EXPECT_THAT(spins.back(), HasSubstr("-> no  ("));
}

TEST(ListingOfOneTest, AnUnknownIdHasNoProgram) {
  EXPECT_EQ(find_micro("MBAR_NONE"), nullptr);
}

}  // namespace
}  // namespace warptwin::sim
