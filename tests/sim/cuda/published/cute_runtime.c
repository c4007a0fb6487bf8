/// The runtime of CuTe DSL's programs, made of CUDA's shared one, for `warptwin cuda`.
///
/// CUTE_DSL_LIBS names it instead of the package's own, which has a static CUDA in it. What is
/// loaded is the PTX that the package has kept in CUTE_DSL_DUMP_DIR, not its machine code. Programs
/// fill tensor maps themselves, as the hardware has them: of those that are tiled, of elements that
/// are neither strided nor interleaved, the driver makes its own.

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>
#include <cuda_runtime.h>

#define FORWARD(name, target) __asm__(".globl _" #name "\n_" #name ": jmp " #target "@PLT")

FORWARD(cudaDeviceGetAttribute, cudaDeviceGetAttribute);
FORWARD(cudaDeviceSynchronize, cudaDeviceSynchronize);
FORWARD(cudaFuncSetAttribute, cudaFuncSetAttribute);
FORWARD(cudaGetDevice, cudaGetDevice);
FORWARD(cudaGetDeviceCount, cudaGetDeviceCount);
FORWARD(cudaKernelSetAttributeForDevice, cudaKernelSetAttributeForDevice);
FORWARD(cudaLibraryGetKernel, cudaLibraryGetKernel);
FORWARD(cudaLibraryUnload, cudaLibraryUnload);
FORWARD(cudaSetDevice, cudaSetDevice);
FORWARD(cuKernelGetAttribute, cuKernelGetAttribute);
FORWARD(cuTensorMapEncodeTiled, cuTensorMapEncodeTiled);

enum { kMapBytes = 128, kParametersMax = 64, kMapsMax = 16, kRankMax = 5 };

/// The text of the one kernel file that there is.
static char* kept_text(void) {
  char pattern[4096];
  snprintf(pattern, sizeof pattern, "%s/*.ptx", getenv("CUTE_DSL_DUMP_DIR"));
  glob_t found;
  if (glob(pattern, 0, NULL, &found) != 0) {
    return NULL;
  }
  FILE* const file = fopen(found.gl_pathv[0], "r");
  fseek(file, 0, SEEK_END);
  const long size = ftell(file);
  rewind(file);
  char* const text = calloc((size_t)size + 1, 1);
  const size_t read = fread(text, 1, (size_t)size, file);
  fclose(file);
  globfree(&found);
  return read == (size_t)size ? text : NULL;
}

cudaError_t _cudaLibraryLoadData(cudaLibrary_t* library) {
  return cudaLibraryLoadData(library, kept_text(), NULL, NULL, 0, NULL, NULL, 0);
}

static CUresult encode(CUtensorMap* map, const unsigned char* of) {
  unsigned form = 0;
  void* address = NULL;
  memcpy(&address, of, sizeof address);
  memcpy(&form, of + 8, sizeof form);
  const unsigned rank = (form >> 4 & 7U) + 1;
  cuuint64_t extents[kRankMax];
  cuuint64_t strides[kRankMax];
  cuuint32_t boxes[kRankMax];
  cuuint32_t steps[kRankMax];
  for (unsigned i = 0; i < rank && i < kRankMax; ++i) {
    unsigned number = 0;
    memcpy(&number, of + 32 + 4 * i, sizeof number);
    extents[i] = (cuuint64_t)number + 1;
    boxes[i] = of[55 + i] + 1U;
    steps[i] = 1;
    memcpy(&number, of + 12 + 4 * i, sizeof number);
    strides[i] = (cuuint64_t)number * 16;
  }
  return cuTensorMapEncodeTiled(map,
                                (CUtensorMapDataType)(form >> 7 & 15U),
                                rank,
                                address,
                                extents,
                                strides,
                                boxes,
                                steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE,
                                (CUtensorMapSwizzle)(form >> 13 & 3U),
                                CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

cudaError_t _cudaLaunchKernelEx(const cudaLaunchConfig_t* launch,
                                const void* kernel,
                                void** given) {
  CUtensorMap maps[kMapsMax];
  void* arguments[kParametersMax];
  unsigned count = 0;
  for (unsigned i = 0; i < kParametersMax; ++i) {
    size_t offset = 0;
    size_t size = 0;
    if (cudaFuncGetParamInfo(kernel, i, &offset, &size) != cudaSuccess) {
      break;
    }
    arguments[i] = given[i];
    if (size == kMapBytes && count < kMapsMax) {
      if (encode(&maps[count], given[i]) != CUDA_SUCCESS) {
        fprintf(stderr, "parameter %u is no tensor map that can be made\n", i);
        return cudaErrorNotSupported;
      }
      arguments[i] = &maps[count++];
    }
  }
  cudaGetLastError();
  return cudaLaunchKernelExC(launch, kernel, arguments);
}

void cuda_dialect_assert_success(int error, const char* said) {
  if (error != 0) {
    fprintf(stderr, "error %d %s\n", error, said != NULL ? said : "");
    exit(1);
  }
}
