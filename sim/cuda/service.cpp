#include "sim/cuda/service.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace warptwin::cuda {

namespace {

using nlohmann::json;

constexpr int kInvalidValue = 1;
constexpr int kNotFound = 500;

std::uint64_t number(const json& request, const char* name) {
  return request.at(name).get<std::uint64_t>();
}

ptx::Extent3 extent(const json& value) {
  return {value.at(0).get<std::uint32_t>(),
          value.at(1).get<std::uint32_t>(),
          value.at(2).get<std::uint32_t>()};
}

}  // namespace

Service::Service(json chip, std::string target, Launcher launcher, Listener gave_up)
    : chip_(std::move(chip)),
      device_{std::move(target)},
      launcher_{std::move(launcher)},
      gave_up_{std::move(gave_up)} {}

Message Service::answer(const Message& message) {
  const json& request = message.header;
  Message reply;
  reply.header = json::object();
  const std::string what = request.value("do", "");
  try {
    if (what == "hello") {
      if (request.value("version", 0) == kWireVersion) {
        reply.header["chip"] = chip_;
      }
    } else if (what == "allocate") {
      reply.header["address"] = device_.allocate(number(request, "bytes"));
    } else if (what == "attach") {
      device_.attach(number(request, "address"), number(request, "bytes"));
    } else if (what == "free") {
      reply.header["error"] = device_.free(number(request, "address")) ? 0 : kInvalidValue;
    } else if (what == "load") {
      reply.header = load(message);
    } else if (what == "unload") {
      device_.unload(number(request, "module"));
    } else if (what == "kernel") {
      reply.header = kernel(request);
    } else if (what == "launch") {
      reply.header = launch(request, message);
    } else if (what == "synchronise") {
      device_.unfinished.clear();
    } else if (what == "give_up") {
      gave_up_(request.at("why").get<std::string>());
    } else if (what != "nothing") {
      reply.header = access(request, message, reply.bytes);
    }
  } catch (const json::exception& error) {
    // Only another build of the libraries asks so.
    reply.header = {{"why", std::string{"a request that is none: "} + error.what()}};
  } catch (const ConfigError& error) {
    reply.header = {{"why", error.what()}};
  }
  return reply;
}

json Service::access(const json& request, const Message& message, std::vector<std::byte>& bytes) {
  const std::string what = request.value("do", "");
  const json wrong = {{"error", kInvalidValue}};
  if (what == "write") {
    std::byte* to = device_.at(number(request, "address"), message.bytes.size());
    if (to == nullptr) {
      return wrong;
    }
    std::memcpy(to, message.bytes.data(), message.bytes.size());
  } else if (what == "read") {
    const std::uint64_t size = number(request, "bytes");
    const std::byte* from = device_.at(number(request, "address"), size);
    if (from == nullptr) {
      return wrong;
    }
    bytes.assign(from, from + size);
  } else if (what == "copy") {
    const std::uint64_t size = number(request, "bytes");
    std::byte* to = device_.at(number(request, "to"), size);
    const std::byte* from = device_.at(number(request, "from"), size);
    if (to == nullptr || from == nullptr) {
      return wrong;
    }
    std::memmove(to, from, size);
  } else if (what == "fill") {
    const std::uint64_t width = number(request, "width");
    const std::uint64_t count = number(request, "count");
    const std::uint64_t value = number(request, "value");
    if (width > sizeof value || count > (std::uint64_t{1} << 40)) {
      return wrong;
    }
    std::byte* to = device_.at(number(request, "address"), width * count);
    if (to == nullptr) {
      return wrong;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      std::memcpy(to + i * width, &value, width);
    }
  } else {
    return {{"why", "there is no request '" + what + "'"}};
  }
  return {{"error", 0}};
}

json Service::load(const Message& message) {
  const std::size_t number = device_.load(message.bytes);
  const Module& module = device_.module(number);
  json variables = json::object();
  for (const ptx::Variable& variable : module.read.variables) {
    const auto place = module.variables.find(variable.name);
    if (place != module.variables.end()) {
      variables[std::string{variable.name}] = {place->second, variable.bytes()};
    }
  }
  return {{"module", number}, {"variables", variables}};
}

json Service::kernel(const json& request) {
  const std::size_t number = request.at("module").get<std::size_t>();
  const std::string name = request.at("name").get<std::string>();
  const ptx::Function* found = nullptr;
  for (const ptx::Function& function : device_.module(number).read.functions) {
    if (function.is_entry && function.name == name) {
      found = &function;
    }
  }
  if (found == nullptr) {
    return {{"error", kNotFound}};
  }
  std::shared_ptr<const ptx::Kernel> kernel;
  try {
    kernel = device_.kernel(number, name);
  } catch (const std::exception& error) {
    return {{"why", "kernel " + name + " cannot be read: " + error.what()}};
  }
  json parameters = json::array();
  for (const ptx::Variable& variable : kernel->function().prototype.parameters) {
    parameters.push_back({kernel->parameter_offset(variable), variable.bytes()});
  }
  const ptx::Directives& directives = kernel->function().directives;
  const std::uint32_t* threads = directives.required_threads[0] != 0 ? directives.required_threads
                                                                     : directives.maximal_threads;
  const std::uint32_t most =
      threads[0] == 0 ? 1024 : threads[0] * std::max(threads[1], 1U) * std::max(threads[2], 1U);
  return {{"parameters", parameters},
          {"parameter_bytes", kernel->parameter_bytes()},
          {"threads_max", most},
          {"static_shared", kernel->shared_end() - sim::kSharedBase},
          {"local_bytes", kernel->local_bytes()},
          {"ptx_version", kernel->program().module().version},
          {"registers", directives.registers_max},
          {"cluster", directives.cluster}};
}

json Service::launch(const json& request, const Message& message) {
  LaunchRequest launch;
  launch.module = request.at("module").get<std::size_t>();
  launch.kernel = request.at("kernel").get<std::string>();
  launch.shape.grid = extent(request.at("grid"));
  launch.shape.block = extent(request.at("block"));
  launch.shape.cluster = extent(request.at("cluster"));
  launch.shape.dynamic_shared_bytes = request.at("shared_bytes").get<std::uint32_t>();
  launch.stream = request.value("stream", std::uint64_t{0});
  launch.follows_early = request.value("programmatic", false);
  launch.parameters = message.bytes;
  const LaunchResult result = launcher_(device_, launch);
  return {{"error", result.error}, {"sticky", result.error != 0}};
}

}  // namespace warptwin::cuda
