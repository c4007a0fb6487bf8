// Any text is a module that is decoded and printed, or an error with its place.

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "sim/ptx/code/flow.hpp"
#include "sim/ptx/code/print.hpp"
#include "sim/ptx/text/parse.hpp"
#include "tests/fuzz/support.hpp"

namespace {

using namespace warptwin;
using fuzz::require;

void check_flow(const ptx::Code& code) {
  const ptx::Flow flow = ptx::flow_of(code);
  for (const ptx::Block& block : flow.blocks) {
    require(block.begin < block.end && block.end <= code.ops.size(), "an empty block", "");
    require(block.post_dominator == ptx::kNoIndex || block.post_dominator < flow.blocks.size(),
            "a post-dominator that is no block",
            "");
  }
  const ptx::Liveness liveness{code, flow};
  if (!code.ops.empty()) {
    liveness.live_before(0);
  }
  std::ostringstream listing;
  print(code, listing);
  require(listing.str().find(std::string{code.function->name}) != std::string::npos,
          "a listing without its function",
          listing.str());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const ptx::Module module =
        ptx::parse_module({reinterpret_cast<const char*>(data), size}, "fuzz");
    for (const ptx::Code& code : ptx::decode(module)) {
      check_flow(code);
    }
  } catch (const ConfigError& error) {
    require(
        std::string{error.what()}.starts_with("fuzz:"), "an error without its place", error.what());
  }
  return 0;
}
