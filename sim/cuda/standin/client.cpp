#include "sim/cuda/standin/client.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

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

namespace {

// What to do without functions that have this in their name.
constexpr std::pair<const char*, const char*> kInstead[] = {
    {"Graph", "graphs are not simulated: give the work to a stream"},
    {"Capture", "graphs are not simulated: give the work to a stream"},
    {"Peer", "there is one device, and no other to reach from it"},
    {"Ipc", "memory of other processes is not simulated"},
    {"Array", "arrays and textures are not simulated: use cudaMalloc and plain loads"},
    {"Channel", "arrays and textures are not simulated: use cudaMalloc and plain loads"},
    {"Tex", "arrays and textures are not simulated: use cudaMalloc and plain loads"},
    {"Surf", "arrays and textures are not simulated: use cudaMalloc and plain loads"},
    {"MemAddress", "virtual memory is not simulated: use cudaMalloc"},
    {"MemCreate", "virtual memory is not simulated: use cudaMalloc"},
    {"MemMap", "virtual memory is not simulated: use cudaMalloc"},
    {"Link", "the linker of the driver is not simulated: load the PTX of one module"},
};

std::string instead_of(const std::string& name) {
  for (const auto& [part, instead] : kInstead) {
    if (name.find(part) != std::string::npos) {
      return std::string{": "} + instead;
    }
  }
  return "";
}

}  // namespace

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
          (why.empty() ? instead_of(name) + "; 'warptwin cuda --list' prints the functions that are"
                       : ": " + why));
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
  watch(answer.header);
  return error;
}

Message Client::order(const char* what, nlohmann::json facts) {
  facts["do"] = "order";
  facts["what"] = what;
  Message answer = ask(facts);
  watch(answer.header);
  return answer;
}

static std::size_t hash_of(CUdeviceptr address, std::size_t bytes) {
  return std::hash<std::string_view>{}(
      {reinterpret_cast<const char*>(address), bytes});  // NOLINT: the host's
}

// What an answer says of the host's bytes: which are to be watched, and whose work has ended.
void Client::watch(const nlohmann::json& answer) {
  for (const auto& each : answer.value("watch", nlohmann::json::array())) {
    const CUdeviceptr address = each.at(1);
    const std::size_t bytes = each.at(2);
    watches_[each.at(0)] = {address, bytes, hash_of(address, bytes)};
  }
  for (const auto& each : answer.value("settled", nlohmann::json::array())) {
    const auto found = watches_.find(each.get<std::uint64_t>());
    if (found != watches_.end()) {
      end_watch(found->first, found->second);
      watches_.erase(found);
    }
  }
}

void Client::end_watch(std::uint64_t number, const Watch& watch) {
  const bool changed = hash_of(watch.address, watch.bytes) != watch.hash;
  ask({{"do", "order"}, {"what", "watched"}, {"number", number}, {"changed", changed}});
}

