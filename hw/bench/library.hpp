/// The library's GEMM, found when the program runs: the build needs no library.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <memory>
#include <string>
#include <vector>

#include "hw/bench/gemm_run.cuh"
#include "hw/launch/error.hpp"

namespace warptwin::hw::bench {

#ifdef __CUDACC__

/// cuBLASLt: D = A * B^T of `Matrices`. A library of column-major matrices gives D^T = B * A^T.
class Library {
 public:
  /// One of its ways for a product, as cublasLtMatmulHeuristicResult_t lays it out.
  struct Way {
    std::uint64_t algorithm[8];
    std::size_t workspace_bytes;
    int status;
    float waves;
    int reserved[4];
  };

  Library() {
    for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}) {
      if (library_ == nullptr) {
        library_.reset(dlopen(name, RTLD_NOW | RTLD_LOCAL));
      }
    }
    if (library_ != nullptr) {
      handle_ = made("cublasLtCreate", "cublasLtDestroy");
    }
  }

  bool is_there() const { return handle_ != nullptr; }

  /// Its ways for such a product, the one it would take first.
  ///
  /// Errors: CudaError when it has none.
  std::vector<Way> ways_of(const Matrices& x) {
    describe(x);
    const Held preference =
        made("cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreferenceDestroy");
    constexpr int kMostWorkspace = 1;
    std::size_t bytes = kWorkspaceBytes;
    call("cublasLtMatmulPreferenceSetAttribute",
         preference.get(),
         kMostWorkspace,
         &bytes,
         sizeof bytes);
    std::vector<Way> ways(16);
    int count = 0;
    call("cublasLtMatmulAlgoGetHeuristic",
         handle_.get(),
         product_.get(),
         layouts_[0].get(),
         layouts_[1].get(),
         layouts_[2].get(),
         layouts_[2].get(),
         preference.get(),
         static_cast<int>(ways.size()),
         ways.data(),
         &count);
    ways.resize(static_cast<std::size_t>(count));
    return ways;
  }

  /// One product; the last `ways_of` was of `x`.
  void multiply(const Matrices& x, const Way& way) {
    const float one = 1;
    const float zero = 0;
    call("cublasLtMatmul",
         handle_.get(),
         product_.get(),
         static_cast<const void*>(&one),
         static_cast<const void*>(x.b()),
         layouts_[0].get(),
         static_cast<const void*>(x.a()),
         layouts_[1].get(),
         static_cast<const void*>(&zero),
         static_cast<const void*>(x.d()),
         layouts_[2].get(),
         x.d(),
         layouts_[2].get(),
         static_cast<const void*>(way.algorithm),
         workspace_.get<void>(),
         kWorkspaceBytes,
         static_cast<void*>(nullptr));
  }

 private:
  static constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;
  /// What the library made, and what gives it back.
  using Held = std::unique_ptr<void, int (*)(void*)>;

  template <class... Arguments>
  void call(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_.get(), name));
    const int status = function == nullptr ? -1 : function(arguments...);
    if (status != 0) {
      throw CudaError{(std::string{name} + ", status " + std::to_string(status)).c_str(),
                      cudaErrorUnknown,
                      "see cublasStatus_t"};
    }
  }
  template <class... Arguments>
  Held made(const char* create, const char* destroy, Arguments... arguments) const {
    void* object = nullptr;
    call(create, &object, arguments...);
    return {object, reinterpret_cast<int (*)(void*)>(dlsym(library_.get(), destroy))};
  }
  void describe(const Matrices& x) {
    constexpr int kCompute32F = 68, kF32 = 0, kBf16 = 14, kE4m3 = 28;
    constexpr int kTransposeFirst = 3, kFastSums = 25;
    const int operands = x.element() == ElementType::kBf16 ? kBf16 : kE4m3;
    product_ = made("cublasLtMatmulDescCreate", "cublasLtMatmulDescDestroy", kCompute32F, kF32);
    int transposed = 1;
    set(kTransposeFirst, &transposed, sizeof transposed);
    if (operands == kE4m3) {
      std::int8_t fast = 1;  // sums stay in the tensor core, as those of wgmma here do
      set(kFastSums, &fast, sizeof fast);
    }
    layouts_ = {layout(operands, x.k(), x.n()),
                layout(operands, x.k(), x.m()),
                layout(kBf16, x.n(), x.m())};
  }
  void set(int attribute, const void* value, std::size_t bytes) const {
    call("cublasLtMatmulDescSetAttribute", product_.get(), attribute, value, bytes);
  }
  Held layout(int type, std::uint64_t rows, std::uint64_t columns) const {
    return made("cublasLtMatrixLayoutCreate",
                "cublasLtMatrixLayoutDestroy",
                type,
                rows,
                columns,
                static_cast<std::int64_t>(rows));
  }

  static Held nothing() { return {nullptr, nullptr}; }
  Held library_{nullptr, dlclose};
  Held handle_ = nothing();
  Held product_ = nothing();
  std::array<Held, 3> layouts_{nothing(), nothing(), nothing()};
  DeviceBuffer workspace_{kWorkspaceBytes, 0};
};

#endif  // __CUDACC__

}  // namespace warptwin::hw::bench
