// The driver's stand-in: streams and events. All work is done at its call, so that a stream is
// always empty: that is one order of those that a GPU may take.

#include <chrono>
#include <cstdio>

#include "sim/cuda/standin/client.hpp"

namespace warptwin::cuda {

namespace {

std::uint64_t now() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

}  // namespace

extern "C" {

WARPTWIN_CALL CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  const Turn turn;
  *stream = new Stream{flags, priority};  // NOLINT: freed by cuStreamDestroy
  Client::get().streams.insert(*stream);
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
  delete stream;  // NOLINT
  return Client::get().sticky();
}

WARPTWIN_CALL CUresult cuStreamSynchronize(CUstream stream) {
  const Turn turn;
  return is_stream(stream) ? synchronise() : kInvalidHandle;
}

WARPTWIN_CALL CUresult cuStreamQuery(CUstream stream) {
  return cuStreamSynchronize(stream);
}

WARPTWIN_CALL CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  const Turn turn;
  return is_stream(stream) && Client::get().events.contains(event) ? Client::get().sticky()
                                                                   : kInvalidHandle;
}

WARPTWIN_CALL CUresult cuStreamAddCallback(CUstream stream,
                                           CUstreamCallback function,
                                           void* data,
                                           unsigned) {
  function(stream, Client::get().sticky(), data);
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

WARPTWIN_CALL CUresult cuEventCreate(CUevent* event, unsigned) {
  const Turn turn;
  *event = new Event;  // NOLINT: freed by cuEventDestroy
  Client::get().events.insert(*event);
  return Client::get().sticky();
}

WARPTWIN_CALL CUresult cuEventDestroy_v2(CUevent event) {
  const Turn turn;
  if (Client::get().events.erase(event) == 0) {
    return kInvalidHandle;
  }
  delete event;  // NOLINT
  return Client::get().sticky();
}

WARPTWIN_CALL CUresult cuEventRecord(CUevent event, CUstream stream) {
  const Turn turn;
  if (!Client::get().events.contains(event) || !is_stream(stream)) {
    return kInvalidHandle;
  }
  event->recorded = true;
  event->nanoseconds = now();
  return Client::get().sticky();
}

WARPTWIN_CALL CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned) {
  return cuEventRecord(event, stream);
}

WARPTWIN_CALL CUresult cuEventSynchronize(CUevent event) {
  const Turn turn;
  return Client::get().events.contains(event) ? synchronise() : kInvalidHandle;
}

WARPTWIN_CALL CUresult cuEventQuery(CUevent event) {
  return cuEventSynchronize(event);
}

// How long the simulator took: no time of a GPU. It is said once.
WARPTWIN_CALL CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent first, CUevent last) {
  const Turn turn;
  static bool said = false;
  const auto& events = Client::get().events;
  if (!events.contains(first) || !events.contains(last) || !first->recorded || !last->recorded) {
    return kInvalidHandle;
  }
  if (!said) {
    said = true;
    std::fprintf(
        stderr, "warptwin: the program measures time: it is that of the simulator, not of a GPU\n");
  }
  const auto passed = static_cast<std::int64_t>(last->nanoseconds - first->nanoseconds);
  *milliseconds = static_cast<float>(static_cast<double>(passed) * 1e-6);
  return Client::get().sticky();
}

WARPTWIN_CALL CUresult cuEventElapsedTime(float* milliseconds, CUevent first, CUevent last) {
  return cuEventElapsedTime_v2(milliseconds, first, last);
}

}  // extern "C"

}  // namespace warptwin::cuda
