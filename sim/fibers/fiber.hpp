/// Stacks that one thread runs on in turn: Boost.Context, and what the address sanitizer has to be
/// told of every switch.

#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <utility>

#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <boost/context/stack_context.hpp>

#if defined(__SANITIZE_ADDRESS__)
#define WARPTWIN_FIBERS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WARPTWIN_FIBERS_ASAN 1
#endif
#endif

#if defined(WARPTWIN_FIBERS_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace warptwin::sim {

/// A stack's size where code that was written for `bytes` runs: instrumented frames are larger.
constexpr std::size_t stack_bytes(std::size_t bytes) {
#if defined(WARPTWIN_FIBERS_ASAN)
  return 4 * bytes;
#else
  return bytes;
#endif
}

/// Where stacks come from: they are used again when a fiber has ended; or behind each stands a page
/// that nobody may touch.
using PooledStacks = boost::context::pooled_fixedsize_stack;
using GuardedStacks = boost::context::protected_fixedsize_stack;

/// A stack, and where the code on it stands while it does not run. Stays at its place. All fibers
/// that switch to each other belong to one thread.
class Fiber {
 public:
  /// The stack that the caller runs on.
  Fiber() = default;

  /// A stack of its own, from PooledStacks or GuardedStacks. Whoever switches to it first
  /// begins `life`, which returns the fiber that goes on when it is over, and lets no exception
  /// out. Destroyed only when it has come to its end, or has never begun.
  template <class Stacks, class Life>
  Fiber(Stacks stacks, Life life) {
    const boost::context::stack_context stack = stacks.allocate();
    note_stack(stack);
    context_ = boost::context::fiber{
        std::allocator_arg,
        boost::context::preallocated{stack.sp, stack.size, stack},
        std::move(stacks),
        [this, life = std::move(life)](boost::context::fiber&&) mutable noexcept {
          arrive();
          Fiber* const next = life();
          ended_ = true;
          leave(*next, true);
          return std::move(next->context_);
        }};
  }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// From this fiber, which runs, to `next`, which does not. Returns when somebody switches back.
  void switch_to(Fiber& next) {
    leave(next, false);
    std::move(next.context_).resume_with([this](boost::context::fiber&& left) {
      context_ = std::move(left);
      return boost::context::fiber{};
    });
    arrive();
  }

  /// Its life is over. Told of the fiber that ends only when another one goes on.
  bool has_ended() const { return ended_; }

 private:
#if defined(WARPTWIN_FIBERS_ASAN)
  void note_stack(const boost::context::stack_context& stack) {
    bottom_ = static_cast<char*>(stack.sp) - stack.size;
    size_ = stack.size;
    // Frames that others left there without returning from them.
    __asan_unpoison_memory_region(bottom_, size_);
  }
  void leave(Fiber& next, bool for_ever) {
    left() = this;
    __sanitizer_start_switch_fiber(for_ever ? nullptr : &fake_stack_, next.bottom_, next.size_);
  }
  void arrive() {
    Fiber& from = *left();
    __sanitizer_finish_switch_fiber(
        fake_stack_, const_cast<const void**>(&from.bottom_), &from.size_);
  }
  static Fiber*& left() {
    thread_local Fiber* fiber = nullptr;
    return fiber;
  }

  void* bottom_ = nullptr;  // of the stack; of the thread's own, known when it is first left
  std::size_t size_ = 0;
  void* fake_stack_ = nullptr;
#else
  void note_stack(const boost::context::stack_context&) {}
  void leave(Fiber&, bool) {}
  void arrive() {}
#endif

  boost::context::fiber context_;  // empty while it runs
  bool ended_ = false;
};

}  // namespace warptwin::sim
