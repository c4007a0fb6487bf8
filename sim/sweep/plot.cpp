#include "sim/sweep/plot.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <unistd.h>

#include "sim/json/json_text.hpp"

namespace warptwin::sim {

namespace {

std::size_t number_of(const Space& space, const Axis& axis) {
  return static_cast<std::size_t>(&axis - space.axes().data());
}

// Quoted for gnuplot, which reads nothing but the end of it in single quotes.
std::string quoted(std::string text) {
  std::replace(text.begin(), text.end(), '\'', '`');
  return "'" + text + "'";
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string{c};
  }
  return out;
}

std::string script_of(const SweepTable& table,
                      const SweepColumn& by,
                      const Axis& x,
                      const Axis* lines,
                      const std::string& terminal,
                      const std::string& output) {
  const Space& space = table.space;
  const auto column = static_cast<std::size_t>(
      std::find(table.columns.begin(), table.columns.end(), &by) - table.columns.begin());
  const std::vector<const SweepRow*> best = ranked(table, by);
  std::map<double, std::map<double, double>> curves;  // by line, by x
  for (const SweepRow* row : best) {                  // the best comes first, and stays
    const SweepPoint point = space.at(row->index);
    const double line = lines == nullptr ? 0 : point[number_of(space, *lines)];
    curves[line].emplace(point[number_of(space, x)], row->cells[column].get<double>());
  }
  const SweepPoint marked = space.at(best.front()->index);
  std::ostringstream script;
  script
      << "set terminal " << terminal << "\nset output " << quoted(output) << "\n"
      << "set title "
      << quoted(std::string{space.scenario().info->name} + ", best " +
                text_of(space.axes(), marked))
      << " noenhanced\nset xlabel " << quoted(x.name) << " noenhanced\nset ylabel "
      << quoted(by.name + (*by.unit == '\0' ? "" : std::string{" ("} + by.unit + ")"))
      << " noenhanced\nset key outside right noenhanced\nset grid\nset offsets graph 0.02, graph "
         "0.02, graph 0.05, graph 0.05\n"
      // Colours that are told apart without red and green (P. Tol), and a form of point each.
      << "set linetype 1 lc rgb '#0077BB' pt 7\nset linetype 2 lc rgb '#EE7733' pt 5\n"
         "set linetype 3 lc rgb '#009988' pt 9\nset linetype 4 lc rgb '#CC3311' pt 11\n"
         "set linetype 5 lc rgb '#33BBEE' pt 13\nset linetype 6 lc rgb '#EE3377' pt 4\n"
         "set linetype 7 lc rgb '#BBBBBB' pt 6\nset linetype 8 lc rgb '#000000' pt 8\n"
         "set linetype cycle 8\n";
  std::size_t number = 0;
  for (const auto& [line, curve] : curves) {
    script << "$curve" << number++ << " << EOD\n";
    for (const auto& [at, value] : curve) {
      script << text_of_number(at) << " " << text_of_number(value) << "\n";
    }
    script << "EOD\n";
  }
  script << "$best << EOD\n"
         << text_of_number(marked[number_of(space, x)]) << " "
         << text_of_number(best.front()->cells[column].get<double>()) << "\nEOD\nplot ";
  number = 0;
  for (const auto& [line, curve] : curves) {
    script << "$curve" << number << " with linespoints lt " << number + 1 << " title "
           << quoted(lines == nullptr ? by.name : lines->name + " " + text_of_number(line)) << ", ";
    ++number;
  }
  script << "$best with points pt 6 ps 2.5 lw 2 lc rgb '#000000' title 'best'\n";
  return script.str();
}

// Made in a file beside its place, and put there whole.
void draw(const std::string& script) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);  // where it is not there, nobody reads
  std::FILE* gnuplot = popen("gnuplot 2>/dev/null", "w");
  if (gnuplot == nullptr) {
    throw ConfigError("there can be no process for gnuplot");
  }
  std::fwrite(script.data(), 1, script.size(), gnuplot);
  const int status = pclose(gnuplot);
  std::signal(SIGPIPE, before);
  if (status != 0) {
    throw ConfigError(
        WEXITSTATUS(status) == 127
            ? "--plot is drawn by gnuplot, which is not here: apt-get install gnuplot-nox"
            : "gnuplot could not draw it");
  }
}

std::string page_of(const SweepTable& table, const SweepColumn& by, const std::string& svg) {
  constexpr std::size_t kShown = 20;
  std::string rows;
  const std::vector<const SweepRow*> best = ranked(table, by);
  for (std::size_t i = 0; i < best.size() && i < kShown; ++i) {
    rows += "<tr>";
    const Json cells = json_of(table, *best[i]);
    for (const auto& [name, value] : cells.items()) {
      rows += "<td>" + escaped(value.is_string() ? value.get<std::string>() : text_of_json(value)) +
              "</td>";
    }
    rows += "</tr>\n";
  }
  std::string names;
  const Json first = json_of(table, *best.front());
  for (const auto& [name, value] : first.items()) {
    names += "<th>" + escaped(name) + "</th>";
  }
  const std::string title = std::string{table.space.scenario().info->name} + ": a sweep";
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
         escaped(title) +
         "</title>\n<style>:root{color-scheme:light dark}body{font:15px/1.5 sans-serif;margin:2em}"
         "figure{margin:0;background:#fff;max-width:1000px}svg{width:100%;height:auto}"
         "table{border-collapse:collapse}td,th{padding:.2em .7em;text-align:right;"
         "border-bottom:1px solid #8884}</style></head>\n<body><h1>" +
         escaped(title) + "</h1>\n<figure>" + svg + "</figure>\n<table><thead><tr>" + names +
         "</tr></thead><tbody>\n" + rows + "</tbody></table>\n<pre>" +
         escaped(text_of(table, by, 0)) + "</pre></body></html>\n";
}

}  // namespace

const Axis* axis_of(const Space& space, const std::string& name, const Axis* taken) {
  for (const Axis& axis : space.axes()) {
    if (name.empty() ? axis.values.size() > 1 && &axis != taken : axis.name == name) {
      return &axis;
    }
  }
  if (!name.empty()) {
    throw ConfigError("'" + name + "' is not swept: name one that --set gives values");
  }
  return nullptr;
}

void write_plot(const SweepTable& table,
                const SweepColumn& by,
                const Axis& x,
                const Axis* lines,
                const std::string& path) {
  const std::string form = std::filesystem::path{path}.extension().string();
  if (form != ".svg" && form != ".png" && form != ".html") {
    throw ConfigError("--plot takes FILE.svg, FILE.png or FILE.html, not '" + path + "'");
  }
  if (ranked(table, by).empty()) {
    throw ConfigError("--plot: no row has a number in column " + by.name);
  }
  const std::string beside = path + ".new";
  const std::string terminal =
      form == ".png" ? "pngcairo size 1000,600 noenhanced" : "svg size 1000,600 dynamic noenhanced";
  draw(script_of(table, by, x, lines, terminal, beside));
  if (form == ".html") {
    std::ifstream picture{beside};
    const std::string svg{std::istreambuf_iterator<char>{picture}, {}};
    std::ofstream page{beside, std::ios::trunc};
    page << page_of(table, by, svg.substr(std::min(svg.find("<svg"), svg.size())));
    page.close();
  }
  if (std::rename(beside.c_str(), path.c_str()) != 0) {
    unlink(beside.c_str());
    throw ConfigError(path + ": cannot be written");
  }
}

}  // namespace warptwin::sim
