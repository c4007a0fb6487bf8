// Shared memory, atomics, local arrays, printf, a table, a switch: what nvcc makes of plain code.

#include <cstdio>

namespace {

__device__ int table[3][2] = {{1, 2}, {3}, {5, 6}};
__constant__ float factors[4] = {1.5F, -2.0F, 0.25F, 3.0F};

struct Pair {
  int first;
  float second;
};

__device__ __noinline__ float chosen(int kind, float a, float b) {
  switch (kind) {
    case 0:
      return a + b;
    case 1:
      return a - b * 2.0F;
    case 2:
      return a * b;
    case 3:
      return a / b;
    case 4:
      return sqrtf(fabsf(a)) + b;
    case 5:
      return fminf(a, b);
    case 6:
      return __expf(a) + b;
    case 7:
      return cosf(a) - b;
    case 8:
      return fmaf(a, a, b);
    case 9:
      return logf(a) * b;
    case 10:
      return a - 3.0F / b;
    case 11:
      return rsqrtf(b) + a;
    case 12:
      return floorf(a) * b;
    case 13:
      return tanhf(a + b);
    default:
      return sinf(a) * cosf(b);
  }
}

// nvcc makes comparisons of a switch; other compilers make this.
__device__ int by_table(unsigned index) {
  int result = 0;
  asm("{\n"
      "targets: .branchtargets ZERO, ONE, TWO;\n"
      "brx.idx %1, targets;\n"
      "ZERO: mov.b32 %0, 7; bra.uni END;\n"
      "ONE: mov.b32 %0, 8; bra.uni END;\n"
      "TWO: mov.b32 %0, 9;\n"
      "END: }"
      : "=r"(result)
      : "r"(index));
  return result;
}

template <class T, int kCount>
__device__ T sum_of(const T (&values)[kCount], int begin) {
  T sum = 0;
  for (int index = 0; index < kCount; ++index) {
    sum += values[(index + begin) % kCount];
  }
  return sum;
}

}  // namespace

extern "C" __global__ void plain(float* out, const int* in, Pair pair, int count) {
  __shared__ float tile[64];
  float local[16];
  const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  for (int each = 0; each < 16; ++each) {
    local[each] = static_cast<float>(in[index % count] + each) * factors[each & 3];
  }
  tile[threadIdx.x & 63] = sum_of(local, index);
  __syncthreads();
  const float value = chosen(in[index % count], tile[(threadIdx.x + 1) & 63], pair.second);
  atomicAdd(out + count, value);
  atomicMax(&table[index % 3][index & 1], pair.first);
  if (value < 0.0F) {
    printf("%d: %f\n", index, static_cast<double>(value));
  }
  out[index] = __shfl_xor_sync(0xffffffffU, value, 1) +
               static_cast<float>(__popc(index) + by_table(threadIdx.x % 3));
}
