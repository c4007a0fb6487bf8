/// The catalogue of diagnostics: every finding carries one of these ids.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace warptwin {

/// How bad a diagnostic is: from not reported to one that ends the run.
enum class Severity : std::uint8_t { kOff, kLint, kWarning, kError, kFatal };

/// A severity as reports call it.
const char* name_of(Severity severity);

/// One diagnostic. Severities are those of the two built-in profiles: `practical` accepts what
/// production kernels ship with, `strict` enforces every written rule.
struct DiagnosticInfo {
  const char* id;
  Severity practical;
  Severity strict;
  const char* meaning;   // one line: what is wrong when it is reported
  const char* trigger;   // exactly when it is reported
  const char* hardware;  // what a GPU does: expected, unless it says that it was seen
  const char* source;    // the manual and its sections that say so
};

/// All diagnostics that can be reported, sorted by id.
std::span<const DiagnosticInfo> catalogue();
/// A diagnostic of mbarriers that no kernel of ours can cause, and why.
struct AbsentDiagnostic {
  const char* id;
  const char* reason;
};
/// The diagnostics that one may look for and that there are not.
std::span<const AbsentDiagnostic> absent_diagnostics();
/// Null for an unknown id.
const DiagnosticInfo* find_diagnostic(std::string_view id);

}  // namespace warptwin
