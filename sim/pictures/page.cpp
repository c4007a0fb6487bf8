#include "sim/pictures/page.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "sim/json/json_text.hpp"
#include "sim/pictures/colours.hpp"
#include "sim/pictures/page_text.hpp"
#include "sim/pictures/payload.hpp"
#include "sim/report/source_path.hpp"

namespace warptwin::sim {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kLinesMost = 5000;  // of one source file

Json drawing(
    const char* id, const char* title, const char* link, const char* text, const std::string& svg) {
  return {{"id", id}, {"title", title}, {"link", link}, {"text", text}, {"svg", svg}};
}

// Of several runs one below the other, each under its name.
std::string time_of(const std::vector<Recording>& recordings) {
  std::string text;
  for (const Recording& recording : recordings) {
    text += recordings.size() == 1 ? "" : "<h3>" + escaped(title_of(recording)) + "</h3>";
    text += time_drawing(recording).in_page();
  }
  return text;
}

// But for where the time goes, of the first run.
Json drawings_of(const std::vector<Recording>& recordings) {
  const Recording& recording = recordings.front();
  Json all = Json::array();
  all.push_back(
      drawing("pipeline",
              "The pipeline",
              "Pipeline",
              "Roles, and the barriers between them. A line says what a role gives to one "
              "phase; a dashed line leads to who waits for it.",
              pipeline_drawing(recording).in_page()));
  all.push_back(drawing("time",
                        "Where the time goes",
                        "Time",
                        recording.clock == RecordingClock::kSteps
                            ? "Shares of the steps of this schedule, which are no times: an "
                              "operation takes one step, and what waits waits for its turn too."
                            : "Of the life of each role's warps, and of each unit.",
                        time_of(recordings)));
  const Svg path = path_drawing(recording);
  const auto has_path = [](const Track& track) { return track.kind == TrackKind::kPath; };
  if (std::any_of(recording.tracks.begin(), recording.tracks.end(), has_path)) {
    all.push_back(drawing("path",
                          "The critical path",
                          "Path",
                          "What the run waited for, from its end back to its begin. The timeline "
                          "has it as its own row.",
                          path.in_page()));
  }
  return all;
}

// The lines of the files that steps are at, by the files' names as steps have them.
Json sources_of(const PageContents& contents) {
  Json sources = Json::object();
  for (const JudgedFinding& finding : contents.findings) {
    for (const JudgedStep& step : finding.steps) {
      const std::string& file = step.place.file;
      if (file.empty() || sources.contains(file)) {
        continue;
      }
      const std::string name = path_from(file, contents.source_root);
      std::ifstream in{std::filesystem::path{contents.source_root} / name};
      Json lines = Json::array();
      for (std::string line; lines.size() < kLinesMost && std::getline(in, line);) {
        lines.push_back(line);
      }
      if (!lines.empty()) {
        sources[file] = {{"name", name}, {"lines", std::move(lines)}};
      }
    }
  }
  return sources;
}

Json json_of(const JudgedFinding& finding, const std::string& svg) {
  Json steps = Json::array();
  for (const JudgedStep& step : finding.steps) {
    steps.push_back({{"agent", step.agent},
                     {"what", step.what},
                     {"file", step.place.file},
                     {"line", step.place.line},
                     {"number", step.number}});
  }
  return {{"id", finding.id},
          {"severity", finding.severity},
          {"text", finding.text},
          {"drawing", svg},
          {"left_out", finding.steps.size() > kPageSteps},
          {"steps", std::move(steps)}};
}

// The finding that the first run does not end; the number of them all where it is none.
std::size_t unending_of(const PageContents& contents) {
  std::size_t at = contents.findings.size();
  if (!contents.recordings.empty() && contents.recordings.front().unending) {
    const auto same = [&](const JudgedFinding& one) {
      return one.id == contents.recordings.front().unending->info->id;
    };
    const auto found = std::find_if(contents.findings.begin(), contents.findings.end(), same);
    at = static_cast<std::size_t>(found - contents.findings.begin());
  }
  return at;
}

Json json_of(const PageContents& contents) {
  constexpr const char* kVerdicts[] = {"right", "wrong", "open"};
  Json data{{"verdict", kVerdicts[static_cast<std::size_t>(contents.verdict)]},
            {"word", contents.word},
            {"title", contents.title},
            {"answer", contents.answer},
            {"drawings", Json::array()},
            {"runs", Json::array()},
            {"findings", Json::array()},
            {"sources", sources_of(contents)}};
  if (!contents.recordings.empty()) {
    data["drawings"] = drawings_of(contents.recordings);
  }
  for (const Recording& recording : contents.recordings) {
    data["runs"].push_back(payload_of(recording));
  }
  const std::size_t at = unending_of(contents);
  for (std::size_t i = 0; i < contents.findings.size(); ++i) {
    data["findings"].push_back(
        json_of(contents.findings[i],
                i == at ? waits_drawing(contents.recordings.front()).in_page() : std::string{}));
  }
  if (contents.compares) {
    Json rows = Json::array();
    for (const PageMismatch& row : contents.mismatches) {
      rows.push_back({{"where", row.where},
                      {"first", row.first},
                      {"second", row.second},
                      {"before", row.before}});
    }
    data["comparison"] = {{"mismatches", rows}};
  }
  return data;
}

// JSON inside of a script: nothing in it may end the script.
std::string script_text(const Json& data) {
  std::string text = text_of_json(data);
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;) {
    text.replace(at, 1, "\\u003c");
  }
  return text;
}

}  // namespace

std::string page_of(const PageContents& contents) {
  const std::pair<std::string_view, std::string> parts[] = {
      {"<!--title-->", escaped("warptwin: " + contents.title)},
      {"<!--colours-->", page_colours()},
      {"<!--css-->", page_text::kCss},
      {"<!--library-->", std::string{page_text::kLicence} + page_text::kLibrary},
      {"<!--data-->", script_text(json_of(contents))},
      {"<!--script-->", std::string{page_text::kData} + page_text::kTimeline + page_text::kPage}};
  std::string page;
  std::string_view rest = page_text::kHtml;
  for (const auto& [mark, text] : parts) {
    const std::size_t at = rest.find(mark);
    page += rest.substr(0, at);
    page += text;
    rest.remove_prefix(at + mark.size());
  }
  return page.append(rest);
}

}  // namespace warptwin::sim
