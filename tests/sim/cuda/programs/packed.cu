// Tensor maps of elements of four and six bits: which ones the driver makes, and what a copy by one
// brings. An argument is one of: BYTES (the bytes in global memory are expected, without padding),
// COLUMN (the copy begins at no multiple of 128 elements), PADDING (the padding is read).

#include <cstdint>
#include <vector>

#include <cuda.h>

#include "tests/sim/cuda/programs/check.hpp"

enum class Fault { kNone, kBytes, kColumn, kPadding };

constexpr unsigned kRows = 8;
constexpr unsigned kRowBytes = 192;           // 384 elements of four bits, 256 of six
constexpr unsigned kTileBytes = kRows * 128;  // 128 elements of a row, and their padding

using Encode = decltype(&cuTensorMapEncodeTiled);

// What of a map each case has otherwise than the right one.
struct Case {
  unsigned elements = 256;
  unsigned stride = kRowBytes;
  unsigned box = 128;
  unsigned offset = 0;  // of the address
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
};

CUresult encoded(
    Encode encode, CUtensorMap* map, CUtensorMapDataType type, unsigned char* in, const Case& of) {
  const cuuint64_t extents[] = {of.elements, kRows};
  const cuuint64_t strides[] = {of.stride};
  const cuuint32_t box[] = {of.box, kRows};
  const cuuint32_t steps[] = {1, 1};
  return encode(map,
                type,
                2,
                in + of.offset,
                extents,
                strides,
                box,
                steps,
                CU_TENSOR_MAP_INTERLEAVE_NONE,
                of.swizzle,
                CU_TENSOR_MAP_L2_PROMOTION_NONE,
                of.fill);
}

__device__ unsigned shared_address(const void* of) {
  return static_cast<unsigned>(__cvta_generic_to_shared(of));
}

template <Fault kFault>
__global__ void copy(const __grid_constant__ CUtensorMap map, unsigned* out) {
  __shared__ alignas(1024) unsigned char tile[kTileBytes];
  __shared__ alignas(8) std::uint64_t full;
  const unsigned lane = threadIdx.x;
  const unsigned barrier = shared_address(&full);
  if (lane == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier));
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier),
                 "r"(kFault == Fault::kBytes ? kTileBytes / 2 : kTileBytes));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
        "0}], [%3];" ::"r"(shared_address(tile)),
        "l"(&map),
        "r"(kFault == Fault::kColumn ? 64 : 128),
        "r"(barrier)
        : "memory");
  }
  __syncwarp();
  unsigned there = 0;
  while (there == 0) {
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], 0;\n"
        "selp.b32 %0, 1, 0, p;\n}"
        : "=r"(there)
        : "r"(barrier)
        : "memory");
  }
  // 16 elements are 16 bytes, which the swizzle moves within their row.
  for (unsigned i = lane; i < kTileBytes / 16; i += 32) {
    const unsigned row = i / 8;
    const auto* words =
        reinterpret_cast<const unsigned*>(tile + row * 128 + (i % 8 ^ row % 8) * 16);
    out[2 * i] = words[0];
    out[2 * i + 1] = words[kFault == Fault::kPadding ? 2 : 1];
  }
}

// Whether the driver answers as its manual says.
bool answers(Encode encode, unsigned char* in) {
  alignas(64) CUtensorMap map;
  const auto is = [&](CUtensorMapDataType type, const Case& of, bool made) {
    return (encoded(encode, &map, type, in, of) == CUDA_SUCCESS) == made;
  };
  bool right = true;
  for (const auto type :
       {CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B}) {
    right = right && is(type, {}, true) && is(type, {256, kRowBytes, 64}, false) &&
            is(type, {256, kRowBytes, 256}, false) && is(type, {192}, false) &&
            is(type, {256, 208}, false) && is(type, {256, kRowBytes, 128, 16}, false) &&
            is(type, {256, kRowBytes, 128, 32}, true) &&
            is(type, {256, kRowBytes, 128, 0, CU_TENSOR_MAP_SWIZZLE_NONE}, true) &&
            is(type, {256, kRowBytes, 128, 0, CU_TENSOR_MAP_SWIZZLE_64B}, false) &&
            is(type, {256, kRowBytes, 128, 0, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B}, true) &&
            is(type,
               {256,
                kRowBytes,
                128,
                0,
                CU_TENSOR_MAP_SWIZZLE_128B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA},
               false);
  }
  const auto dense = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B;
  return right && is(dense, {}, true) && is(dense, {254, 144, 32, 16}, true) &&
         is(dense, {255}, false) && is(dense, {256, kRowBytes, 16}, false) &&
         is(dense, {256, kRowBytes, 128, 0, CU_TENSOR_MAP_SWIZZLE_32B}, false);
}

int main(int count, char** arguments) {
  void (*const kernels[])(const CUtensorMap, unsigned*) = {
      copy<Fault::kNone>, copy<Fault::kBytes>, copy<Fault::kColumn>, copy<Fault::kPadding>};
  const int fault = fault_of(count, arguments, {"BYTES", "COLUMN", "PADDING"});
  std::vector<unsigned char> host(kRows * kRowBytes);
  for (std::size_t i = 0; i < host.size(); ++i) {
    host[i] = static_cast<unsigned char>(i * 37 + i / 256);
  }
  std::vector<unsigned> back(kTileBytes / 8);
  unsigned char* in = nullptr;
  unsigned* out = nullptr;
  CHECK(cudaMalloc(&in, host.size() + 64));
  CHECK(cudaMalloc(&out, back.size() * sizeof(unsigned)));
  CHECK(cudaMemcpy(in, host.data(), host.size(), cudaMemcpyHostToDevice));
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  CHECK(cudaGetDriverEntryPointByVersion(
      "cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
  const auto encode = reinterpret_cast<Encode>(entry);
  alignas(64) CUtensorMap map;
  if (encoded(encode, &map, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, in, {384}) != CUDA_SUCCESS) {
    std::printf("no such map\n");
    return 5;
  }
  bool right = answers(encode, in);
  kernels[fault]<<<1, 32>>>(map, out);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(back.data(), out, back.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
  for (unsigned row = 0; row < kRows; ++row) {
    right = right && std::memcmp(&back[row * 16], &host[row * kRowBytes + 64], 64) == 0;
  }
  return said(right);
}
