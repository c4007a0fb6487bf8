/// Curves of a sweep, drawn by gnuplot.

#pragma once

#include <string>

#include "sim/sweep/table.hpp"

namespace warptwin::sim {

/// The axis that `name` is; "" takes the first with several values that `taken` is not. Null where
/// there is none. Throws ConfigError for a name that is no axis.
const Axis* axis_of(const Space& space, const std::string& name, const Axis* taken = nullptr);

/// Column `by` over the values of `x`, a curve for each value of `lines` (which may be null): each
/// point is the best of the rows that agree on the two. The best row of all is marked.
///
/// Writes FILE.svg, FILE.png, or FILE.html, a page with the picture and the best rows. Throws
/// ConfigError for another name, for a sweep with nothing to draw, and where gnuplot is not there.
void write_plot(const SweepTable& table,
                const SweepColumn& by,
                const Axis& x,
                const Axis* lines,
                const std::string& path);

}  // namespace warptwin::sim
