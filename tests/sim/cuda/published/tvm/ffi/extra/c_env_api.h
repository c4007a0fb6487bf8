#include <tvm/ffi/tvm_ffi.h>
