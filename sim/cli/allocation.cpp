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
