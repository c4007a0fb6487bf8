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

// [address, width, rows, pitch, planes, pitch of planes]
Box box(const json& value) {
  const auto at = [&](std::size_t i) { return value.at(i).get<std::uint64_t>(); };
  return {at(0), at(1), at(2), at(3), at(4), at(5)};
}

ByteRanges ranges(const Box& box) {
  ByteRanges all;
  for (std::uint64_t plane = 0; plane < box.planes; ++plane) {
    for (std::uint64_t row = 0; row < box.rows; ++row) {
      const std::uint64_t first = box.address + plane * box.plane_pitch + row * box.pitch;
      all.add(ByteRange{first, first + box.width});
    }
  }
  return all;
}

// The host's side of a copy, where kernels see it too.
ByteRanges host(const json& request) {
  return request.contains("host") ? ranges(box(request.at("host"))) : ByteRanges{};
}

ptx::Extent3 extent(const json& value) {
  return {value.at(0).get<std::uint32_t>(),
          value.at(1).get<std::uint32_t>(),
          value.at(2).get<std::uint32_t>()};
}

}  // namespace

Service::Service(json chip, std::string target, Launcher launcher, ServiceListeners listeners)
    : chip_(std::move(chip)),
      device_{std::move(target)},
      launcher_{std::move(launcher)},
      listeners_{std::move(listeners)} {}

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
      const std::uint64_t bytes = number(request, "bytes");
      const std::uint64_t address = device_.allocate(bytes);
      reply.header["address"] = address;
      if (address != 0 && request.contains("stream")) {
        take_work({"an allocation", number(request, "stream"), {{}, ranges({address, bytes}), {}}});
      }
    } else if (what == "attach") {
      device_.attach(number(request, "address"), number(request, "bytes"));
    } else if (what == "free") {
      reply.header = free(request);
    } else if (what == "load") {
      reply.header = load(message);
    } else if (what == "unload") {
      device_.unload(number(request, "module"));
    } else if (what == "kernel") {
      reply.header = kernel(request);
    } else if (what == "launch") {
      reply.header = launch(request, message);
    } else if (what == "order") {
      reply.header = order(request);
    } else if (what == "give_up") {
      listeners_.gave_up(request.at("why").get<std::string>());
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

// Without a stream it is a call for which the host waits, and so for all that came before.
json Service::free(const json& request) {
  const std::uint64_t address = number(request, "address");
  const auto region = device_.regions().find(address);
  json reply = json::object();
  if (request.contains("stream") && region != device_.regions().end()) {
    take_work({"the end of " + region->second.name,
               number(request, "stream"),
               {{}, ranges({address, region->second.bytes.size()}), {}}});
  } else {
    order_.host_waits_for_all();
    reply["settled"] = settled([](const auto&) { return true; });
  }
  reply["error"] = device_.free(address) ? 0 : kInvalidValue;
  return reply;
}

json Service::access(const json& request, const Message& message, std::vector<std::byte>& bytes) {
  const std::string what = request.value("do", "");
  const json wrong = {{"error", kInvalidValue}};
  json reply = {{"error", 0}};
  if (what == "write") {
    const Box to = box(request.at("to"));
    const std::vector<std::byte*> rows = device_.rows_of(to);
    if (rows.empty() || message.bytes.size() != to.bytes()) {
      return wrong;
    }
    const std::byte* from = message.bytes.data();
    for (std::byte* row : rows) {
      std::memcpy(row, from, to.width);
      from += to.width;
    }
    take_copy(request, "to the device", {host(request), ranges(to), {}}, reply);
  } else if (what == "read") {
    const Box from = box(request.at("from"));
    const std::vector<std::byte*> rows = device_.rows_of(from);
    if (rows.empty()) {
      return wrong;
    }
    bytes.reserve(from.bytes());
    for (const std::byte* row : rows) {
      bytes.insert(bytes.end(), row, row + from.width);
    }
    take_copy(request, "to the host", {ranges(from), host(request), {}}, reply);
  } else if (what == "copy") {
    const Box to = box(request.at("to"));
    const Box from = box(request.at("from"));
    const std::vector<std::byte*> targets = device_.rows_of(to);
    const std::vector<std::byte*> sources = device_.rows_of(from);
    if (targets.empty() || targets.size() != sources.size() || to.width != from.width) {
      return wrong;
    }
    for (std::size_t row = 0; row < targets.size(); ++row) {
      std::memmove(targets[row], sources[row], to.width);
    }
    take_copy(request, "on the device", {ranges(from), ranges(to), {}}, reply);
  } else if (what == "fill") {
    const Box to = box(request.at("to"));
    const std::uint64_t element = number(request, "element");
    const std::uint64_t value = number(request, "value");
    const std::vector<std::byte*> rows = device_.rows_of(to);
    if (rows.empty() || element == 0 || element > sizeof value || to.width % element != 0) {
      return wrong;
    }
    for (std::byte* row : rows) {
      for (std::uint64_t at = 0; at < to.width; at += element) {
        std::memcpy(row + at, &value, element);
      }
    }
    take_copy(request, "a fill", {{}, ranges(to), {}}, reply);
  } else {
    return {{"why", "there is no request '" + what + "'"}};
  }
  return reply;
}

// What is given to no stream brings what the host has written to where kernels see it: no work.
void Service::take_copy(const json& request, const char* what, Touched touched, json& reply) {
  if (!request.contains("stream")) {
    return;
  }
  const bool pageable = request.value("pageable", false);
  const Work work{"copy " + std::to_string(++copies_) + " (" + what +
                      (pageable ? ", from memory that is not pinned)" : ")"),
                  number(request, "stream"),
                  std::move(touched)};
  // "The memory areas may not overlap" (CUDA, "cudaMemcpy"). Onto itself, nothing changes.
  const Touched& bytes = work.touched;
  const auto both = meet(bytes.read, bytes.written);
  if (both && bytes.read != bytes.written) {
    listeners_.raced(work.name + " reads and writes " +
                     device_.name_of(both->lower(), both->upper() - both->lower()) +
                     "; the two areas of a copy may not overlap");
  }
  const auto wait = [&] {
    reply["settled"] = order({{"what", "host_stream"}, {"stream", work.stream}}).at("settled");
  };
  // "A stream sync is performed before the copy is initiated", and when the call returns "the DMA
  // to final destination may not have completed" (CUDA, "API synchronization behavior").
  const bool waits = request.value("waits", false);
  if (waits && pageable) {
    wait();
  }
  take_work(work);
  if (waits && !pageable) {
    wait();
  } else if (request.contains("host")) {
    reply["watch"] = watch(work);
  }
}

void Service::take_work(const Work& work) {
  for (const StreamRace& race : order_.add(work)) {
    listeners_.raced(text_of(race));
  }
}

std::string Service::text_of(const StreamRace& race) const {
  const std::uint64_t first = race.bytes.lower();
  return race.second + (race.second_writes ? " writes " : " reads ") +
         device_.name_of(first, race.bytes.upper() - first) + ", which " + race.first +
         (race.first_writes ? " writes" : " reads") +
         (race.untold.empty()
              ? ""
              : "; " + race.untold + " begins early and does not wait, so its end tells nothing") +
         "; no stream, no event and no wait of the host orders the two";
}

// The program's side looks whether these bytes have changed when the work has ended. Until then the
// host may not write them, and not read those that the work writes.
json Service::watch(const Work& work) {
  json all = json::array();
  ByteRanges touched = work.touched.read;
  touched += work.touched.written;
  touched += work.touched.updated;
  for (const ByteRange& range : touched) {
    const auto region = device_.regions().find(device_.region_of(range.lower()));
    if (region != device_.regions().end() && region->second.of_host) {
      watched_[++watches_] = {order_.mark(work.stream),
                              work.name,
                              device_.name_of(range.lower(), range.upper() - range.lower())};
      all.push_back({watches_, range.lower(), range.upper() - range.lower()});
    }
  }
  return all;
}

json Service::settled(const std::function<bool(const StreamOrder::Mark&)>& done) {
  json numbers = json::array();
  for (const auto& [number, watched] : watched_) {
    if (done(watched.mark)) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

json Service::order(const json& request) {
  const std::string what = request.at("what").get<std::string>();
  const auto known = [&](const StreamOrder::Mark& mark) { return order_.host_knows(mark); };
  if (what == "create") {
    order_.create(number(request, "stream"), request.at("blocking").get<bool>());
  } else if (what == "destroy") {
    order_.destroy(number(request, "stream"));
  } else if (what == "record") {
    order_.record(number(request, "event"), number(request, "stream"));
  } else if (what == "measures") {
    measures_ = true;
  } else if (what == "elapsed") {
    return {
        {"microseconds", order_.microseconds(number(request, "first"), number(request, "last"))},
        {"says", chip_.value("times", "")}};
  } else if (what == "forget") {
    order_.forget(number(request, "event"));
  } else if (what == "wait") {
    order_.wait(number(request, "stream"), number(request, "event"));
  } else if (what == "asks_event") {
    return {{"done", order_.host_asks_for_event(number(request, "event"))}};
  } else if (what == "asks_stream") {
    return {{"done", order_.host_asks_for_stream(number(request, "stream"))}};
  } else if (what == "host_event") {
    order_.host_waits_for_event(number(request, "event"));
    return {{"settled", settled(known)}};
  } else if (what == "host_stream") {
    order_.host_waits_for_stream(number(request, "stream"));
    return {{"settled", settled(known)}};
  } else if (what == "host_all") {
    order_.host_waits_for_all();
    return {{"settled", settled(known)}};
  } else if (what == "callback") {
    // It may touch what its stream has done with.
    const std::uint64_t stream = number(request, "stream");
    return {{"settled", settled([&](const StreamOrder::Mark& mark) {
               return order_.stream_knows(stream, mark);
             })}};
  } else if (what == "watched") {
    const auto found = watched_.find(number(request, "number"));
    if (found != watched_.end() && request.at("changed").get<bool>()) {
      listeners_.raced("the host writes " + found->second.bytes + ", which " + found->second.work +
                       " uses, before it has waited for it");
    }
    watched_.erase(number(request, "number"));
  } else {
    return {{"why", "there is no order '" + what + "'"}};
  }
  return json::object();
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
  json kernels = json::array();
  for (const ptx::Function& function : module.read.functions) {
    if (function.is_entry) {
      kernels.push_back(function.name);
    }
  }
  return {{"module", number}, {"variables", variables}, {"kernels", kernels}};
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
    parameters.push_back(
        {kernel->parameter_offset(variable), variable.bytes(), variable.aligned_to()});
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
  launch.shape.cooperative = request.value("cooperative", false);
  const std::uint64_t stream = request.value("stream", std::uint64_t{0});
  launch.stream = stream == 1 ? 0 : stream;  // both are the legacy default stream
  launch.follows_early =
      request.value("programmatic", false) && order_.may_begin_early(launch.stream);
  launch.measured = measures_;
  launch.parameters = message.bytes;
  const LaunchResult result = launcher_(device_, launch);
  const Work work{result.name,
                  launch.stream,
                  result.touched,
                  result.microseconds,
                  true,
                  launch.follows_early,
                  result.waits};
  take_work(work);
  json written = json::array();
  ByteRanges writes = result.touched.written;
  writes += result.touched.updated;
  for (const ByteRange& range : writes) {
    const auto region = device_.regions().find(device_.region_of(range.lower()));
    if (region != device_.regions().end() && region->second.of_host) {
      written.push_back({range.lower(), range.upper() - range.lower()});
    }
  }
  return {{"error", result.error},
          {"sticky", result.error != 0},
          {"written", written},
          {"watch", watch(work)}};
}

}  // namespace warptwin::cuda
