/// What the host has ordered of the work that it gave to the device: launches, copies and fills.
/// Work of one stream is in order. Across streams it is ordered by events, by the legacy default
/// stream, and by what the host has waited for before it gave the work. Threads of the host are
/// taken as one.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/icl/interval_set.hpp>

namespace warptwin::cuda {

using ByteRange = boost::icl::right_open_interval<std::uint64_t>;
using ByteRanges = boost::icl::interval_set<std::uint64_t, std::less, ByteRange>;

/// The first bytes that are of both; none: there are none.
std::optional<ByteRange> meet(const ByteRanges& one, const ByteRanges& other);

/// What a piece of work does to memory.
struct Touched {
  ByteRanges read;
  ByteRanges written;
  ByteRanges updated;  // by atomics and flags, which do not race with each other
};

/// One that the host gave to a stream.
struct Work {
  std::string name;          // "launch 3 (scale)"
  std::uint64_t stream = 0;  // its handle: 0 and 1 are the legacy default stream
  Touched touched;
  double microseconds = 0;  // that it takes, simulated
  bool launched = false;    // a kernel
  bool early = false;       // that may begin before the one before it in its stream has ended
  bool waits = false;       // and waits for that
};

/// Two pieces of work that touch the same bytes, one of them writes, and nothing orders them.
struct StreamRace {
  std::string first;  // name and stream
  std::string second;
  bool first_writes = false;
  bool second_writes = false;
  ByteRange bytes;     // the first that both touch
  std::string untold;  // a launch between the two whose end does not tell of the first; empty: none
};

class StreamOrder {
 public:
  /// `blocking`: it takes turns with the legacy default stream.
  void create(std::uint64_t stream, bool blocking);
  void destroy(std::uint64_t stream) { streams_.erase(stream); }

  void record(std::uint64_t event, std::uint64_t stream);
  void forget(std::uint64_t event) { events_.erase(event); }
  /// An event that was never recorded orders nothing.
  void wait(std::uint64_t stream, std::uint64_t event);
  void host_waits_for_event(std::uint64_t event);
  void host_waits_for_stream(std::uint64_t stream);
  void host_waits_for_all();
  /// The host asks whether a stream is idle, or an event complete. It is told no where it does not
  /// know it already, and waits if it asks again: who goes on without heeding the answer knows of
  /// nothing.
  bool host_asks_for_stream(std::uint64_t stream);
  bool host_asks_for_event(std::uint64_t event);
  /// Simulated time between two events, as the work of each stream takes its time after all that it
  /// comes behind. 0 where one was not recorded.
  double microseconds(std::uint64_t first, std::uint64_t last) const;

  /// Whether the next launch of a stream, if it is programmatic, may begin early: the latest work
  /// is a launch, and the host does not know that it has ended.
  bool may_begin_early(std::uint64_t stream);

  /// Takes the next work of a stream. Returns the races with what came before it, one for each such
  /// piece of work.
  std::vector<StreamRace> add(const Work& work);

  /// A place behind what was given to a stream so far.
  struct Mark {
    std::uint32_t stream = 0;
    std::uint64_t number = 0;
  };
  Mark mark(std::uint64_t stream);
  /// Whether the host knows that all before the mark has ended; or a callback in `stream` does.
  bool host_knows(const Mark& mark) const { return knows(host_, mark); }
  bool stream_knows(std::uint64_t stream, const Mark& mark);

 private:
  /// What has ended before, and when.
  struct Clock {
    std::map<std::uint32_t, std::uint64_t> ended;  // by number of a stream: so much of its work
    double microseconds = 0;
  };
  struct Access {
    Mark mark;
    std::string name;
    Touched touched;
  };
  struct Stream {
    std::uint32_t number = 0;  // in the order of their creation
    bool blocking = true;
    Clock clock;
    std::vector<Access> chain;  // launches from the last one on that did not begin early
    std::size_t untold = 0;     // so many of them, whose end that of the next one does not tell of
  };

  bool host_asks(Clock& told, const Clock& done);
  static void join(Clock& clock, const Clock& other);
  static bool knows(const Clock& clock, const Mark& mark);
  Stream& at(std::uint64_t handle);
  Stream& enter(std::uint64_t handle);
  void drop_covered(const Access& latest);
  static void take_chained(Stream& stream,
                           const Work& work,
                           bool early,
                           std::vector<StreamRace>& races);

  std::map<std::uint64_t, Stream> streams_;
  std::uint32_t numbers_ = 0;
  std::map<std::uint64_t, Clock> events_;
  std::map<std::uint64_t, Clock> asked_streams_;  // of which the host was told no, and when
  std::map<std::uint64_t, Clock> asked_events_;
  Clock host_;
  std::vector<Access> accesses_;  // that the host does not know to have ended
};

}  // namespace warptwin::cuda
