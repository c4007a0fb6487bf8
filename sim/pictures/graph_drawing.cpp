// The drawings that Graphviz lays out. It is told the sizes of all boxes and labels, so that what
// fonts a machine has changes nothing.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "common/kernel/scenario.hpp"
#include "common/trace/barrier_word.hpp"
#include "common/trace/words.hpp"

#include "sim/json/json_text.hpp"
#include "sim/pictures/digest.hpp"
#include "sim/pictures/drawings.hpp"
#include "sim/pictures/hues.hpp"
#include "sim/pictures/process.hpp"

namespace warptwin::sim {

namespace {

using Json = nlohmann::json;

constexpr double kPointsPerInch = 72;
constexpr double kLine = 16;  // of text, in pixels

struct GraphNode {
  std::string classes;
  std::vector<std::string> lines;  // the first is its name
  double round = 4;

  double width() const {
    double most = 40;
    for (const std::string& line : lines) {
      most = std::max(most, text_width(line));
    }
    return most + 26;
  }
  double height() const { return kLine * static_cast<double>(lines.size()) + 14; }
};

struct GraphEdge {
  std::size_t from = 0;
  std::size_t to = 0;
  std::vector<std::string> lines;
  std::string classes;  // of its line
};

struct Graph {
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;

  std::size_t add(const GraphNode& node) {
    nodes.push_back(node);
    return nodes.size() - 1;
  }
};

std::string label_of(const std::vector<std::string>& lines) {
  double wide = 0;
  for (const std::string& line : lines) {
    wide = std::max(wide, text_width(line));
  }
  return lines.empty() ? ""
                       : ", label=<<table border=\"0\" fixedsize=\"true\" width=\"" +
                             short_number(std::ceil(wide)) + "\" height=\"" +
                             short_number(kLine * static_cast<double>(lines.size())) +
                             "\"><tr><td></td></tr></table>>";
}

std::string dot_of(const Graph& graph) {
  std::string text =
      "digraph g { rankdir=LR; nodesep=0.3; ranksep=0.45; node [shape=box, fixedsize=true, "
      "label=\"\"]; edge [label=\"\"];\n";
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    text += "n" + std::to_string(i) +
            " [width=" + short_number(graph.nodes[i].width() / kPointsPerInch) +
            ", height=" + short_number(graph.nodes[i].height() / kPointsPerInch) + "];\n";
  }
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    const GraphEdge& edge = graph.edges[i];
    text += "n" + std::to_string(edge.from) + " -> n" + std::to_string(edge.to) + " [id=\"" +
            std::to_string(i) + "\"" + label_of(edge.lines) + "];\n";
  }
  return text + "}\n";
}

struct Spot {
  double x = 0;
  double y = 0;
};

// "x,y" behind `text`, which is moved on.
Spot point_of(const char*& text) {
  char* end = nullptr;
  Spot point;
  point.x = std::strtod(text, &end);
  text = *end == ',' ? end + 1 : end;
  point.y = std::strtod(text, &end);
  text = end;
  return point;
}

