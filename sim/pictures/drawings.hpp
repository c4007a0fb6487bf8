/// The pictures that stand still, each from a recording alone.

#pragma once

#include <string>
#include <vector>

#include "sim/pictures/recording.hpp"
#include "sim/pictures/svg.hpp"

namespace warptwin::sim {

/// Roles and the barriers between them, with arrivals and bytes of a phase. Laid out by Graphviz:
/// throws ConfigError where `dot` is not there.
Svg pipeline_drawing(const Recording& recording);

/// Who waits for what does not come, and who owes it: as the finding says it that the run does not
/// end. Empty where there is none. Laid out by Graphviz, too.
Svg waits_drawing(const Recording& recording);

/// Where the time of each role goes, and how busy each unit was: bars of one length.
Svg time_drawing(const Recording& recording);

/// The parts of the critical path, the longest first. Empty where none was recorded.
Svg path_drawing(const Recording& recording);

/// Each ring's stages over time: full or empty. Of the first CTA that was recorded.
Svg stages_drawing(const Recording& recording);

/// The window of the recording, all tracks of its first CTA and of the chip.
Svg timeline_drawing(const Recording& recording);

/// "pipeline", "waits", "time", "path", "stages", "timeline".
std::vector<std::string> drawing_names();
/// By one of these names. Throws ConfigError where the run has nothing to draw for it: no ring, no
/// critical path, nobody that waits for what does not come.
Svg drawing_of(const std::string& name, const Recording& recording);

/// Writes FILE.svg, or, through rsvg-convert, FILE.png. Throws ConfigError for another name, and
/// where it cannot be written.
void write_drawing(const Svg& svg, const std::string& path);

}  // namespace warptwin::sim