// Other work's change is not the host's: what is watched there goes on from it.
void Client::change_host(const Box& box, const std::function<void()>& f) {
  const CUdeviceptr end =
      box.address + (box.planes - 1) * box.plane_pitch + (box.rows - 1) * box.pitch + box.width;
  std::vector<Watch*> unchanged;
  for (auto& [number, watch] : watches_) {
    if (watch.address < end && box.address < watch.address + watch.bytes &&
        hash_of(watch.address, watch.bytes) == watch.hash) {
      unchanged.push_back(&watch);
    }
  }
  f();
  for (Watch* watch : unchanged) {
    watch->hash = hash_of(watch->address, watch->bytes);
  }
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

static nlohmann::json json_of(const Box& box) {
  return {box.address, box.width, box.rows, box.pitch, box.planes, box.plane_pitch};
}

void Client::push_host_memory() {
  for (const auto& [address, range] : host_ranges) {
    const auto* from = reinterpret_cast<const std::byte*>(address);  // NOLINT
    ask({{"do", "write"}, {"to", json_of({address, range.bytes})}}, {from, range.bytes});
  }
}

void Client::pull_host_memory(const nlohmann::json& ranges) {
  for (const auto& range : ranges) {
    const Box box{range.at(0), range.at(1)};
    const Message answer = ask({{"do", "read"}, {"from", json_of(box)}});
    change_host(box, [&] {
      std::memcpy(reinterpret_cast<void*>(box.address),  // NOLINT
                  answer.bytes.data(),
                  answer.bytes.size());
    });
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
  loaded->kernel_names = answer.header.at("kernels").get<std::vector<std::string>>();
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
    // Parameters begin at this byte of the constant bank (PARAM_CBANK of ptxas), and are aligned
    // there.
    const std::size_t bank = Client::get().chip("major") >= 10 ? 0x380 : 0x210;
    std::size_t at = bank;
    for (const auto& parameter : facts.at("parameters")) {
      const std::size_t bytes = parameter.at(1);
      const std::size_t alignment = parameter.at(2);
      at = (at + alignment - 1) / alignment * alignment;
      kernel->parameters.push_back({parameter.at(0), bytes, at - bank});
      at += bytes;
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

CUresult synchronise(const char* what, nlohmann::json facts) {
  Client& client = Client::get();
  if (client.sticky() == kSuccess) {
    client.order(what, std::move(facts));
  }
  return client.sticky();
}

namespace {

// Calls `f(row)` with the address of each row of a box on the host.
void for_each_row(const Box& box, const std::function<void(std::byte*)>& f) {
  for (std::size_t plane = 0; plane < box.planes; ++plane) {
    for (std::size_t row = 0; row < box.rows; ++row) {
      f(reinterpret_cast<std::byte*>(box.address + plane * box.plane_pitch +  // NOLINT
                                     row * box.pitch));
    }
  }
}

// Whether kernels see the host's memory there: a copy from or to it goes on behind the call.
bool seen_by_kernels(const Box& box) {
  const auto& ranges = Client::get().host_ranges;
  auto found = ranges.upper_bound(box.address);
  return found != ranges.begin() && box.address - (--found)->first < found->second.bytes;
}

nlohmann::json request_of(const char* what, const Given& given) {
  return {{"do", what}, {"stream", given.stream}, {"waits", given.waits}};
}

CUresult copy_on_host(const Box& to, const Box& from) {
  std::vector<std::byte> all;
  all.reserve(from.bytes());
  for_each_row(from, [&](const std::byte* row) { all.insert(all.end(), row, row + from.width); });
  const std::byte* next = all.data();
  Client::get().change_host(to, [&] {
    for_each_row(to, [&](std::byte* row) {
      std::memcpy(row, next, to.width);
      next += to.width;
    });
  });
  return kSuccess;
}

}  // namespace

CUresult copy(const Box& to, const Box& from, const Given& given) {
  Client& client = Client::get();
  if (to.bytes() == 0 || client.sticky() != kSuccess) {
    return client.sticky();
  }
  if (to.address == 0 || from.address == 0) {
    return kInvalidValue;
  }
  if (!is_device(to.address) && !is_device(from.address)) {
    return copy_on_host(to, from);
  }
  if (is_device(to.address) && is_device(from.address)) {
    // The host does not wait for a copy on the device.
    nlohmann::json request = request_of("copy", {given.stream, false});
    request["to"] = json_of(to);
    request["from"] = json_of(from);
    return client.result_of(client.ask(request));
  }
  if (is_device(to.address)) {
    nlohmann::json request = request_of("write", given);
    request["to"] = json_of(to);
    if (seen_by_kernels(from)) {
      request["host"] = json_of(from);
    } else {
      request["pageable"] = true;
    }
    std::vector<std::byte> bytes;
    if (from.rows * from.planes == 1) {
      const auto* row = reinterpret_cast<const std::byte*>(from.address);  // NOLINT
      return client.result_of(client.ask(request, {row, from.width}));
    }
    bytes.reserve(from.bytes());
    for_each_row(from,
                 [&](const std::byte* row) { bytes.insert(bytes.end(), row, row + from.width); });
    return client.result_of(client.ask(request, bytes));
  }
  // The call of an asynchronous one to memory that is not pinned "might be synchronous with respect
  // to the host" (CUDA, "API synchronization behavior"), so it tells the host nothing.
  nlohmann::json request = request_of("read", given);
  request["from"] = json_of(from);
  if (seen_by_kernels(to)) {
    request["host"] = json_of(to);
  }
  const Message answer = client.ask(request);
  if (answer.bytes.size() == to.bytes()) {
    const std::byte* next = answer.bytes.data();
    client.change_host(to, [&] {
      for_each_row(to, [&](std::byte* row) {
        std::memcpy(row, next, to.width);
        next += to.width;
      });
    });
  }
  return client.result_of(answer);
}

CUresult fill(const Box& to, std::uint64_t value, unsigned element, const Given& given) {
  Client& client = Client::get();
  if (to.bytes() == 0 || client.sticky() != kSuccess) {
    return client.sticky();
  }
  if (to.address == 0) {
    return kInvalidValue;
  }
  if (is_device(to.address)) {
    // The host does not wait for a fill on the device.
    nlohmann::json request = request_of("fill", {given.stream, false});
    request["to"] = json_of(to);
    request["value"] = value;
    request["element"] = element;
    return client.result_of(client.ask(request));
  }
  for_each_row(to, [&](std::byte* row) {
    for (std::size_t at = 0; at < to.width; at += element) {
      std::memcpy(row + at, &value, element);
    }
  });
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

}  // extern "C"
