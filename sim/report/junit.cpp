#include "sim/report/junit.hpp"

#include <algorithm>
#include <cstdio>

#include "sim/ptx/text/demangled.hpp"

namespace warptwin::sim {

namespace {

// The length of the UTF-8 sequence at `at`; 0: it is none that XML may hold.
std::size_t sequence_at(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) {
    return first >= 0x20 || first == '\t' || first == '\n' ? 1 : 0;
  }
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + length > text.size()) {
    return 0;
  }
  std::uint32_t code = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80) {
      return 0;
    }
    code = code << 6U | (byte(at + i) & 0x3FU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool allowed = code >= kLeast[length] && code <= 0x10FFFF && code != 0xFFFE &&
                       code != 0xFFFF && (code < 0xD800 || code > 0xDFFF);
  return allowed ? length : 0;
}

// For an attribute in double quotes, or for text. What XML cannot hold is written as "\x1b".
std::string escaped(const std::string& text, bool attribute) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_at(text, at);
    const char c = text[at];
    if (length == 0) {
      char code[8];
      std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned char>(c));
      result += code;
    } else if (length > 1) {
      result += text.substr(at, length);
    } else if (c == '&' || c == '<' || c == '>' || c == '"') {
      result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&quot;";
    } else if (attribute && (c == '\n' || c == '\t')) {
      result += c == '\n' ? "&#10;" : "&#9;";
    } else {
      result += c;
    }
    at += std::max<std::size_t>(length, 1);
  }
  return result;
}

std::string attribute(const char* name, const std::string& value) {
  return std::string{" "} + name + "=\"" + escaped(value, true) + "\"";
}

std::string element(const char* name,
                    const std::string& type,
                    const std::string& message,
                    const std::string& text) {
  return std::string{"      <"} + name + attribute("message", message) + attribute("type", type) +
         ">" + escaped(text, false) + "</" + name + ">\n";
}

bool is_error(const Judged& judged) {
  return !judged.right && judged.exit == ExitCode::kInternal;
}

const char* word_of(Known known) {
  constexpr const char* kWords[] = {"", "suppressed: ", "in the baseline: ", "expected: "};
  return kWords[static_cast<unsigned>(known)];
}

std::string body_of(const Judged& judged) {
  const std::vector<const JudgedFinding*> wrong = failing(judged);
  std::string failed;
  std::string other;
  for (const JudgedFinding& finding : judged.findings) {
    const bool fails = std::find(wrong.begin(), wrong.end(), &finding) != wrong.end();
    (fails ? failed : other) += word_of(finding.known) + finding.text;
  }
  for (const JudgedOpen& open : judged.open) {
    failed += "undecided: " + open.reason + "\n";
  }
  for (const JudgedGone& gone : judged.gone) {
    other += "no longer found: " + gone.id + " at " + gone.object + "\n";
  }
  other += text_of_not_kept(judged.not_kept);
  std::string text;
  if (!judged.right) {
    const std::string type = wrong.empty() ? name_of(judged.exit) : wrong.front()->id;
    const std::string message =
        wrong.empty() ? judged.answer : wrong.front()->id + ": " + wrong.front()->message;
    text = element(
        is_error(judged) ? "error" : "failure", type, message, failed + judged.answer + "\n");
  } else {
    other = failed + other;
  }
  return text +
         (other.empty() ? "" : "      <system-out>" + escaped(other, false) + "</system-out>\n");
}

}  // namespace

std::string junit_of(const Judgement& judgement) {
  const std::string suite = "warptwin " + judgement.command;
  std::size_t failures = 0;
  std::size_t errors = judgement.error.empty() ? 0 : 1;
  std::string cases;
  const auto add = [&](const std::string& name, const std::string& body) {
    cases += "    <testcase" + attribute("classname", "warptwin." + judgement.command) +
             attribute("name", name) + (body.empty() ? "/>\n" : ">\n" + body + "    </testcase>\n");
  };
  for (const Judged& judged : judgement.all) {
    errors += is_error(judged) ? 1U : 0U;
    failures += !judged.right && !is_error(judged) ? 1U : 0U;
    add(ptx::demangled(judged.scenario) +
            (judged.parameters.empty() ? "" : " (" + judged.parameters + ")"),
        body_of(judged));
  }
  if (!judgement.error.empty()) {
    add(suite, element("error", name_of(judgement.exit), judgement.error, judgement.error + "\n"));
  }
  const std::size_t tests = judgement.all.size() + (judgement.error.empty() ? 0 : 1);
  const std::string counts = attribute("tests", std::to_string(tests)) +
                             attribute("failures", std::to_string(failures)) +
                             attribute("errors", std::to_string(errors));
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts + ">\n  <testsuite" +
         attribute("name", suite) + counts + attribute("skipped", "0") + ">\n" + cases +
         "  </testsuite>\n</testsuites>\n";
}

}  // namespace warptwin::sim
