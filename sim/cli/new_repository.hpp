/// A repository with one scenario, its tests and its CI, to begin with.

#pragma once

#include <string>
#include <vector>

namespace warptwin::sim {

struct NewFile {
  const char* path;
  bool executable;
  const char* text;  // "@PROJECT@" stands for the project's name
};

/// The files of a new repository; generated.
const std::vector<NewFile>& new_files();

/// A name for CMake of the last part of a path: "my kernels" gives "my_kernels". Throws ConfigError
/// where none can be made.
std::string project_name_of(const std::string& directory);

/// Writes the files into `directory`, which is made, or is empty. Throws ConfigError.
std::vector<std::string> write_repository(const std::string& directory);

}  // namespace warptwin::sim
