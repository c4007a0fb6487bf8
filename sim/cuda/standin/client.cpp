#include "sim/cuda/standin/client.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sim/cuda/fat_binary.hpp"

namespace warptwin::cuda {

namespace {

constexpr CUdeviceptr kDeviceFirst = CUdeviceptr{0x2000} << 32;
constexpr CUdeviceptr kDeviceEnd = CUdeviceptr{0x3000} << 32;

[[noreturn]] void end_program() {
  std::fflush(nullptr);
  std::_Exit(2);
}

}  // namespace

Turn::Turn() : lock_{Client::get().mutex()} {}

// Never destroyed: a program's own destructors may still call CUDA.
Client& Client::get() {
  static Client* client = new Client;  // NOLINT
  return *client;
}

void give_up(const std::string& why) {
  std::fflush(stdout);
  std::fprintf(stderr, "warptwin: %s\n", why.c_str());
  Client::get().ask({{"do", "give_up"}, {"why", why}});
  end_program();
}

void missing(const char* name, const void* caller, const std::string& why) {
  Dl_info info{};
  std::string by = "somebody";
  if (caller != nullptr && dladdr(caller, &info) != 0 && info.dli_fname != nullptr) {
    char text[64];
    std::snprintf(text,
                  sizeof text,
                  "+0x%zx",
                  static_cast<std::size_t>(static_cast<const char*>(caller) -
                                           static_cast<const char*>(info.dli_fbase)));
    by = std::string{info.dli_fname} + text;
    if (info.dli_sname != nullptr) {
      by += " (" + std::string{info.dli_sname} + ")";
    }
  }
  give_up(std::string{name} + ", called by " + by + ", is not there" +
          (why.empty() ? "; 'warptwin cuda --list' prints the functions that are" : ": " + why));
}

void Client::connect() {
  process_ = static_cast<int>(::getpid());
  const char* path = std::getenv(kSocketVariable);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr || std::strlen(path) >= sizeof address.sun_path) {
    std::fprintf(stderr,
                 "warptwin: this stand-in for CUDA is for programs that 'warptwin cuda' runs\n");
    end_program();
  }
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0 ||
      ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::fprintf(stderr, "warptwin: 'warptwin cuda' is no longer there\n");
    end_program();
  }
  const Message hello = ask({{"do", "hello"}, {"version", kWireVersion}, {"process", process_}});
  if (!hello.header.contains("chip")) {
    std::fprintf(stderr, "warptwin: this stand-in for CUDA is of another build of warptwin\n");
    end_program();
  }
  chip_ = hello.header["chip"];
}

Message Client::ask(const nlohmann::json& request, std::span<const std::byte> bytes) {
  const std::lock_guard lock{mutex_};
  if (socket_ < 0) {
    connect();
  } else if (process_ != static_cast<int>(::getpid())) {
    std::fprintf(stderr,
                 "warptwin: a process uses CUDA that its parent has used before the fork; a GPU "
                 "does not have that either\n");
    end_program();
  }
  std::optional<Message> answer;
  if (send_message(socket_, request, bytes)) {
    answer = receive_message(socket_);
  }
  if (!answer) {
    std::fprintf(stderr, "warptwin: 'warptwin cuda' is no longer there\n");
    end_program();
  }
  return std::move(*answer);
}

CUresult Client::result_of(const Message& answer) {
  const CUresult error = answer.header.value("error", kSuccess);
  if (answer.header.value("sticky", false) && sticky_ == kSuccess) {
    sticky_ = error;
  }
  return error;
}

long long Client::chip(const char* name) {
  const std::lock_guard lock{mutex_};
  if (chip_.is_null()) {
    ask({{"do", "nothing"}});
  }
  return chip_.value(name, 0LL);
}

std::string Client::chip_name() {
  const std::lock_guard lock{mutex_};
  if (chip_.is_null()) {
    ask({{"do", "nothing"}});
  }
  return chip_.value("name", "");
}

void Client::push_host_memory() {
  for (const auto& [address, range] : host_ranges) {
    const auto* from = reinterpret_cast<const std::byte*>(address);  // NOLINT
    ask({{"do", "write"}, {"address", address}}, {from, range.bytes});
  }
}

void Client::pull_host_memory() {
  for (const auto& [address, range] : host_ranges) {
    const Message answer = ask({{"do", "read"}, {"address", address}, {"bytes", range.bytes}});
    std::memcpy(reinterpret_cast<void*>(address), answer.bytes.data(), answer.bytes.size());
  }
}

bool is_device(CUdeviceptr address) {
  return address >= kDeviceFirst && address < kDeviceEnd;
}

bool is_stream(CUstream handle) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  return number <= 2 || Client::get().streams.contains(handle);
}

