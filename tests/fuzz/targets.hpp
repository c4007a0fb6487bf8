/// The fuzz targets: NAME of NAME_fuzz.cpp.

#pragma once

#define WARPTWIN_FOR_EACH_FUZZ_TARGET(row)                                              \
  row(baseline) row(chip) row(execution) row(journal) row(launch) row(npy) row(options) \
      row(program) row(ptx) row(rows) row(space) row(suppressions) row(trace)
