// What a command allocates by. mimalloc's own operators new end a program that has no memory left,
// where the command says that a limit was met: these do as the standard says. Memory is given back
// by mimalloc's.

#include <mimalloc.h>
#include <new>

namespace {

void* allocate(std::size_t bytes, std::align_val_t alignment) {
  for (;;) {
    void* const memory = mi_malloc_aligned(bytes, static_cast<std::size_t>(alignment));
    if (memory != nullptr) {
      return memory;
    }
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) {
      throw std::bad_alloc{};
    }
    handler();
  }
}

constexpr std::align_val_t kUsual{__STDCPP_DEFAULT_NEW_ALIGNMENT__};

// A command allocates again what it has freed: what one run gives back the next one takes. By
// itself mimalloc returns it to the system after 25 ms, and it has to be found anew page by page.
[[maybe_unused]] const bool kKeeps = [] {
#if MI_MALLOC_VERSION < 210
  mi_option_disable(mi_option_allow_decommit);
  mi_option_set(mi_option_decommit_delay, 3600000);
  mi_option_set(mi_option_segment_decommit_delay, 3600000);
#else
  mi_option_set(mi_option_purge_delay, -1);
#endif
  return true;
}();

}  // namespace

void* operator new(std::size_t bytes) {
  void* const memory = mi_malloc(bytes);
  return memory != nullptr ? memory : allocate(bytes, kUsual);
}

void* operator new[](std::size_t bytes) {
  return operator new(bytes);
}

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, alignment);
}

void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, alignment);
}
