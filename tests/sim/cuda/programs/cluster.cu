// Clusters: each CTA reads what its neighbour has in shared memory. An argument is one of: END (no
// barrier at the end, so that a CTA may end while it is read), PREFERRED (a GPU may take a cluster
// of another size instead).

#include <cooperative_groups.h>

#include "tests/sim/cuda/programs/check.hpp"

namespace cg = cooperative_groups;

enum class Fault { kNone, kEnd, kPreferred };

template <Fault kFault>
__global__ void rotate(int* out) {
  __shared__ int mine[32];
  const cg::cluster_group cluster = cg::this_cluster();
  mine[threadIdx.x] = static_cast<int>(100 * blockIdx.x + threadIdx.x);
  cluster.sync();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  const int* theirs = cluster.map_shared_rank(mine, static_cast<int>(next));
  out[blockIdx.x * 32 + threadIdx.x] = theirs[threadIdx.x];
  if constexpr (kFault != Fault::kEnd) {
    cluster.sync();
  }
}

int main(int count, char** arguments) {
  const auto fault = static_cast<Fault>(fault_of(count, arguments, {"END", "PREFERRED"}));
  constexpr unsigned kBlocks = 4;
  constexpr unsigned kCluster = 2;
  int* out = nullptr;
  int back[kBlocks * 32] = {};
  CHECK(cudaMalloc(&out, sizeof back));
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributePreferredClusterDimension;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  for (cudaLaunchAttribute& attribute : attributes) {  // of one layout
    attribute.val.clusterDim.x = kCluster;
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
  }
  attributes[0].val.clusterDim.x = fault == Fault::kPreferred ? 4 : kCluster;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(kBlocks);
  config.blockDim = dim3(32);
  config.attrs = attributes;
  config.numAttrs = 2;
  const auto kernel = fault == Fault::kEnd ? rotate<Fault::kEnd> : rotate<Fault::kNone>;
  CHECK(cudaLaunchKernelEx(&config, kernel, out));
  CHECK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  bool right = true;
  for (unsigned block = 0; block < kBlocks; ++block) {
    const unsigned next = block / kCluster * kCluster + (block + 1) % kCluster;
    right = right && back[block * 32 + 5] == static_cast<int>(100 * next + 5);
  }
  return said(right);
}
