#include "sim/cli/cuda_program.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace warptwin::sim::cli {

namespace fs = std::filesystem;

static constexpr const char* kLibraries[] = {"libcudart.so.13", "libcuda.so.1"};

// Beside the command, as it is built and as it is installed.
static fs::path library_folder() {
  std::error_code error;
  const fs::path command = fs::read_symlink("/proc/self/exe", error);
  const fs::path folder =
      fs::weakly_canonical(command.parent_path() / ".." / WARPTWIN_LIBRARY_FOLDER, error);
  for (const char* library : kLibraries) {
    if (!fs::exists(folder / library, error)) {
      throw ConfigError("the stand-ins for CUDA are not there: no " + (folder / library).string() +
                        "; build or install all of warptwin");
    }
  }
  return folder;
}

// A folder of our own with the socket, and with the names that a program may open the libraries by,
// gone with us.
class Meeting {
 public:
  explicit Meeting(const fs::path& libraries) {
    const char* parent = std::getenv("TMPDIR");
    std::string pattern = std::string{parent == nullptr ? "/tmp" : parent} + "/warptwin-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw ConfigError(pattern + ": no folder can be made there; set TMPDIR");
    }
    folder_ = pattern;
    for (const std::string library : kLibraries) {
      // "libcuda.so" of "libcuda.so.1"
      const std::string plain = library.substr(0, library.rfind('.'));
      fs::create_symlink(libraries / library, fs::path{folder_} / plain);
    }
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = this->path();
    if (path.size() >= sizeof address.sun_path) {
      throw ConfigError(path + ": too long for a socket; set TMPDIR to a shorter one");
    }
    std::memcpy(address.sun_path, path.c_str(), path.size());
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket_ < 0 ||
        ::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket_, 64) != 0) {
      throw ConfigError(path + ": " + std::strerror(errno));
    }
  }
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;
  ~Meeting() {
    ::close(socket_);
    std::error_code error;
    fs::remove_all(folder_, error);
  }

  const std::string& folder() const { return folder_; }
  std::string path() const { return folder_ + "/s"; }
  int socket() const { return socket_; }

 private:
  std::string folder_;
  int socket_ = -1;
};

// The new process: it only comes back where the program cannot be begun.
static void begin_program(const std::vector<std::string>& arguments,
                          const std::string& preload,
                          const Meeting& meeting) {
  const char* others = std::getenv("LD_LIBRARY_PATH");
  const std::string folders =
      meeting.folder() + (others == nullptr ? "" : ":" + std::string{others});
  ::setenv("LD_PRELOAD", preload.c_str(), 1);
  ::setenv("LD_LIBRARY_PATH", folders.c_str(), 1);
  ::setenv(cuda::kSocketVariable, meeting.path().c_str(), 1);
  std::vector<char*> words;
  for (const std::string& argument : arguments) {
    words.push_back(const_cast<char*>(argument.c_str()));  // NOLINT: execvp takes them so
  }
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
}

// Each process of the program has a device of its own.
class Devices {
 public:
  Devices(int listener, const std::function<std::unique_ptr<cuda::Service>()>& make)
      : listener_{listener}, make_{make} {}
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;
  ~Devices() {
    for (const auto& [socket, service] : services_) {
      ::close(socket);
    }
  }

  bool came() const { return came_; }
  bool empty() const { return services_.empty(); }

  /// Answers who asks within the time. False where nobody has.
  bool serve(int milliseconds) {
    std::vector<pollfd> all{{listener_, POLLIN, 0}};
    for (const auto& [socket, service] : services_) {
      all.push_back({socket, POLLIN, 0});
    }
    if (::poll(all.data(), all.size(), milliseconds) <= 0) {
      return false;
    }
    if (all[0].revents != 0) {
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket >= 0) {
        services_[socket] = make_();
        came_ = true;
      }
    }
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (all[i].revents != 0) {
        answer(all[i].fd);
      }
    }
    return true;
  }

 private:
  void answer(int socket) {
    const std::optional<cuda::Message> request = cuda::receive_message(socket);
    if (request) {
      const cuda::Message reply = services_[socket]->answer(*request);
      if (cuda::send_message(socket, reply.header, reply.bytes)) {
        return;
      }
    }
    services_.erase(socket);
    ::close(socket);
  }

  int listener_;
  const std::function<std::unique_ptr<cuda::Service>()>& make_;
  std::map<int, std::unique_ptr<cuda::Service>> services_;
  bool came_ = false;
};

static ProgramEnd end_of(int status) {
  ProgramEnd end;
  end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return end;
}

ProgramEnd run_program(const std::vector<std::string>& arguments,
                       const std::function<std::unique_ptr<cuda::Service>()>& service) {
  const fs::path folder = library_folder();
  std::string preload;
  const char* others = std::getenv("LD_PRELOAD");
  for (const char* library : kLibraries) {
    preload += (preload.empty() ? "" : ":") + (folder / library).string();
  }
  preload += others == nullptr ? "" : ":" + std::string{others};
  const Meeting meeting{folder};
  int failure[2] = {};
  if (::pipe2(failure, O_CLOEXEC) != 0) {
    throw ConfigError(std::string{"no pipe: "} + std::strerror(errno));
  }
  const pid_t child = ::fork();
  if (child < 0) {
    throw ConfigError(std::string{"no process: "} + std::strerror(errno));
  }
  if (child == 0) {
    begin_program(arguments, preload, meeting);
    const int why = errno;
    static_cast<void>(!::write(failure[1], &why, sizeof why));
    ::_exit(127);
  }
  ::close(failure[1]);
  int why = 0;
  const bool failed = ::read(failure[0], &why, sizeof why) == sizeof why;
  ::close(failure[0]);
  // The terminal's interrupt is for the program: we say what it has done until then.
  const auto before = ::signal(SIGINT, SIG_IGN);
  Devices devices{meeting.socket(), service};
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    devices.serve(20);
  }
  while (!devices.empty() && devices.serve(1000)) {
  }
  ::signal(SIGINT, before);
  ProgramEnd end = end_of(status);
  end.came = devices.came();
  end.why_not = failed ? std::strerror(why) : "";
  return end;
}

}  // namespace warptwin::sim::cli
