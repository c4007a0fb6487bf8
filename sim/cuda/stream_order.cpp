#include "sim/cuda/stream_order.hpp"

#include <algorithm>
#include <optional>

namespace warptwin::cuda {

std::optional<ByteRange> meet(const ByteRanges& one, const ByteRanges& other) {
  const bool first_is_smaller = one.iterative_size() < other.iterative_size();
  const ByteRanges& few = first_is_smaller ? one : other;
  const ByteRanges& many = first_is_smaller ? other : one;
  for (const ByteRange& range : few) {
    const auto found = many.find(range);
    if (found != many.end()) {
      return range & *found;
    }
  }
  return std::nullopt;
}

namespace {

constexpr std::uint64_t kLegacy = 0;

// How two pieces of work that nothing orders disturb each other.
std::optional<StreamRace> race_of(const Touched& first, const Touched& second) {
  struct Pair {
    const ByteRanges& first;
    const ByteRanges& second;
    bool first_writes;
    bool second_writes;
  };
  const Pair pairs[] = {{first.written, second.written, true, true},
                        {first.written, second.read, true, false},
                        {first.read, second.written, false, true},
                        {first.written, second.updated, true, true},
                        {first.updated, second.written, true, true},
                        {first.read, second.updated, false, true},
                        {first.updated, second.read, true, false}};
  for (const Pair& pair : pairs) {
    if (const auto bytes = meet(pair.first, pair.second)) {
      return StreamRace{"", "", pair.first_writes, pair.second_writes, *bytes, ""};
    }
  }
  return std::nullopt;
}

}  // namespace

void StreamOrder::join(Clock& clock, const Clock& other) {
  for (const auto& [stream, number] : other.ended) {
    std::uint64_t& known = clock.ended[stream];
    known = std::max(known, number);
  }
  clock.microseconds = std::max(clock.microseconds, other.microseconds);
}

bool StreamOrder::knows(const Clock& clock, const Mark& mark) {
  const auto found = clock.ended.find(mark.stream);
  return mark.number == 0 || (found != clock.ended.end() && found->second >= mark.number);
}

void StreamOrder::create(std::uint64_t stream, bool blocking) {
  streams_[stream] = {++numbers_, blocking, {}, {}, 0};
}

// Handles 0 and 1 are the legacy default stream, 2 is that of a thread: it blocks as a created one.
StreamOrder::Stream& StreamOrder::at(std::uint64_t handle) {
  const auto [found, added] = streams_.try_emplace(handle <= 1 ? kLegacy : handle);
  if (added && handle > 1) {
    found->second.number = ++numbers_;
  }
  return found->second;
}

// The stream, told of all that its next work comes behind.
StreamOrder::Stream& StreamOrder::enter(std::uint64_t handle) {
  Stream& legacy = at(kLegacy);
  Stream& stream = at(handle);
  join(stream.clock, host_);
  if (&stream == &legacy) {
    for (const auto& [unused, other] : streams_) {
      if (other.blocking && &other != &legacy) {
        join(legacy.clock, other.clock);
      }
    }
  } else if (stream.blocking) {
    join(stream.clock, legacy.clock);
  }
  return stream;
}

void StreamOrder::record(std::uint64_t event, std::uint64_t stream) {
  events_[event] = enter(stream).clock;
}

void StreamOrder::wait(std::uint64_t stream, std::uint64_t event) {
  const auto found = events_.find(event);
  if (found != events_.end()) {
    join(enter(stream).clock, found->second);
  }
}

void StreamOrder::host_waits_for_event(std::uint64_t event) {
  const auto found = events_.find(event);
  if (found != events_.end()) {
    join(host_, found->second);
  }
}

// What the legacy stream was given since is nothing that another stream has to come behind yet.
void StreamOrder::host_waits_for_stream(std::uint64_t stream) {
  join(host_, stream <= 1 ? enter(stream).clock : at(stream).clock);
}

bool StreamOrder::host_asks(Clock& told, const Clock& done) {
  const bool known = std::all_of(done.ended.begin(), done.ended.end(), [&](const auto& one) {
    return knows(host_, {one.first, one.second});
  });
  if (known || told.ended == done.ended) {
    join(host_, done);
    return true;
  }
  told = done;
  return false;
}

bool StreamOrder::host_asks_for_stream(std::uint64_t stream) {
  return host_asks(asked_streams_[stream], stream <= 1 ? enter(stream).clock : at(stream).clock);
}

bool StreamOrder::host_asks_for_event(std::uint64_t event) {
  const auto found = events_.find(event);
  return found == events_.end() || host_asks(asked_events_[event], found->second);
}

void StreamOrder::host_waits_for_all() {
  for (const auto& [unused, stream] : streams_) {
    join(host_, stream.clock);
  }
  // Streams that are gone have their work done, too.
  for (const Access& access : accesses_) {
    join(host_, {{{access.mark.stream, access.mark.number}}, 0});
  }
  accesses_.clear();
}

double StreamOrder::microseconds(std::uint64_t first, std::uint64_t last) const {
  const auto begin = events_.find(first);
  const auto end = events_.find(last);
  return begin == events_.end() || end == events_.end()
             ? 0
             : end->second.microseconds - begin->second.microseconds;
}

StreamOrder::Mark StreamOrder::mark(std::uint64_t stream) {
  const Stream& entered = enter(stream);
  const auto found = entered.clock.ended.find(entered.number);
  return {entered.number, found == entered.clock.ended.end() ? 0 : found->second};
}

bool StreamOrder::stream_knows(std::uint64_t stream, const Mark& mark) {
  return knows(enter(stream).clock, mark);
}

// Who is not ordered behind an access is not ordered behind a later one of the same stream either.
void StreamOrder::drop_covered(const Access& latest) {
  const auto within = [](const ByteRanges& part, const ByteRanges& whole) {
    return boost::icl::within(part, whole);
  };
  std::erase_if(accesses_, [&](const Access& access) {
    return access.mark.stream == latest.mark.stream &&
           within(access.touched.read, latest.touched.read) &&
           within(access.touched.written, latest.touched.written) &&
           within(access.touched.updated, latest.touched.updated);
  });
}

bool StreamOrder::may_begin_early(std::uint64_t handle) {
  const Stream& stream = at(handle);
  return !stream.chain.empty() && !host_knows(stream.chain.back().mark);
}

static std::string named(const std::string& name, std::uint32_t stream) {
  return name + (stream == 0 ? " in the default stream" : " in stream " + std::to_string(stream));
}

// `griddepcontrol.wait` waits for "all prerequisite grids", which is the launch before. One that
// begins early and does not wait may have ended before those in front of it have.
void StreamOrder::take_chained(Stream& stream,
                               const Work& work,
                               bool early,
                               std::vector<StreamRace>& races) {
  if (!early || !work.launched) {
    stream.chain.clear();
    stream.untold = 0;
  }
  for (std::size_t at = 0; at < stream.untold && work.waits; ++at) {
    const Access& access = stream.chain[at];
    if (auto race = race_of(access.touched, work.touched)) {
      race->first = named(access.name, stream.number);
      race->second = named(work.name, stream.number);
      race->untold = stream.chain[stream.untold].name;
      races.push_back(std::move(*race));
    }
  }
  if (!work.waits) {
    stream.untold = stream.chain.size();
  }
}

std::vector<StreamRace> StreamOrder::add(const Work& work) {
  const bool early = work.early && may_begin_early(work.stream);
  std::erase_if(accesses_, [&](const Access& access) { return host_knows(access.mark); });
  Stream& stream = enter(work.stream);
  std::vector<StreamRace> races;
  for (const Access& access : accesses_) {
    // Words that both update may hand over what lies between: who has come first is then known.
    if (knows(stream.clock, access.mark) ||
        meet(access.touched.updated, work.touched.updated).has_value()) {
      continue;
    }
    if (auto race = race_of(access.touched, work.touched)) {
      race->first = named(access.name, access.mark.stream);
      race->second = named(work.name, stream.number);
      races.push_back(std::move(*race));
    }
  }
  take_chained(stream, work, early, races);
  stream.clock.microseconds += work.microseconds;
  Access access{{stream.number, ++stream.clock.ended[stream.number]}, work.name, work.touched};
  drop_covered(access);
  if (work.launched) {
    stream.chain.push_back(access);
  }
  accesses_.push_back(std::move(access));
  return races;
}

}  // namespace warptwin::cuda
