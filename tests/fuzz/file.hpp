/// Bytes as a file, for readers that take a path.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/support.hpp"

namespace warptwin::fuzz {

/// A file in memory, which is there as long as the object.
class File {
 public:
  File(const void* data, std::size_t size) : handle_{memfd_create("fuzz", MFD_CLOEXEC)} {
    const bool written = handle_ >= 0 && write(handle_, data, size) == static_cast<ssize_t>(size);
    require(written, "no file in memory", "");
  }
  explicit File(std::string_view text) : File(text.data(), text.size()) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(handle_); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(handle_); }

 private:
  int handle_;
};

}  // namespace warptwin::fuzz
