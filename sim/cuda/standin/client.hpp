/// The stand-ins' side of the connection to `warptwin cuda`, and what their functions share.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sim/cuda/standin/driver_calls.hpp"
#include "sim/cuda/wire.hpp"

namespace warptwin::cuda {

const ErrorText& text_of(CUresult error);

/// A parameter of a kernel: where PTX has it among all of them, and the driver.
struct KernelParameter {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  std::size_t in_bank = 0;  // from the begin of the parameters in the constant bank
};

struct Kernel {
  Library* library = nullptr;
  std::string name;
  std::vector<KernelParameter> parameters;
  std::size_t parameter_bytes = 0;
  int threads_max = 1024;
  int static_shared = 0;
  int local_bytes = 0;
  int ptx_version = 0;
  unsigned cluster[3] = {};  // that it requires; 0: none
  int registers = 0;
  // As the program set them.
  int dynamic_shared_max = 0;
  bool non_portable_cluster = false;
  int carveout = -1;
};

struct Library {
  int number = 0;
  std::vector<std::string> kernel_names;
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels;
  std::map<std::string, std::pair<CUdeviceptr, std::size_t>, std::less<>> variables;
};

struct Context {
  int uses = 0;  // of the primary one
};

struct Stream {
  unsigned flags = 0;
  int priority = 0;
};

struct Event {
  bool recorded = false;
  bool measures = true;
};

struct Pool {
  std::uint64_t threshold = 0;
};

/// Every function holds one: the program's threads take turns.
class Turn {
 public:
  Turn();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

/// Host memory that kernels see at its own address.
struct HostRange {
  std::size_t bytes = 0;
  bool managed = false;
  bool mapped = false;  // by us: it is unmapped when it is freed
};

/// Rows of bytes, `pitch` apart, in planes; of the device or the host.
struct Box {
  CUdeviceptr address = 0;
  std::size_t width = 0;
  std::size_t rows = 1;
  std::size_t pitch = 0;
  std::size_t planes = 1;
  std::size_t plane_pitch = 0;

  std::size_t bytes() const { return width * rows * planes; }
};

/// The stream that a copy is given to, and whether the host waits for it.
struct Given {
  std::uint64_t stream = 0;
  bool waits = true;
};
inline std::uint64_t number_of(const void* handle) {
  return reinterpret_cast<std::uint64_t>(handle);
}

class Client {
 public:
  static Client& get();

  /// Sends a request and returns the answer. Ends the program where there is nobody to answer.
  Message ask(const nlohmann::json& request, std::span<const std::byte> bytes = {});
  /// What the host orders: `facts` beside the word for it.
  Message order(const char* what, nlohmann::json facts = nlohmann::json::object());
  /// The result that an answer holds; what makes all later calls fail is kept.
  CUresult result_of(const Message& answer);
  /// A number that says what the chip is: "sms", "clock_khz".
  long long chip(const char* name);
  std::string chip_name();

  /// Gives kernels what the host has written, and the host what kernels have.
  void push_host_memory();
  void pull_host_memory(const nlohmann::json& ranges);
  /// Calls `f`, which changes these bytes of the host for work that was given to a stream.
  void change_host(const Box& box, const std::function<void()>& f);

  CUresult sticky() const { return sticky_; }
  /// What has failed stays so: there is no device for the program any more.
  void reset() { sticky_ = sticky_ == kSuccess ? kSuccess : kDevicesUnavailable; }
  std::recursive_mutex& mutex() { return mutex_; }

  Context primary;
  std::vector<std::unique_ptr<Context>> contexts;  // that the program has made
  std::set<Stream*> streams;
  std::set<Event*> events;
  std::set<std::unique_ptr<Library>> libraries;
  std::vector<std::unique_ptr<Pool>> pools;
  std::map<std::uint64_t, HostRange> host_ranges;
  std::map<CUdeviceptr, std::size_t> allocations;

 private:
  /// Bytes of the host that work in a stream uses, which the host may not write meanwhile.
  struct Watch {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    std::size_t hash = 0;
  };

  void connect();
  void watch(const nlohmann::json& answer);
  void end_watch(std::uint64_t number, const Watch& watch);

  std::recursive_mutex mutex_;
  int socket_ = -1;
  int process_ = 0;
  std::atomic<CUresult> sticky_ = kSuccess;
  nlohmann::json chip_;
  std::map<std::uint64_t, Watch> watches_;  // by the number that the other side gave
};

/// Whether an address is one that the simulated device gives.
bool is_device(CUdeviceptr address);

/// Ends the program: it calls what the stand-ins do not have.
[[noreturn]] void missing(const char* name, const void* caller, const std::string& why = "");
/// Ends the program: `why` is a sentence for its user.
[[noreturn]] void give_up(const std::string& why);

/// Whether a handle is a stream of the program, or one that CUDA has a number for.
bool is_stream(CUstream handle);
/// Loads an image: the bytes that its header says, or text of PTX.
CUresult load_library(const void* image, Library** library);
CUresult kernel_of(Library& library, const std::string& name, Kernel** kernel);
/// The host waits: for "host_all", "host_stream" or "host_event", which the facts name.
CUresult synchronise(const char* what, nlohmann::json facts = nlohmann::json::object());
/// Copies between host and device, by where the addresses are.
CUresult copy(const Box& to, const Box& from, const Given& given);
CUresult fill(const Box& to, std::uint64_t value, unsigned element, const Given& given);

struct LaunchOptions {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned cluster[3] = {0, 0, 0};  // 0: as the kernel says
  std::size_t shared_bytes = 0;
  std::uint64_t stream = 0;
  bool programmatic = false;
  bool cooperative = false;
};
CUresult launch(Kernel& kernel, const LaunchOptions& options, void** parameters, void** extra);
/// Takes the attributes of a launch into its options.
CUresult take_attributes(std::span<const LaunchAttribute> attributes, LaunchOptions& options);

}  // namespace warptwin::cuda