// Draws what Graphviz has laid out; its y grows upwards.
class Painter {
 public:
  Painter(const Graph& graph, const Json& layout, Svg& svg, double height)
      : graph_{graph}, svg_{svg}, height_{height} {
    for (const Json& edge : layout.value("edges", Json::array())) {
      paint_edge(edge, graph.edges.at(std::stoul(edge.at("id").get<std::string>())));
    }
    for (const Json& edge : layout.value("edges", Json::array())) {
      paint_label(edge, graph.edges.at(std::stoul(edge.at("id").get<std::string>())));
    }
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const std::string at = layout.at("objects").at(i).at("pos").get<std::string>();
      const char* text = at.c_str();
      paint_node(graph.nodes[i], placed(point_of(text)));
    }
  }

 private:
  static constexpr double kMargin = 10;
  Spot placed(Spot at) const { return {at.x + kMargin, height_ - at.y + kMargin}; }
  static std::string word(Spot at) { return short_number(at.x) + " " + short_number(at.y); }

  void paint_node(const GraphNode& node, Spot middle) {
    const double left = middle.x - node.width() / 2;
    const double top = middle.y - node.height() / 2;
    svg_.rect(left, top, node.width(), node.height(), node.classes, "", node.round);
    for (std::size_t i = 0; i < node.lines.size(); ++i) {
      svg_.text(middle.x,
                top + 7 + kLine * static_cast<double>(i) + 12,
                node.lines[i],
                i == 0 ? "h" : "s",
                "middle");
    }
  }

  void paint_edge(const Json& laid_out, const GraphEdge& edge) {
    const std::string at = laid_out.at("pos").get<std::string>();
    const char* text = at.c_str();
    Spot tip;
    std::vector<Spot> points;
    while (*text != '\0') {
      const bool is_tip = std::string_view{text}.starts_with("e,");
      text += is_tip || std::string_view{text}.starts_with("s,") ? 2 : 0;
      const Spot point = placed(point_of(text));
      is_tip ? tip = point : (points.push_back(point), point);
      while (*text == ' ') {
        ++text;
      }
    }
    std::string d = "M" + word(points.front()) + "C";
    for (std::size_t i = 1; i < points.size(); ++i) {
      d += " " + word(points[i]);
    }
    svg_.path(d, "edge " + edge.classes);
    const Spot back = points.back();
    const double long_ = std::max(std::hypot(tip.x - back.x, tip.y - back.y), 1e-6);
    const Spot along{(tip.x - back.x) / long_, (tip.y - back.y) / long_};
    const Spot left{back.x - 4.5 * along.y, back.y + 4.5 * along.x};
    const Spot right{back.x + 4.5 * along.y, back.y - 4.5 * along.x};
    const bool wrong = edge.classes.find("wrong") != std::string::npos;
    svg_.path("M" + word(tip) + "L" + word(left) + "L" + word(right) + "Z",
              wrong ? "tip wrong" : "tip");
  }

  void paint_label(const Json& laid_out, const GraphEdge& edge) {
    if (edge.lines.empty() || !laid_out.contains("lp")) {
      return;
    }
    const std::string at = laid_out.at("lp").get<std::string>();
    const char* text = at.c_str();
    const Spot middle = placed(point_of(text));
    const auto lines = static_cast<double>(edge.lines.size());
    for (std::size_t i = 0; i < edge.lines.size(); ++i) {
      svg_.text(middle.x,
                middle.y - kLine * lines / 2 + kLine * static_cast<double>(i) + 12,
                edge.lines[i],
                "e",
                "middle");
    }
  }

  const Graph& graph_;
  Svg& svg_;
  double height_;
};

Svg drawn(const Graph& graph, const std::string& description) {
  Svg svg{20, 0};
  if (graph.nodes.empty()) {
    return svg;
  }
  const Json layout = json_if_any<Json>(output_of("dot -Tjson", dot_of(graph), "graphviz"));
  if (layout.is_discarded()) {
    throw ConfigError("dot said what is no JSON: its version is not known here");
  }
  const std::string box = layout.at("bb").get<std::string>();
  const char* text = box.c_str();
  point_of(text);
  ++text;
  const Spot size = point_of(text);
  Svg whole{size.x + 20, size.y + 20};
  whole.describe(description);
  for (const GraphEdge& edge : graph.edges) {
    std::string said;
    for (const std::string& line : edge.lines) {
      said += (said.empty() ? "" : ", ") + line;
    }
    whole.describe(graph.nodes[edge.from].lines.front() + " " +
                   (said.empty() ? "waited for by" : said) + " " +
                   graph.nodes[edge.to].lines.front());
  }
  Painter{graph, layout, whole, size.y};
  return whole;
}

// What a handover is called on an arrow.
std::string words_of(const Handover& row, std::uint64_t phases) {
  if (row.owed != 0) {
    return "none of x" + std::to_string(row.owed);
  }
  std::string how = row.how;
  if (how.starts_with("mbarrier.")) {
    how = how.substr(how.find('.') + 1);
  }
  if (how == "cp.async.bulk.tensor (load)") {
    how = "TMA load";
  }
  const double whole = static_cast<double>(std::max<std::uint64_t>(phases, 1));
  if (row.bytes != 0) {
    return how + ", " + short_number(std::round(static_cast<double>(row.bytes) / whole)) + " B";
  }
  return how + " x" + short_number(static_cast<double>(row.arrivals) / whole);
}

}  // namespace

