/// A file of findings that are known and accepted. One a line:
///
///   scenario  object-or-line  ID  reason
///
/// The second field is a pattern for the object of the finding (of a protocol: for what goes wrong
/// in it), or for its source line; `*` stands
/// for any text, `?` for any letter, and "..." holds one with blanks. `#` starts a comment.

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

/// The id of an interleaving that `explore` finds wrong in a protocol: no diagnostic of the
/// catalogue names it.
inline constexpr const char* kProtocolWrong = "PROTOCOL_WRONG";

struct Suppression {
  std::string scenario;
  std::string pattern;
  std::string id;
  std::string reason;
  std::string place;  // "accepted.txt:3"
  /// What it has accepted: each finding once, however often it was met.
  std::set<std::string> accepted;
};

class Suppressions {
 public:
  Suppressions() = default;
  /// Of a file's text; `name` is for messages. Throws ConfigError, with the line and what to do, on
  /// anything that is not as above, and on a scenario that is not in `scenarios` or an unknown id.
  Suppressions(std::string_view text,
               const std::string& name,
               const std::vector<std::string_view>& scenarios);

  /// Whether the rows accept the finding of `scenario` for every object it was found at, `site`
  /// being the text of its source line. The rows note what they accept.
  bool accepts(std::string_view scenario, const Finding& finding, const std::string& site);
  /// The row that accepts a protocol of which `what` goes wrong at the line `site`; null: none.
  const Suppression* accepts_protocol(std::string_view scenario,
                                      const std::string& what,
                                      const std::string& site);
  /// The rows of a scenario, in the order of the file.
  std::vector<const Suppression*> of(std::string_view scenario) const;
  bool empty() const { return rows_.empty(); }

 private:
  std::vector<Suppression> rows_;
};

/// Reads a file of suppressions. Throws ConfigError, also where it cannot be read.
Suppressions read_suppressions(const std::string& path,
                               const std::vector<std::string_view>& scenarios);

}  // namespace warptwin::sim
