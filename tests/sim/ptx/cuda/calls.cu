// Calls: of a function that calls itself, through pointers, and of a virtual function.

namespace {

__device__ __noinline__ unsigned fibonacci(unsigned number) {
  return number < 2 ? number : fibonacci(number - 1) + fibonacci(number - 2);
}

__device__ __noinline__ int doubled(int value) {
  return value * 2;
}
__device__ __noinline__ int squared(int value) {
  return value * value;
}

using Function = int (*)(int);
__device__ Function functions[2] = {doubled, squared};

struct Shape {
  __device__ virtual int area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int length) : side{length} {}
  __device__ int area() const override { return side * side; }
};

}  // namespace

extern "C" __global__ void calls(int* out, int kind) {
  const Square square{static_cast<int>(threadIdx.x)};
  const Shape* shape = &square;
  out[threadIdx.x] =
      static_cast<int>(fibonacci(threadIdx.x % 8)) + functions[kind & 1](kind) + shape->area();
  if (kind == 77) {
    asm volatile("trap;");
  }
}
