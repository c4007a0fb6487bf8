#include "sim/cli/new_repository.hpp"

#include <filesystem>
#include <fstream>
#include <system_error>

#include "common/kernel/scenario.hpp"

namespace warptwin::sim {

namespace fs = std::filesystem;

std::string project_name_of(const std::string& directory) {
  std::error_code failed;
  fs::path path = fs::absolute(directory, failed).lexically_normal();
  if (!path.has_filename()) {
    path = path.parent_path();
  }
  std::string name;
  for (const char c : path.filename().string()) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    name += letter || digit ? c : '_';
  }
  const bool begins =
      !name.empty() && ((name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z'));
  if (!begins) {
    throw ConfigError("'" + directory + "' gives no name for a project: it begins with no letter");
  }
  // Targets that CMake keeps for itself, and the library's own names.
  if (name == "test" || name == "all" || name == "install" || name == "help" || name == "clean" ||
      name.starts_with("warptwin")) {
    name = "my_" + name;
  }
  return name;
}

std::vector<std::string> write_repository(const std::string& directory) {
  const std::string project = project_name_of(directory);
  std::error_code failed;
  if (fs::exists(directory, failed) && !fs::is_empty(directory, failed)) {
    throw ConfigError("'" + directory + "' is there, and is not an empty folder; name a new one");
  }
  std::vector<std::string> written;
  for (const NewFile& file : new_files()) {
    std::string text = file.text;
    const std::string mark = "@PROJECT@";
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
      text.replace(at, mark.size(), project);
      at += project.size();
    }
    const fs::path path = fs::path{directory} / file.path;
    fs::create_directories(path.parent_path(), failed);
    std::ofstream out{path, std::ios::binary};
    out << text;
    out.close();
    if (!out) {
      throw ConfigError(path.string() + " cannot be written");
    }
    if (file.executable) {
      const auto execute = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
      fs::permissions(path, execute, fs::perm_options::add, failed);
    }
    written.push_back(file.path);
  }
  return written;
}

}  // namespace warptwin::sim
