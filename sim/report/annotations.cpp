#include "sim/report/annotations.hpp"

#include "sim/ptx/text/demangled.hpp"
#include "sim/report/source_path.hpp"

namespace warptwin::sim {

namespace {

// Of the message; of a property also what separates properties.
std::string quoted(const std::string& text, bool property) {
  std::string result;
  for (const char c : text) {
    if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','))) {
      constexpr char kDigits[] = "0123456789ABCDEF";
      result += '%';
      result += kDigits[static_cast<unsigned char>(c) >> 4U];
      result += kDigits[static_cast<unsigned char>(c) & 15U];
    } else {
      result += c;
    }
  }
  return result;
}

std::string line_of(const char* level,
                    const JudgedPlace& place,
                    const std::string& title,
                    const std::string& message,
                    const std::string& root) {
  const std::string where = place.line == 0 ? ""
                                            : "file=" + quoted(path_from(place.file, root), true) +
                                                  ",line=" + std::to_string(place.line) + ",";
  return std::string{"::"} + level + " " + where + "title=" + quoted(title, true) +
         "::" + quoted(message, false) + "\n";
}

}  // namespace

std::string annotations_of(const Judgement& judgement, const std::string& root) {
  std::string text;
  for (const Judged& judged : judgement.all) {
    for (const JudgedFinding& finding : judged.findings) {
      if (finding.known == Known::kNo) {
        text += line_of(finding.fails ? "error" : "warning",
                        finding.place,
                        finding.id + " in " + ptx::demangled(judged.scenario),
                        finding.message + (finding.replay.empty() ? "" : "\n" + finding.replay),
                        root);
      }
    }
    if (judged.right || !failing(judged).empty()) {
      continue;
    }
    const std::string title =
        ptx::demangled(judged.scenario) + ": " +
        (judged.exit == ExitCode::kClean ? "not as expected" : name_of(judged.exit));
    for (const JudgedOpen& open : judged.open) {
      text += line_of("error", open.place, title, "undecided: " + open.reason, root);
    }
    if (judged.open.empty()) {
      text += line_of("error", {}, title, judged.answer, root);
    }
  }
  if (!judgement.error.empty()) {
    text += line_of("error", {}, "warptwin " + judgement.command, judgement.error, root);
  }
  return text;
}

}  // namespace warptwin::sim
