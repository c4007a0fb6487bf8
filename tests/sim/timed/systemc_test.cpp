/// The SystemC that is installed, under our compiler settings: it links, and it keeps time.

#include <gtest/gtest.h>
#include <systemc>

namespace warptwin::sim::systemc_test {
namespace {

/// Counts the rising edges of a clock.
class EdgeCounter : public sc_core::sc_module {
 public:
  explicit EdgeCounter(const sc_core::sc_module_name& name) : sc_module{name} {
    SC_HAS_PROCESS(EdgeCounter);
    SC_METHOD(count);
    sensitive << clock.pos();
    dont_initialize();
  }

  sc_core::sc_in<bool> clock;
  int edges = 0;

 private:
  void count() { ++edges; }
};

TEST(SystemCTest, AClockOfTwoNanosecondsTicksFiveTimesInTen) {
  sc_core::sc_clock clock{"clock", 2, sc_core::SC_NS};
  EdgeCounter counter{"counter"};
  counter.clock(clock);
  sc_core::sc_start(10, sc_core::SC_NS);
  EXPECT_EQ(counter.edges, 5);
}

}  // namespace
}  // namespace warptwin::sim::systemc_test

int sc_main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
