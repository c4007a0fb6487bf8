// Addresses in structures and in memory of the device. The argument FREED follows
// one into an allocation that was freed.

#include "tests/sim/cuda/programs/check.hpp"

struct Node {
  Node* next;
  int value;
};

struct List {
  Node* first;
  int* sum;
};

__global__ void add_up(List list) {
  int sum = 0;
  for (const Node* node = list.first; node != nullptr; node = node->next) {
    sum += node->value;
  }
  *list.sum = sum;
}

int main(int count, char** arguments) {
  const bool freed = fault_of(count, arguments, {"FREED"}) != 0;
  Node* nodes[5] = {};
  for (Node*& node : nodes) {
    CHECK(cudaMalloc(&node, sizeof(Node)));
  }
  for (int i = 0; i < 5; ++i) {
    const Node node{i < 4 ? nodes[i + 1] : nullptr, 10 * i};
    CHECK(cudaMemcpy(nodes[i], &node, sizeof node, cudaMemcpyHostToDevice));
  }
  if (freed) {
    CHECK(cudaFree(nodes[3]));
  }
  List list{nodes[0], nullptr};
  CHECK(cudaMalloc(&list.sum, sizeof(int)));
  add_up<<<1, 1>>>(list);
  int sum = 0;
  const cudaError_t ended = cudaMemcpy(&sum, list.sum, sizeof sum, cudaMemcpyDeviceToHost);
  if (ended != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorName(ended));
    return 5;
  }
  return said(sum == 100);
}
