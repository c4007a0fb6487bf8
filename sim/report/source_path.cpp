#include "sim/report/source_path.hpp"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace warptwin::sim {

namespace fs = std::filesystem;

std::string path_from(const std::string& file, const std::string& root) {
  std::error_code failed;
  const fs::path top = fs::absolute(root.empty() ? "." : root, failed).lexically_normal();
  const fs::path path = fs::path{file}.lexically_normal();
  if (path.is_absolute()) {
    const std::string below = path.lexically_relative(top).generic_string();
    if (!below.empty() && below != "." && !below.starts_with("..")) {
      return below;
    }
  }
  fs::path rest = path.relative_path();
  while (!rest.empty() && *rest.begin() == "..") {
    rest = rest.lexically_relative("..");
  }
  for (fs::path end = rest; !end.empty();) {
    if (fs::is_regular_file(top / end, failed)) {
      return end.generic_string();
    }
    fs::path shorter;
    for (auto part = std::next(end.begin()); part != end.end(); ++part) {
      shorter /= *part;
    }
    end = shorter;
  }
  return (path.is_absolute() ? path : rest).generic_string();
}

std::string uri_of(const std::string& path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       std::strchr("/-._~", c) != nullptr;
    char text[4];
    std::snprintf(text, sizeof text, "%%%02X", static_cast<unsigned char>(c));
    uri += plain && c != '\0' ? std::string{c} : std::string{text};
  }
  return uri;
}

}  // namespace warptwin::sim