CUresult load_library(const void* image, Library** library) {
  if (image == nullptr) {
    return kInvalidValue;
  }
  // The wrapper that nvcc registers, and what it holds.
  struct Wrapper {
    int magic;
    int version;
    const void* data;
    const void* names;
  };
  constexpr int kWrapperMagic = 0x466243b1;
  Wrapper wrapper{};
  std::memcpy(&wrapper.magic, image, sizeof wrapper.magic);
  if (wrapper.magic == kWrapperMagic) {
    std::memcpy(&wrapper, image, sizeof wrapper);
    image = wrapper.data;
  }
  std::size_t bytes = fat_binary_bytes(image);
  if (bytes == 0) {
    bytes = std::strlen(static_cast<const char*>(image));
    if (std::memcmp(image,
                    "\x7f"
                    "ELF",
                    4) == 0) {
      give_up(
          "the program loads a module of machine code alone; it needs PTX: a fat binary "
          "with code=compute_..., or text of PTX");
    }
  }
  Client& client = Client::get();
  const Message answer =
      client.ask({{"do", "load"}}, {static_cast<const std::byte*>(image), bytes});
  if (answer.header.contains("why")) {
    give_up(answer.header["why"].get<std::string>());
  }
  auto loaded = std::make_unique<Library>();
  loaded->number = answer.header.at("module");
  for (const auto& [name, place] : answer.header.at("variables").items()) {
    loaded->variables[name] = {place.at(0).get<CUdeviceptr>(), place.at(1).get<std::size_t>()};
  }
  *library = loaded.get();
  client.libraries.insert(std::move(loaded));
  return kSuccess;
}

CUresult kernel_of(Library& library, const std::string& name, Kernel** found) {
  std::unique_ptr<Kernel>& kernel = library.kernels[name];
  if (kernel == nullptr) {
    const Message answer =
        Client::get().ask({{"do", "kernel"}, {"module", library.number}, {"name", name}});
    const nlohmann::json& facts = answer.header;
    if (facts.contains("error")) {
      library.kernels.erase(name);
      return facts["error"];
    }
    if (facts.contains("why")) {
      give_up(facts["why"].get<std::string>());
    }
    kernel = std::make_unique<Kernel>();
    kernel->library = &library;
    kernel->name = name;
    for (const auto& parameter : facts.at("parameters")) {
      kernel->parameters.emplace_back(parameter.at(0), parameter.at(1));
    }
    kernel->parameter_bytes = facts.at("parameter_bytes");
    kernel->threads_max = facts.at("threads_max");
    kernel->static_shared = facts.at("static_shared");
    kernel->local_bytes = facts.at("local_bytes");
    kernel->ptx_version = facts.at("ptx_version");
    kernel->registers = facts.at("registers");
    for (int i = 0; i < 3; ++i) {
      kernel->cluster[i] = facts.at("cluster").at(static_cast<std::size_t>(i));
    }
    kernel->dynamic_shared_max = std::max(0, 49152 - kernel->static_shared);
  }
  *found = kernel.get();
  return kSuccess;
}

CUresult synchronise() {
  Client& client = Client::get();
  if (client.sticky() == kSuccess) {
    client.ask({{"do", "synchronise"}});
  }
  return client.sticky();
}

CUresult copy_bytes(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  Client& client = Client::get();
  if (bytes == 0) {
    return client.sticky();
  }
  if (client.sticky() != kSuccess) {
    return client.sticky();
  }
  auto* target = reinterpret_cast<void*>(to);                     // NOLINT
  const auto* source = reinterpret_cast<const std::byte*>(from);  // NOLINT
  if (is_device(to) && is_device(from)) {
    return client.result_of(
        client.ask({{"do", "copy"}, {"to", to}, {"from", from}, {"bytes", bytes}}));
  }
  if (is_device(to)) {
    return client.result_of(client.ask({{"do", "write"}, {"address", to}}, {source, bytes}));
  }
  if (is_device(from)) {
    const Message answer = client.ask({{"do", "read"}, {"address", from}, {"bytes", bytes}});
    if (answer.bytes.size() == bytes) {
      std::memcpy(target, answer.bytes.data(), bytes);
    }
    return client.result_of(answer);
  }
  std::memmove(target, source, bytes);
  return kSuccess;
}

}  // namespace warptwin::cuda

extern "C" {

WARPTWIN_CALL void warptwin_missing(const char* name, const void* caller, const char* why) {
  warptwin::cuda::missing(name, caller, why == nullptr ? "" : why);
}

WARPTWIN_CALL const warptwin::cuda::ErrorText* warptwin_error_text(int error) {
  return &warptwin::cuda::text_of(error);
}

WARPTWIN_CALL int warptwin_sticky_error() {
  return warptwin::cuda::Client::get().sticky();
}

WARPTWIN_CALL int warptwin_is_device(const void* address) {
  return warptwin::cuda::is_device(reinterpret_cast<warptwin::cuda::CUdeviceptr>(address)) ? 1 : 0;
}

WARPTWIN_CALL int warptwin_copy_2d(void* to,
                                   std::size_t to_pitch,
                                   const void* from,
                                   std::size_t from_pitch,
                                   std::size_t width,
                                   std::size_t height) {
  const warptwin::cuda::Turn turn;
  for (std::size_t row = 0; row < height; ++row) {
    const int error = warptwin::cuda::copy_bytes(
        reinterpret_cast<warptwin::cuda::CUdeviceptr>(to) + row * to_pitch,
        reinterpret_cast<warptwin::cuda::CUdeviceptr>(from) + row * from_pitch,
        width);
    if (error != warptwin::cuda::kSuccess) {
      return error;
    }
  }
  return warptwin::cuda::kSuccess;
}

}  // extern "C"