Svg pipeline_drawing(const Recording& recording) {
  Graph graph;
  Hues hues{recording};
  std::map<std::string, std::size_t> roles;
  std::map<std::string, std::uint32_t> warps;
  std::set<std::uint32_t> ctas;
  for (const Track& track : recording.tracks) {
    if (track.kind == TrackKind::kWarp) {
      ++warps[role_of(recording, track)];
      ctas.insert(track.cta);
    }
  }
  const auto node_of = [&](const std::string& role) {
    const auto [place, is_new] = roles.try_emplace(role, 0);
    if (is_new) {
      const std::uint64_t each = warps[role] / std::max<std::size_t>(ctas.size(), 1);
      place->second = graph.add({"role", {role, plural(each, "warp") + " a CTA"}, 10});
    }
    return place->second;
  };
  for (const Track& track : recording.tracks) {
    if (track.kind == TrackKind::kWarp) {
      node_of(role_of(recording, track));
    }
  }
  const auto arrays = pipeline_of(recording);
  for (const BarrierArray& array : arrays) {
    const std::string stages = array.stages > 1 ? "[" + std::to_string(array.stages) + "]" : "";
    const std::size_t node = graph.add({"ring s" + std::to_string(hues.of(array.name)),
                                        {array.name + stages, plural(array.phases, "phase")},
                                        2});
    std::map<std::string, GraphEdge> edges;
    for (const Handover& row : array.from) {
      GraphEdge& edge =
          edges.try_emplace(row.role, GraphEdge{node_of(row.role), node, {}, ""}).first->second;
      edge.lines.push_back(words_of(row, array.phases));
      edge.classes = row.owed != 0 && recording.unending ? "wrong" : "";
    }
    for (const auto& [role, edge] : edges) {
      graph.edges.push_back(edge);
    }
    for (const Handover& row : array.to) {
      graph.edges.push_back({node, node_of(row.role), {}, "waits"});
    }
  }
  return drawn(graph, "The pipeline: which role hands what to which, by which barrier");
}

namespace {

// "warps 0-3", "warp 4".
std::string warps_of(std::vector<std::uint32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::string text = numbers.size() == 1 ? "warp " : "warps ";
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) {
      ++last;
    }
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]) +
            (last == i ? "" : "-" + std::to_string(numbers[last]));
    i = last + 1;
  }
  return text;
}

// Whether `to` can be reached from `from`.
bool reaches(const Graph& graph, std::size_t from, std::size_t to) {
  std::vector<bool> seen(graph.nodes.size());
  std::vector<std::size_t> open{from};
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    if (at == to) {
      return true;
    }
    if (seen[at]) {
      continue;
    }
    seen[at] = true;
    for (const GraphEdge& edge : graph.edges) {
      if (edge.from == at) {
        open.push_back(edge.to);
      }
    }
  }
  return false;
}

// The warps that wait, and what they wait for, as a finding has them.
class WaitsGraph {
 public:
  explicit WaitsGraph(const Recording& recording) : recording_{recording}, hues_{recording} {
    const auto& details = recording.unending->details;
    for (const Detail& detail : details) {
      const auto* blocked = detail.as<Blocked>();
      if (blocked != nullptr && blocked->wait.object.kind == ObjectKind::kNothing) {
        add_agent(blocked->agent, {text_of(blocked->wait)});
      } else if (blocked != nullptr) {
        waiting_.push_back({blocked, add_agent(blocked->agent, {})});
      } else if (const auto* polls = detail.as<Polls>()) {
        add_agent(polls->agent, {std::string{"asks again: "} + warptwin::name_of(polls->op)});
      }
    }
    for (const auto& [blocked, node] : waiting_) {
      add_wait(*blocked, node);
    }
    for (const Detail& detail : details) {
      if (const auto* more = detail.as<LeftOut>()) {
        graph_.add({"frame", {lines_of(*more).front()}, 2});
      }
    }
    for (GraphEdge& edge : graph_.edges) {
      if (reaches(graph_, edge.to, edge.from)) {
        edge.classes += " wrong";
      }
    }
  }

  const Graph& graph() const { return graph_; }

 private:
  // "mma": as the timeline calls it, where the kernel declares none.
  std::string role_of_agent(const Agent& agent) const {
    for (const Track& track : recording_.tracks) {
      if (track.kind == TrackKind::kWarp && track.cta == agent.cta &&
          track.number == agent.warps.front()) {
        return role_of(recording_, track);
      }
    }
    return agent.role == Role::kCount ? "warps" : warptwin::name_of(agent.role);
  }

