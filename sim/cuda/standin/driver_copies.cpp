// The driver's stand-in: copies and fills. Each is done when its call returns; which work of
// streams and of the host comes before which, the other side keeps.

#include "sim/cuda/standin/client.hpp"

namespace warptwin::cuda {

namespace {

CUresult copy_1d(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream, bool waits) {
  const Turn turn;
  return is_stream(stream) ? copy({to, bytes}, {from, bytes}, {number_of(stream), waits})
                           : kInvalidHandle;
}

// CU_MEMORYTYPE_...
constexpr unsigned kHost = 1;
constexpr unsigned kArray = 3;

CUresult copy_3d(const Copy3d& all, CUstream stream, bool waits) {
  const Turn turn;
  if (!is_stream(stream)) {
    return kInvalidHandle;
  }
  if (all.source_type == kArray || all.target_type == kArray) {
    missing("a copy from or to a CUDA array", nullptr, "arrays and textures are not simulated");
  }
  const CUdeviceptr from =
      all.source_type == kHost ? reinterpret_cast<CUdeviceptr>(all.source_host) : all.source_device;
  const CUdeviceptr to =
      all.target_type == kHost ? reinterpret_cast<CUdeviceptr>(all.target_host) : all.target_device;
  const bool planes = all.height > 1 || all.depth > 1;
  if (planes && (all.width > all.source_pitch || all.width > all.target_pitch)) {
    return kInvalidValue;
  }
  const std::size_t source_plane = all.source_pitch * all.source_height;
  const std::size_t target_plane = all.target_pitch * all.target_height;
  const Box source{
      from + all.source_z * source_plane + all.source_y * all.source_pitch + all.source_x,
      all.width,
      all.height,
      all.source_pitch,
      all.depth,
      source_plane};
  const Box target{
      to + all.target_z * target_plane + all.target_y * all.target_pitch + all.target_x,
      all.width,
      all.height,
      all.target_pitch,
      all.depth,
      target_plane};
  return copy(target, source, {number_of(stream), waits});
}

CUresult copy_2d(const Copy2d& rows, CUstream stream, bool waits) {
  Copy3d all{};
  all.source_x = rows.source_x;
  all.source_y = rows.source_y;
  all.source_type = rows.source_type;
  all.source_host = rows.source_host;
  all.source_device = rows.source_device;
  all.source_pitch = rows.source_pitch;
  all.target_x = rows.target_x;
  all.target_y = rows.target_y;
  all.target_type = rows.target_type;
  all.target_host = rows.target_host;
  all.target_device = rows.target_device;
  all.target_pitch = rows.target_pitch;
  all.width = rows.width;
  all.height = rows.height;
  all.depth = 1;
  return copy_3d(all, stream, waits);
}

CUresult fill_1d(
    CUdeviceptr to, std::uint64_t value, unsigned element, std::size_t count, CUstream stream) {
  const Turn turn;
  return is_stream(stream) ? fill({to, count * element}, value, element, {number_of(stream), true})
                           : kInvalidHandle;
}

CUresult fill_2d(CUdeviceptr to,
                 std::size_t pitch,
                 std::uint64_t value,
                 unsigned element,
                 std::size_t width,
                 std::size_t height,
                 CUstream stream) {
  const Turn turn;
  if (height > 1 && width * element > pitch) {
    return kInvalidValue;
  }
  return is_stream(stream)
             ? fill({to, width * element, height, pitch}, value, element, {number_of(stream), true})
             : kInvalidHandle;
}

}  // namespace

extern "C" {

WARPTWIN_CALL CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_1d(to, from, bytes, nullptr, true);
}

WARPTWIN_CALL CUresult cuMemcpyAsync(CUdeviceptr to,
                                     CUdeviceptr from,
                                     std::size_t bytes,
                                     CUstream stream) {
  return copy_1d(to, from, bytes, stream, false);
}

WARPTWIN_CALL CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  return cuMemcpy(to, reinterpret_cast<CUdeviceptr>(from), bytes);
}

WARPTWIN_CALL CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to,
                                            const void* from,
                                            std::size_t bytes,
                                            CUstream stream) {
  return cuMemcpyAsync(to, reinterpret_cast<CUdeviceptr>(from), bytes, stream);
}

