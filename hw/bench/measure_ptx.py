#!/usr/bin/env python3
"""Measures a PTX kernel on this machine's GPU, with the launch file that `warptwin ptx time` takes.

usage: measure_ptx.py [--launches N] [--only NAME] FOLDER OUT.json
FOLDER has `timed.json`: by NAME its kernel (KERNEL.ptx) and its operations; NAME.json is the
launch file. A time is the mean of N launches, one behind the other; a row has the median of five
such means, their spread, and the mean clock of the SMs meanwhile. Inputs are random, from -1 to 1.
Uses the driver (libcuda.so.1), and NumPy for the numbers. exit codes: 0 measured, 1 a kernel failed
"""

import argparse
import ctypes
import json
import pathlib
import statistics
import sys

import numpy

CLOCKS = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry clocks(.param .u64 to)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<8>;
  .reg .pred %p;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p, %r1, 0;
  @%p exit;
  ld.param.u64 %rd1, [to];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r2, %smid;
  mul.wide.u32 %rd2, %r2, 16;
  add.u64 %rd1, %rd1, %rd2;
  mov.u64 %rd3, %clock64;
  mov.u64 %rd4, %globaltimer;
  st.global.v2.u64 [%rd1], {%rd3, %rd4};
  nanosleep.u32 3000;
  exit;
}
\0"""
TYPES = {"f16": numpy.float16, "f32": numpy.float32}
MAP_TYPES = {"f16": 6, "f32": 7, "bf16": 9}  # CU_TENSOR_MAP_DATA_TYPE_
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
SHARED_MOST = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
CARVEOUT = 9
REGISTERS = 4
SMS = 16  # CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT

cuda = ctypes.CDLL("libcuda.so.1")


def check(code, what):
    if code != 0:
        text = ctypes.c_char_p()
        cuda.cuGetErrorName(code, ctypes.byref(text))
        raise RuntimeError(f"{what}: {text.value.decode() if text.value else code}")


def call(name, *arguments):
    check(getattr(cuda, name)(*arguments), name)


class Map(ctypes.Structure):
    """A CUtensorMap, which stands on 64 bytes."""

    _fields_ = [("bytes", ctypes.c_ubyte * 192)]

    def at(self):
        return ctypes.addressof(self) + -ctypes.addressof(self) % 64


def allocated(bytes_of_it):
    place = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(bytes_of_it))
    return place


def filled(spec, generator):
    """A buffer in the GPU's memory."""
    rows, columns = spec["shape"]
    numbers = generator.random((rows, columns), dtype=numpy.float32)
    numbers = (numbers * 2 - 1).astype(TYPES[spec["type"]])
    place = allocated(numbers.nbytes)
    call("cuMemcpyHtoD_v2", place, numbers.ctypes.data_as(ctypes.c_void_p),
         ctypes.c_size_t(numbers.nbytes))
    return place


def encoded(spec, buffer, place):
    rows, columns = buffer["shape"]
    size = numpy.dtype(TYPES[buffer["type"]]).itemsize
    made = Map()
    call("cuTensorMapEncodeTiled", ctypes.c_void_p(made.at()), MAP_TYPES[buffer["type"]], 2, place,
         (ctypes.c_uint64 * 2)(columns, rows), (ctypes.c_uint64 * 1)(columns * size),
         (ctypes.c_uint32 * 2)(spec["box"][1], spec["box"][0]), (ctypes.c_uint32 * 2)(1, 1), 0,
         SWIZZLES[spec["swizzle"]], 2, 0)
    return made


def extent(number):
    return (list(number) + [1, 1])[:3] if isinstance(number, list) else [number, 1, 1]


class Launch:
    """A kernel with its buffers and parameters, ready to be launched."""

    def __init__(self, ptx, launch):
        generator = numpy.random.default_rng(1)
        self.places = {name: filled(spec, generator) for name, spec in launch["buffers"].items()}
        self.maps = {
            name: encoded(spec, launch["buffers"][spec["buffer"]], self.places[spec["buffer"]])
            for name, spec in launch.get("maps", {}).items()
        }
        module = ctypes.c_void_p()
        call("cuModuleLoadData", ctypes.byref(module), ptx + b"\0")
        self.module = module
        self.kernel = ctypes.c_void_p()
        number = ctypes.c_uint()
        call("cuModuleGetFunctionCount", ctypes.byref(number), module)
        all_of_them = (ctypes.c_void_p * number.value)()
        call("cuModuleEnumerateFunctions", all_of_them, number, module)
        self.kernel = ctypes.c_void_p(all_of_them[0])
        self.shared = launch["dynamic_shared_bytes"]
        call("cuFuncSetAttribute", self.kernel, SHARED_MOST, self.shared)
        self.grid, self.block = extent(launch["grid"]), extent(launch["block"])
        self.held = [self.argument(each) for each in launch["parameters"]]
        self.arguments = (ctypes.c_void_p * len(self.held))(
            *[each.at() if isinstance(each, Map) else ctypes.addressof(each)
              for each in self.held])

    def argument(self, each):
        if "map" in each:
            return self.maps[each["map"]]
        if "buffer" in each:
            return self.places[each["buffer"]]
        number = each["value"]
        return ctypes.c_float(number) if isinstance(number, float) else ctypes.c_uint64(number)

    def go(self):
        call("cuLaunchKernel", self.kernel, *self.grid, *self.block, self.shared, None,
             self.arguments, None)

    def registers(self):
        number = ctypes.c_int()
        call("cuFuncGetAttribute", ctypes.byref(number), REGISTERS, self.kernel)
        return number.value

    def free(self):
        for place in self.places.values():
            call("cuMemFree_v2", place)
        call("cuModuleUnload", self.module)


