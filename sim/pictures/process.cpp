#include "sim/pictures/process.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "common/kernel/scenario.hpp"

namespace warptwin::sim {

namespace {

// What a command reads, gone with it.
class InputFile {
 public:
  explicit InputFile(const std::string& text)
      : path_{(std::filesystem::temp_directory_path() / "warptwin-XXXXXX").string()} {
    const int file = mkstemp(path_.data());
    const bool written =
        file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (file >= 0) {
      close(file);
    }
    if (!written) {
      throw ConfigError("a temporary file cannot be written: " + path_);
    }
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() { std::remove(path_.c_str()); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::string output_of(const std::string& command, const std::string& input, const char* package) {
  const InputFile file{input};
  const std::string program = command.substr(0, command.find(' '));
  std::FILE* const pipe = popen((command + " < '" + file.path() + "' 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) {
    throw ConfigError("there can be no process for " + program);
  }
  std::string text;
  char part[1 << 16];
  for (std::size_t size = 0; (size = std::fread(part, 1, sizeof part, pipe)) != 0;) {
    text.append(part, size);
  }
  const int status = pclose(pipe);
  if (status != 0) {
    throw ConfigError(WEXITSTATUS(status) == 127
                          ? "it is drawn by " + program + ", which is not here: apt-get install " +
                                package
                          : program + " could not draw it");
  }
  return text;
}

void write_through(const std::string& command,
                   const std::string& input,
                   const std::string& path,
                   const char* package) {
  const std::string bytes = output_of(command, input, package);
  std::ofstream out{path, std::ios::binary};
  out << bytes;
  out.close();
  if (!out) {
    throw ConfigError(path + " cannot be written");
  }
}

}  // namespace warptwin::sim
