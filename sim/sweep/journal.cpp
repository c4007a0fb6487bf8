#include "sim/sweep/journal.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <sstream>
#include <unistd.h>

namespace warptwin::sim {

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw ConfigError(path + ": " + why);
}

std::string whole(int file, const std::string& path) {
  std::string text;
  char piece[65536];
  for (;;) {
    const ssize_t count = read(file, piece, sizeof piece);
    if (count == 0) {
      return text;
    }
    if (count < 0 && errno != EINTR) {
      refuse(path, std::string{"cannot be read: "} + std::strerror(errno));
    }
    text.append(piece, count < 0 ? 0 : static_cast<std::size_t>(count));
  }
}

}  // namespace

Journal::Journal(std::string path, const std::string& header, std::size_t columns)
    : path_{std::move(path)} {
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) {
    refuse(path_, std::string{"cannot be written: "} + std::strerror(errno));
  }
  try {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    if (fcntl(file_, F_SETLK, &lock) != 0) {
      refuse(path_, "another sweep is writing to it");
    }
    const std::string text = whole(file_, path_);
    const std::string first = text.substr(0, text.find('\n'));
    const bool begun = first.size() < text.size();  // the header's line is whole
    if (begun && first != header) {
      refuse(path_,
             "holds rows of another sweep, or of another build of warptwin; name another --table, "
             "or remove the file to begin anew");
    }
    if (!begun && header.compare(0, text.size(), text) != 0) {
      refuse(path_, "is no journal of a sweep; name another --table");
    }
    std::set<std::uint64_t> seen;
    std::size_t right = begun ? header.size() + 1 : 0;
    for (std::size_t at = right; begun && at < text.size();) {
      const std::size_t end = text.find('\n', at);
      if (end == std::string::npos) {
        break;
      }
      try {
        SweepRow row = unpacked(text.substr(at, end - at), columns);
        if (!seen.insert(row.index).second) {
          refuse(path_, "has row " + std::to_string(row.index) + " twice");
        }
        rows_.push_back(std::move(row));
      } catch (const std::runtime_error& error) {
        refuse(path_, error.what());
      }
      at = right = end + 1;
    }
    if (ftruncate(file_, static_cast<off_t>(right)) != 0 || lseek(file_, 0, SEEK_END) < 0) {
      refuse(path_, std::string{"cannot be written: "} + std::strerror(errno));
    }
    if (!begun) {
      write_line(header);
    }
  } catch (...) {
    close(file_);
    throw;
  }
}

Journal::~Journal() {
  close(file_);
}

void Journal::write_line(const std::string& text) {
  const std::string line = text + "\n";
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t count = write(file_, line.data() + at, line.size() - at);
    if (count < 0 && errno != EINTR) {
      refuse(path_, std::string{"cannot be written: "} + std::strerror(errno));
    }
    at += count < 0 ? 0 : static_cast<std::size_t>(count);
  }
}

void Journal::add(const SweepRow& row) {
  write_line(packed(row));
}

void Journal::remove() {
  unlink(path_.c_str());
}

}  // namespace warptwin::sim
