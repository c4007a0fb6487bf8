// The driver's stand-in: streams and events. All work is done at its call, so that a stream is
// always empty. Which other orders a GPU may take, the other side keeps.

#include <cstdio>
#include <cstring>

#include "sim/cuda/standin/client.hpp"

namespace warptwin::cuda {

extern "C" {

WARPTWIN_CALL CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  const Turn turn;
  constexpr unsigned kNonBlocking = 1;
  *stream = new Stream{flags, priority};  // NOLINT: freed by cuStreamDestroy
  Client::get().streams.insert(*stream);
  Client::get().order("create",
                      {{"stream", number_of(*stream)}, {"blocking", (flags & kNonBlocking) == 0}});
  return Client::get().sticky();
}

WARPTWIN_CALL CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}

WARPTWIN_CALL CUresult cuStreamDestroy_v2(CUstream stream) {
  const Turn turn;
  if (Client::get().streams.erase(stream) == 0) {
    return kInvalidHandle;
  }
  Client::get().order("destroy", {{"stream", number_of(stream)}});
  delete stream;  // NOLINT
  return Client::get().sticky();
}

WARPTWIN_CALL CUresult cuStreamSynchronize(CUstream stream) {
  const Turn turn;
  return is_stream(stream) ? synchronise("host_stream", {{"stream", number_of(stream)}})
                           : kInvalidHandle;
}

// The work is done, and a program that is told so may use what it has done. One that asks for the
// first time is told that it is not: a GPU may say so, and who does not heed the answer is found.
WARPTWIN_CALL CUresult cuStreamQuery(CUstream stream) {
  const Turn turn;
  if (!is_stream(stream)) {
    return kInvalidHandle;
  }
  const nlohmann::json which{{"stream", number_of(stream)}};
  const bool done = Client::get().sticky() != kSuccess ||
                    Client::get().order("asks_stream", which).header.value("done", true);
  return done ? synchronise("host_stream", which) : kNotReady;
}

WARPTWIN_CALL CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  const Turn turn;
  if (!is_stream(stream) || !Client::get().events.contains(event)) {
    return kInvalidHandle;
  }
  Client::get().order("wait", {{"stream", number_of(stream)}, {"event", number_of(event)}});
  return Client::get().sticky();
}

// The host's function runs behind the work of the stream, and may use what that has done.
WARPTWIN_CALL CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  {
    const Turn turn;
    if (!is_stream(stream)) {
      return kInvalidHandle;
    }
    Client::get().order("callback", {{"stream", number_of(stream)}});
  }
  function(data);
  return kSuccess;
}

WARPTWIN_CALL CUresult cuStreamAddCallback(CUstream stream,
                                           CUstreamCallback function,
                                           void* data,
                                           unsigned) {
  {
    const Turn turn;
    if (!is_stream(stream)) {
      return kInvalidHandle;
    }
    Client::get().order("callback", {{"stream", number_of(stream)}});
  }
  function(stream, Client::get().sticky(), data);
  return kSuccess;
}

WARPTWIN_CALL CUresult cuStreamGetId(CUstream stream, unsigned long long* number) {
  const Turn turn;
  *number = number_of(stream);
  return is_stream(stream) ? kSuccess : kInvalidHandle;
}

// No value depends on an attribute of a stream, but for its priority, which is told.
WARPTWIN_CALL CUresult cuStreamGetAttribute(CUstream stream, unsigned id, void* value) {
  const Turn turn;
  std::memset(value, 0, sizeof(LaunchAttribute::bytes));
  if (id == kAttributePriority && Client::get().streams.contains(stream)) {
    *static_cast<int*>(value) = stream->priority;
  }
  return is_stream(stream) ? kSuccess : kInvalidHandle;
}

WARPTWIN_CALL CUresult cuStreamSetAttribute(CUstream stream, unsigned id, const void* value) {
  const Turn turn;
  if (id == kAttributePriority && Client::get().streams.contains(stream)) {
    stream->priority = *static_cast<const int*>(value);
  }
  return is_stream(stream) ? kSuccess : kInvalidHandle;
}