class Clocks:
    """The mean clock of the SMs between two moments."""

    def __init__(self, sms):
        self.sms = sms
        self.place = allocated(32 * 256)
        module = ctypes.c_void_p()
        call("cuModuleLoadData", ctypes.byref(module), CLOCKS)
        self.kernel = ctypes.c_void_p()
        call("cuModuleGetFunction", ctypes.byref(self.kernel), module, b"clocks")
        call("cuFuncSetAttribute", self.kernel, SHARED_MOST, 200 * 1024)

    def read(self, which):
        to = ctypes.c_uint64(self.place.value + 16 * 256 * which)
        call("cuLaunchKernel", self.kernel, self.sms, 1, 1, 32, 1, 1, 200 * 1024, None,
             (ctypes.c_void_p * 1)(ctypes.addressof(to)), None)

    def gigahertz(self):
        both = numpy.zeros((2, 256, 2), dtype=numpy.uint64)
        call("cuMemcpyDtoH_v2", both.ctypes.data_as(ctypes.c_void_p), self.place,
             ctypes.c_size_t(both.nbytes))
        passed = (both[1] - both[0])[: self.sms].astype(numpy.float64)
        return float(numpy.mean(passed[:, 0] / passed[:, 1]))


def milliseconds(launch, launches, clocks):
    """The mean of so many launches, and the clock."""
    begin, end = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuEventCreate", ctypes.byref(begin), 0)
    call("cuEventCreate", ctypes.byref(end), 0)
    launch.go()
    clocks.read(0)
    call("cuEventRecord", begin, None)
    for _ in range(launches):
        launch.go()
    call("cuEventRecord", end, None)
    clocks.read(1)
    call("cuCtxSynchronize")
    passed = ctypes.c_float()
    call("cuEventElapsedTime", ctypes.byref(passed), begin, end)
    return passed.value / launches, clocks.gigahertz()


def measured(folder, name, facts, launches, clocks):
    ptx = (folder / f"{facts['kernel']}.ptx").read_bytes()
    launch = Launch(ptx, json.loads((folder / f"{name}.json").read_text(encoding="utf-8")))
    milliseconds(launch, 3, clocks)
    times = [milliseconds(launch, launches, clocks) for _ in range(5)]
    median = statistics.median(time for time, _ in times)
    clock = next(clock for time, clock in times if time == median)
    registers = launch.registers()
    launch.free()
    return {
        "name": name,
        "kernel": facts["kernel"],
        "size": facts["size"],
        "us": round(1000 * median, 3),
        "clock_ghz": round(clock, 4),
        "tflops": round(facts["flops"] / median / 1e9, 2),
        "flops": facts["flops"],
        "spread_percent": round(100 * (max(t for t, _ in times) / min(t for t, _ in times) - 1), 2),
        "registers": registers,
        "launches": launches,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launches", type=int, default=20)
    parser.add_argument("--only")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    given = parser.parse_args()
    call("cuInit", 0)
    device, context, sms = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_int()
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    call("cuDeviceGetAttribute", ctypes.byref(sms), SMS, device)
    label = ctypes.create_string_buffer(96)
    call("cuDeviceGetName", label, 96, device)
    clocks = Clocks(sms.value)
    rows, failed = [], 0
    everything = json.loads((given.folder / "timed.json").read_text(encoding="utf-8"))
    for name, facts in everything.items():
        if given.only and given.only not in name:
            continue
        try:
            rows.append(measured(given.folder, name, facts, given.launches, clocks))
            print(rows[-1], flush=True)
        except RuntimeError as error:
            failed += 1
            print(f"{name}: {error}", flush=True)
    text = json.dumps({"device": label.value.decode(), "rows": rows}, indent=1)
    given.out.write_text(text + "\n", encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
