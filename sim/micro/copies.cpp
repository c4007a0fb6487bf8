// Micro-programs about copies.

#include "sim/micro/building.hpp"

namespace warptwin::sim::micro {

void add_copies(List& list) {
  list.add("ASYNC_PENDING_AT_EXIT",
           1,
           after_init(1,
                      [](M& m) {
                        m.elect_one([&] { m.mbarrier_arrive_expect_tx(kBar, 32); });
                        copy(m, 32);
                      }),
           after_init(1,
                      [](M& m) {
                        m.elect_one([&] { m.mbarrier_arrive_expect_tx(kBar, 32); });
                        copy(m, 32);
                        wait(m, 0);
                      }),
           "lazy:1");
}

}  // namespace warptwin::sim::micro