  std::size_t add_agent(const Agent& agent, const std::vector<std::string>& more) {
    std::vector<std::string> lines{
        role_of_agent(agent), "cta " + std::to_string(agent.cta) + " " + warps_of(agent.warps)};
    lines.insert(lines.end(), more.begin(), more.end());
    const std::size_t node = graph_.add({"role", lines, 10});
    for (const std::uint32_t warp : agent.warps) {
      agents_[{agent.cta, warp}] = node;
    }
    return node;
  }

  std::size_t agent_node(const Agent& agent, const Wait& wait) {
    const auto found = agents_.find({agent.cta, agent.warps.front()});
    return found == agents_.end() ? add_agent(agent, {text_of(wait)}) : found->second;
  }

  void add_wait(const Blocked& blocked, std::size_t waiter) {
    const Wait& wait = blocked.wait;
    const auto [place, is_new] = objects_.try_emplace(text_of(wait.object), 0);
    if (is_new) {
      place->second = graph_.add(node_of(wait));
    }
    graph_.edges.push_back({waiter, place->second, {"waits for"}, ""});
    if (!is_new) {
      return;
    }
    for (const Owed& owed : blocked.owed) {
      const std::size_t node =
          owed.by ? agent_node(owed.by->agent, owed.by->wait)
                  : graph_.add({"ring",
                                {warptwin::name_of(owed.role),
                                 owed.ended ? "has ended" : "the CTA has no such warp"},
                                10});
      graph_.edges.push_back({place->second, node, {"owed by"}, "waits"});
    }
    if (blocked.owed.empty()) {
      add_earlier(wait, place->second);
    }
  }

  GraphNode node_of(const Wait& wait) {
    GraphNode node{"ring", {text_of(wait.object)}, 2};
    if (wait.kind == WaitKind::kMbarrier) {
      node.classes += " s" + std::to_string(hues_.of(array_of(wait.object.name)));
    }
    if (const auto& stand = wait.barrier) {
      node.lines.push_back((stand->phase ? "phase " + std::to_string(*stand->phase)
                                         : "parity " + std::to_string(stand->parity)) +
                           " " + missing_of(stand->pending, stand->expected, stand->tx));
    } else if (wait.kind == WaitKind::kNamedBarrier && wait.have) {
      node.lines.push_back(std::to_string(*wait.have) + " of " + plural(wait.wanted, "thread") +
                           " have come");
    } else if (wait.kind != WaitKind::kMbarrier) {
      node.lines.push_back(text_of(wait));
    }
    return node;
  }

  // Nobody is declared to owe it: who arrived on it before is known.
  void add_earlier(const Wait& wait, std::size_t barrier) {
    std::set<std::size_t> nodes;
    for (const Slice& slice : recording_.slices) {
      if (slice.barrier == kNoTrack || slice.kind != SliceKind::kOperation ||
          (slice.count == 0 && slice.bytes == 0)) {
        continue;
      }
      const Track& on = recording_.tracks[slice.barrier];
      const Track& warp = recording_.tracks[slice.track];
      if (warp.kind == TrackKind::kWarp && on.cta == wait.object.cta &&
          recording_.name(on.name) == wait.object.name) {
        const Agent agent{warp.cta, {warp.number}, Role::kCount};
        const auto found = agents_.find({warp.cta, warp.number});
        nodes.insert(found == agents_.end() ? add_agent(agent, {"does not wait"}) : found->second);
      }
    }
    for (const std::size_t node : nodes) {
      graph_.edges.push_back({barrier, node, {"arrived before"}, "waits"});
    }
  }

  const Recording& recording_;
  Hues hues_;
  Graph graph_;
  std::vector<std::pair<const Blocked*, std::size_t>> waiting_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> agents_;  // by CTA and warp
  std::map<std::string, std::size_t> objects_;
};

}  // namespace

Svg waits_drawing(const Recording& recording) {
  if (!recording.unending) {
    return drawn({}, "");
  }
  return drawn(WaitsGraph{recording}.graph(),
               "Who waits for what, and who owes it; what is in a circle is bold");
}

}  // namespace warptwin::sim