WARPTWIN_CALL CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  const Turn turn;
  if (!is_stream(to) || !is_stream(from)) {
    return kInvalidHandle;
  }
  const auto& streams = Client::get().streams;
  if (streams.contains(to) && streams.contains(from)) {
    to->priority = from->priority;
  }
  return kSuccess;
}

WARPTWIN_CALL CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  const Turn turn;
  *priority = Client::get().streams.contains(stream) ? stream->priority : 0;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  const Turn turn;
  *flags = Client::get().streams.contains(stream) ? stream->flags : 0;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuStreamGetCtx(CUstream, CUcontext* context) {
  *context = &Client::get().primary;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuStreamGetDevice(CUstream, CUdevice* device) {
  *device = 0;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuStreamIsCapturing(CUstream, int* status) {
  *status = 0;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuEventCreate(CUevent* event, unsigned flags) {
  const Turn turn;
  constexpr unsigned kDisableTiming = 2;
  *event = new Event;  // NOLINT: freed by cuEventDestroy
  (*event)->measures = (flags & kDisableTiming) == 0;
  Client::get().events.insert(*event);
  if ((*event)->measures) {
    Client::get().order("measures");
  }
  return Client::get().sticky();
}

WARPTWIN_CALL CUresult cuEventDestroy_v2(CUevent event) {
  const Turn turn;
  if (Client::get().events.erase(event) == 0) {
    return kInvalidHandle;
  }
  Client::get().order("forget", {{"event", number_of(event)}});
  delete event;  // NOLINT
  return Client::get().sticky();
}

WARPTWIN_CALL CUresult cuEventRecord(CUevent event, CUstream stream) {
  const Turn turn;
  if (!Client::get().events.contains(event) || !is_stream(stream)) {
    return kInvalidHandle;
  }
  event->recorded = true;
  Client::get().order("record", {{"event", number_of(event)}, {"stream", number_of(stream)}});
  return Client::get().sticky();
}

WARPTWIN_CALL CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned) {
  return cuEventRecord(event, stream);
}

WARPTWIN_CALL CUresult cuEventSynchronize(CUevent event) {
  const Turn turn;
  return Client::get().events.contains(event)
             ? synchronise("host_event", {{"event", number_of(event)}})
             : kInvalidHandle;
}

WARPTWIN_CALL CUresult cuEventQuery(CUevent event) {
  const Turn turn;
  if (!Client::get().events.contains(event)) {
    return kInvalidHandle;
  }
  const nlohmann::json which{{"event", number_of(event)}};
  const bool done = Client::get().sticky() != kSuccess ||
                    Client::get().order("asks_event", which).header.value("done", true);
  return done ? synchronise("host_event", which) : kNotReady;
}

// Of what was launched between them: it is said once what time this is.
WARPTWIN_CALL CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent first, CUevent last) {
  const Turn turn;
  static bool said = false;
  Client& client = Client::get();
  const auto& events = client.events;
  if (!events.contains(first) || !events.contains(last) || !first->recorded || !last->recorded ||
      !first->measures || !last->measures) {
    return kInvalidHandle;
  }
  const Message answer =
      client.order("elapsed", {{"first", number_of(first)}, {"last", number_of(last)}});
  if (!said) {
    said = true;
    std::fprintf(stderr, "warptwin: %s\n", answer.header.value("says", "").c_str());
  }
  *milliseconds = static_cast<float>(answer.header.value("microseconds", 0.0) * 1e-3);
  return client.sticky();
}

WARPTWIN_CALL CUresult cuEventElapsedTime(float* milliseconds, CUevent first, CUevent last) {
  return cuEventElapsedTime_v2(milliseconds, first, last);
}

}  // extern "C"

}  // namespace warptwin::cuda