WARPTWIN_CALL CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return cuMemcpy(reinterpret_cast<CUdeviceptr>(to), from, bytes);
}

WARPTWIN_CALL CUresult cuMemcpyDtoHAsync_v2(void* to,
                                            CUdeviceptr from,
                                            std::size_t bytes,
                                            CUstream stream) {
  return cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(to), from, bytes, stream);
}

WARPTWIN_CALL CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return cuMemcpy(to, from, bytes);
}

WARPTWIN_CALL CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to,
                                            CUdeviceptr from,
                                            std::size_t bytes,
                                            CUstream stream) {
  return cuMemcpyAsync(to, from, bytes, stream);
}

WARPTWIN_CALL CUresult cuMemcpy2D_v2(const Copy2d* all) {
  return copy_2d(*all, nullptr, true);
}

WARPTWIN_CALL CUresult cuMemcpy2DUnaligned_v2(const Copy2d* all) {
  return copy_2d(*all, nullptr, true);
}

WARPTWIN_CALL CUresult cuMemcpy2DAsync_v2(const Copy2d* all, CUstream stream) {
  return copy_2d(*all, stream, false);
}

WARPTWIN_CALL CUresult cuMemcpy3D_v2(const Copy3d* all) {
  return copy_3d(*all, nullptr, true);
}

WARPTWIN_CALL CUresult cuMemcpy3DAsync_v2(const Copy3d* all, CUstream stream) {
  return copy_3d(*all, stream, false);
}

WARPTWIN_CALL CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t count) {
  return fill_1d(to, value, 1, count, nullptr);
}

WARPTWIN_CALL CUresult cuMemsetD8Async(CUdeviceptr to,
                                       unsigned char value,
                                       std::size_t count,
                                       CUstream stream) {
  return fill_1d(to, value, 1, count, stream);
}

WARPTWIN_CALL CUresult cuMemsetD2D8_v2(
    CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width, std::size_t height) {
  return fill_2d(to, pitch, value, 1, width, height, nullptr);
}

WARPTWIN_CALL CUresult cuMemsetD2D8Async(CUdeviceptr to,
                                         std::size_t pitch,
                                         unsigned char value,
                                         std::size_t width,
                                         std::size_t height,
                                         CUstream stream) {
  return fill_2d(to, pitch, value, 1, width, height, stream);
}

WARPTWIN_CALL CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, std::size_t count) {
  return fill_1d(to, value, 2, count, nullptr);
}

WARPTWIN_CALL CUresult cuMemsetD16Async(CUdeviceptr to,
                                        unsigned short value,
                                        std::size_t count,
                                        CUstream stream) {
  return fill_1d(to, value, 2, count, stream);
}

WARPTWIN_CALL CUresult cuMemsetD2D16_v2(CUdeviceptr to,
                                        std::size_t pitch,
                                        unsigned short value,
                                        std::size_t width,
                                        std::size_t height) {
  return fill_2d(to, pitch, value, 2, width, height, nullptr);
}

WARPTWIN_CALL CUresult cuMemsetD2D16Async(CUdeviceptr to,
                                          std::size_t pitch,
                                          unsigned short value,
                                          std::size_t width,
                                          std::size_t height,
                                          CUstream stream) {
  return fill_2d(to, pitch, value, 2, width, height, stream);
}

WARPTWIN_CALL CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, std::size_t count) {
  return fill_1d(to, value, 4, count, nullptr);
}

WARPTWIN_CALL CUresult cuMemsetD32Async(CUdeviceptr to,
                                        unsigned value,
                                        std::size_t count,
                                        CUstream stream) {
  return fill_1d(to, value, 4, count, stream);
}

WARPTWIN_CALL CUresult cuMemsetD2D32_v2(
    CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height) {
  return fill_2d(to, pitch, value, 4, width, height, nullptr);
}

WARPTWIN_CALL CUresult cuMemsetD2D32Async(CUdeviceptr to,
                                          std::size_t pitch,
                                          unsigned value,
                                          std::size_t width,
                                          std::size_t height,
                                          CUstream stream) {
  return fill_2d(to, pitch, value, 4, width, height, stream);
}

}  // extern "C"

}  // namespace warptwin::cuda
