// The runtime's stand-in: streams and events.

#include "sim/cuda/standin/runtime.hpp"

namespace warptwin::cuda {

extern "C" {

WARPTWIN_CALL cudaError_t cudaStreamCreateWithPriority(CUstream* stream,
                                                       unsigned flags,
                                                       int priority) {
  return told(cuStreamCreateWithPriority(stream, flags, priority));
}

WARPTWIN_CALL cudaError_t cudaStreamCreateWithFlags(CUstream* stream, unsigned flags) {
  return told(cuStreamCreateWithPriority(stream, flags, 0));
}

WARPTWIN_CALL cudaError_t cudaStreamCreate(CUstream* stream) {
  return told(cuStreamCreateWithPriority(stream, 0, 0));
}

WARPTWIN_CALL cudaError_t cudaStreamDestroy(CUstream stream) {
  return told(cuStreamDestroy_v2(stream));
}

WARPTWIN_CALL cudaError_t cudaStreamSynchronize(CUstream stream) {
  return told(cuStreamSynchronize(stream));
}

WARPTWIN_CALL cudaError_t cudaStreamQuery(CUstream stream) {
  return told(cuStreamQuery(stream));
}

WARPTWIN_CALL cudaError_t cudaStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return told(cuStreamWaitEvent(stream, event, flags));
}

WARPTWIN_CALL cudaError_t cudaStreamAddCallback(CUstream stream,
                                                CUstreamCallback function,
                                                void* data,
                                                unsigned flags) {
  return told(cuStreamAddCallback(stream, function, data, flags));
}

WARPTWIN_CALL cudaError_t cudaStreamGetPriority(CUstream stream, int* priority) {
  return told(cuStreamGetPriority(stream, priority));
}

WARPTWIN_CALL cudaError_t cudaStreamGetFlags(CUstream stream, unsigned* flags) {
  return told(cuStreamGetFlags(stream, flags));
}

WARPTWIN_CALL cudaError_t cudaStreamGetId(CUstream stream, unsigned long long* number) {
  return told(cuStreamGetId(stream, number));
}

WARPTWIN_CALL cudaError_t cudaStreamGetDevice(CUstream, int* device) {
  *device = 0;
  return kSuccess;
}

WARPTWIN_CALL cudaError_t cudaStreamGetAttribute(CUstream stream, unsigned id, void* value) {
  return told(cuStreamGetAttribute(stream, id, value));
}

WARPTWIN_CALL cudaError_t cudaStreamSetAttribute(CUstream stream, unsigned id, const void* value) {
  return told(cuStreamSetAttribute(stream, id, value));
}

WARPTWIN_CALL cudaError_t cudaStreamCopyAttributes(CUstream to, CUstream from) {
  return told(cuStreamCopyAttributes(to, from));
}

WARPTWIN_CALL cudaError_t cudaStreamIsCapturing(CUstream, int* status) {
  *status = 0;
  return kSuccess;
}

WARPTWIN_CALL cudaError_t cudaEventCreateWithFlags(CUevent* event, unsigned flags) {
  return told(cuEventCreate(event, flags));
}

WARPTWIN_CALL cudaError_t cudaEventCreate(CUevent* event) {
  return told(cuEventCreate(event, 0));
}

WARPTWIN_CALL cudaError_t cudaEventDestroy(CUevent event) {
  return told(cuEventDestroy_v2(event));
}

WARPTWIN_CALL cudaError_t cudaEventRecord(CUevent event, CUstream stream) {
  return told(cuEventRecord(event, stream));
}

WARPTWIN_CALL cudaError_t cudaEventRecordWithFlags(CUevent event, CUstream stream, unsigned) {
  return told(cuEventRecord(event, stream));
}

WARPTWIN_CALL cudaError_t cudaEventSynchronize(CUevent event) {
  return told(cuEventSynchronize(event));
}

WARPTWIN_CALL cudaError_t cudaEventQuery(CUevent event) {
  return told(cuEventQuery(event));
}

WARPTWIN_CALL cudaError_t cudaEventElapsedTime(float* milliseconds, CUevent first, CUevent last) {
  return told(cuEventElapsedTime_v2(milliseconds, first, last));
}

}  // extern "C"

}  // namespace warptwin::cuda
