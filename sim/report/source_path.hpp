/// How reports for other programs name source files: from the top of the repository.

#pragma once

#include <string>

namespace warptwin::sim {

/// `file` as seen from the folder `root`, with '/': "scenarios/ring.hpp". A file that was compiled
/// elsewhere is the longest end of its path that is there below `root`. Else an absolute path stays
/// as it is, and a relative one loses its leading "..".
std::string path_from(const std::string& file, const std::string& root);

/// `path` as the reference of a URI: relative ones stay so, absolute ones are file:///...
std::string uri_of(const std::string& path);

}  // namespace warptwin::sim
