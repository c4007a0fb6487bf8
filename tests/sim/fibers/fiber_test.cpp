#include "sim/fibers/fiber.hpp"

#include <memory>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace warptwin::sim::fiber_test {
namespace {

constexpr std::size_t kBytes = stack_bytes(64 * 1024);

TEST(FiberTest, EachGoesOnWhereItStood) {
  Fiber own;
  std::vector<int> order;
  std::unique_ptr<Fiber> first;
  std::unique_ptr<Fiber> second;
  first = std::make_unique<Fiber>(PooledStacks{kBytes}, [&] {
    order.push_back(1);
    first->switch_to(*second);
    order.push_back(3);
    first->switch_to(own);
    order.push_back(5);
    return &own;
  });
  second = std::make_unique<Fiber>(GuardedStacks{kBytes}, [&] {
    order.push_back(2);
    second->switch_to(*first);
    order.push_back(7);
    return &own;
  });
  own.switch_to(*first);
  order.push_back(4);
  own.switch_to(*first);
  EXPECT_TRUE(first->has_ended());
  order.push_back(6);
  own.switch_to(*second);
  EXPECT_TRUE(second->has_ended());
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4, 5, 6, 7}));
}

// What stands on a stack is there when it goes on, and an exception stays on its own.
TEST(FiberTest, StacksAreApart) {
  Fiber own;
  PooledStacks stacks{kBytes};
  std::vector<std::unique_ptr<Fiber>> fibers;
  int caught = 0;
  for (int i = 0; i < 8; ++i) {
    fibers.push_back(std::make_unique<Fiber>(stacks, [&, i] {
      volatile char local[4096];
      for (volatile char& byte : local) {
        byte = static_cast<char>(i);
      }
      fibers[static_cast<std::size_t>(i)]->switch_to(own);
      try {
        for (volatile char& byte : local) {
          if (byte != static_cast<char>(i)) {
            return &own;
          }
        }
        throw std::runtime_error("as it was");
      } catch (const std::runtime_error&) {
        ++caught;
      }
      return &own;
    }));
  }
  for (int round = 0; round < 2; ++round) {
    for (const auto& fiber : fibers) {
      own.switch_to(*fiber);
    }
  }
  EXPECT_EQ(caught, 8);
}

// A fiber hands over to the next one when it ends; their stacks are used again.
TEST(FiberTest, ThousandsComeToTheirEnd) {
  Fiber own;
  PooledStacks stacks{kBytes};
  std::vector<std::unique_ptr<Fiber>> fibers(5000);
  std::size_t ended = 0;
  for (std::size_t i = fibers.size(); i-- > 0;) {
    Fiber* const next = i + 1 < fibers.size() ? fibers[i + 1].get() : &own;
    fibers[i] = std::make_unique<Fiber>(stacks, [&ended, next] {
      ++ended;
      return next;
    });
    if (i % 50 == 0) {
      own.switch_to(*fibers[i]);
      for (std::size_t j = i; j < i + 50; ++j) {
        EXPECT_TRUE(fibers[j]->has_ended());
        fibers[j].reset();
      }
      if (i != 0) {
        fibers.resize(i);
      }
    }
  }
  EXPECT_EQ(ended, 5000U);
}

TEST(FiberTest, OneThatNeverBeganLeavesNothing) {
  int begun = 0;
  {
    const Fiber fiber{PooledStacks{kBytes}, [&] {
                        ++begun;
                        return static_cast<Fiber*>(nullptr);
                      }};
    EXPECT_FALSE(fiber.has_ended());
  }
  EXPECT_EQ(begun, 0);
}

}  // namespace
}  // namespace warptwin::sim::fiber_test
