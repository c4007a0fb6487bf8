// Sweep, and tune.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <ostream>
#include <set>
#include <thread>
#include <unistd.h>

#include "sim/cli/commands/commands.hpp"
#include "sim/cli/limited.hpp"
#include "sim/json/json_text.hpp"
#include "sim/sweep/journal.hpp"
#include "sim/sweep/plot.hpp"
#include "sim/sweep/ranks.hpp"
#include "sim/sweep/table.hpp"
#include "sim/sweep/tune_report.hpp"

namespace warptwin::sim::cli {

// How far it is, on a terminal alone.
class Progress {
 public:
  Progress(std::uint64_t all, std::uint64_t there) : all_{all}, begun_with_{there}, done_{there} {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (shows_) {
      std::fputs("\r\033[K", stderr);
    }
  }

  void set(std::uint64_t done) {
    done_ = done;
    const auto now = Clock::now();
    if (!shows_ || now - shown_ < std::chrono::milliseconds{100}) {
      return;
    }
    shown_ = now;
    constexpr std::uint64_t kWidth = 30;
    const std::uint64_t full = all_ == 0 ? kWidth : kWidth * done_ / all_;
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    const auto made = static_cast<double>(done_ - begun_with_);
    const double left = made > 0 ? seconds / made * static_cast<double>(all_ - done_) : 0;
    std::fprintf(stderr,
                 "\r[%s%s] %llu of %llu, %.1f a second, %.0f s left\033[K",
                 std::string(full, '=').c_str(),
                 std::string(kWidth - full, ' ').c_str(),
                 static_cast<unsigned long long>(done_),
                 static_cast<unsigned long long>(all_),
                 made / std::max(seconds, 1e-9),
                 left);
  }
  void add() { set(done_ + 1); }

 private:
  using Clock = std::chrono::steady_clock;

  std::uint64_t all_;
  std::uint64_t begun_with_;
  std::uint64_t done_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point shown_{};
  bool shows_ = isatty(2) != 0;
};

static std::size_t cores_for(const Session& session) {
  const std::uint64_t jobs = unsigned_option(session, "jobs", 0, 4096);
  if (ranks_of_process() != nullptr) {
    return std::max<std::uint64_t>(jobs, 1);  // of each rank
  }
  return jobs != 0 ? jobs : std::max(1U, std::thread::hardware_concurrency());
}

static TimingOptions timing_of(const Session& session, const ScenarioEntry& scenario) {
  TimingOptions timing =
      timed_run_options(session, run_options(session, scenario, ParameterSet{scenario.parameters}));
  timing.run.moves_data = false;
  timing.run.detect = false;
  return timing;
}

// Another program may count or choose otherwise: its rows are no rows of this one's.
static std::string identity_of_program() {
  std::ifstream file{"/proc/self/exe", std::ios::binary};
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  for (std::istreambuf_iterator<char> at{file}, end; at != end; ++at) {
    hash = (hash ^ static_cast<unsigned char>(*at)) * 1099511628211ULL;
  }
  return std::to_string(hash);
}

static std::string header_line(const Session& session,
                               const Space& space,
                               const SweepOptions& how) {
  Json line;
  line["sweep"] = space.text();
  line["where"] = strings(session, "where");
  for (const SweepColumn* column : how.columns) {
    line["columns"].push_back(column->name);
  }
  for (const char* option : {"clock",
                             "l2",
                             "profile",
                             "seed",
                             "max-steps",
                             "resident-ctas",
                             "ctas-per-sm",
                             "time-limit",
                             "memory-limit"}) {
    line[option] = text_option(session, option);
  }
  line["rule"] = strings(session, "rule");
  line["without"] = strings(session, "without");
  line["program"] = identity_of_program();
  return text_of_json(line);
}

// What there is of it, and then the rest.
static void run_all(Session& session,
                    SweepTable& table,
                    const SweepOptions& how,
                    std::vector<std::uint64_t> points,
                    std::optional<Journal>& journal) {
  const std::size_t all = points.size();
  if (journal) {
    table.rows = journal->rows();
    std::set<std::uint64_t> there;
    for (const SweepRow& row : table.rows) {
      there.insert(row.index);
    }
    std::erase_if(points, [&](std::uint64_t one) { return there.contains(one); });
    if (!there.empty()) {
      session.err << there.size() << " of " << all << " rows were there\n";
    }
  }
  Progress progress{all, all - points.size()};
  const auto deliver = [&](const SweepRow& row) {
    if (journal) {
      journal->add(row);
    }
    table.rows.push_back(row);
    progress.add();
  };
  if (Ranks* ranks = ranks_of_process()) {
    const RanksResult result = run_points(table.space, points, how, deliver, *ranks);
    for (const int rank : result.lost) {
      session.err << "rank " << rank << " of " << ranks->count() << " has died\n";
    }
    if (!result.lost.empty()) {
      session.err << "others ran the " << result.again << " points that were lost with it\n";
      ranks_of_process() = nullptr;
    }
  } else {
    run_points(table.space, points, how, deliver);
  }
  std::sort(table.rows.begin(), table.rows.end(), [](const SweepRow& a, const SweepRow& b) {
    return a.index < b.index;
  });
}

ExitCode sweep_command(Session& session) {
  const ScenarioEntry& scenario = find_scenario(session);
  const Chip chip = chip_of(session.options["chip"].as<std::string>());
  const Space space{scenario, chip, strings(session, "set")};
  const auto columns = text_option(session, "columns");
  const auto by_name = text_option(session, "by");
  SweepOptions how{timing_of(session, scenario),
                   columns_of(columns),
                   cores_for(session),
                   limits_of(session.options)};
  const SweepColumn& by = *columns_of(by_name).front();
  if (std::find(how.columns.begin(), how.columns.end(), &by) == how.columns.end()) {
    how.columns.push_back(&by);
  }
  const std::string file = text_option(session, "table");
  if (!file.empty()) {
    check_table_name(file);
  }
  const std::string picture = text_option(session, "plot");
  const Axis* x = axis_of(space, text_option(session, "x"));
  const Axis* lines = axis_of(space, text_option(session, "lines"), x);
  if (!picture.empty() && x == nullptr) {
    throw ConfigError("--plot needs a name with several values, as --set stages=2..8");
  }
  Where where{space, strings(session, "where")};
  if (Ranks* ranks = ranks_of_process(); ranks != nullptr && ranks->rank() != 0) {
    if (!serve_points(space, how, *ranks)) {
      ranks_of_process() = nullptr;
    }
    return ExitCode::kClean;
  }
  const std::vector<std::uint64_t> points = points_of(space, where);
  if (points.empty()) {
    throw ConfigError("--where leaves nothing of " + std::to_string(space.size()) +
                      " combinations");
  }
  std::optional<Journal> journal;
  if (!file.empty()) {
    journal.emplace(file + ".part", header_line(session, space, how), how.columns.size());
  }
  SweepTable table{space, how.columns, {}, space.size() - points.size()};
  run_all(session, table, how, points, journal);
  if (journal) {
    write_table(table, file);
    journal->remove();
  }
  if (!picture.empty()) {
    write_plot(table, by, *x, lines, picture);
  }
  const ExitCode code = exit_of(table);
  if (table.count(SweepEnd::kNoFit) == table.rows.size()) {
    throw ConfigError("nothing fits: " + table.rows.front().why);
  }
  if (session.json()) {
    Json rows = Json::array();
    for (const SweepRow& row : table.rows) {
      rows.push_back(json_of(table, row));
    }
    write_json(session,
               {{"scenario", scenario.info->name},
                {"chip", chip.name},
                {"left_out", table.left_out},
                {"rows", rows},
                {"exit", static_cast<int>(code)}});
    return code;
  }
  session.out << text_of(table, by, unsigned_option(session, "top", 0, 1'000'000));
  return code;
}

// "m=4096,n=4096" as settings.
static std::vector<std::string> settings_of(const std::string& problem) {
  std::vector<std::string> settings;
  for (std::size_t at = 0; at <= problem.size();) {
    const std::size_t end = std::min(problem.find(',', at), problem.size());
    const auto [name, value] = name_and_value(problem.substr(at, end - at), "--problem");
    static_cast<void>(integer(value, "--problem " + name));
    settings.push_back(name + "=" + value);
    at = end + 1;
  }
  return settings;
}

static void write_header(const Session& session,
                         const std::vector<TunedProblem>& problems,
                         const Space& space,
                         const std::string& path) {
  std::string what =
      std::string{space.scenario().info->name} + " on " + session.options["chip"].as<std::string>();
  std::ofstream file{path, std::ios::binary};
  file << header_of(problems, space, what);
  if (!file.flush()) {
    throw ConfigError(path + ": cannot be written");
  }
}

ExitCode tune_command(Session& session) {
  const ScenarioEntry& scenario = find_scenario(session);
  const Chip chip = chip_of(session.options["chip"].as<std::string>());
  TuneOptions how{timing_of(session, scenario),
                  static_cast<std::uint32_t>(unsigned_option(session, "runs", 1, 100'000)),
                  cores_for(session),
                  limits_of(session.options)};
  std::vector<std::string> problems = strings(session, "problem");
  const std::string header = text_option(session, "header");
  if (!header.empty() && problems.empty()) {
    throw ConfigError("--header is of the problems that --problem names");
  }
  const bool one = problems.empty();
  problems.resize(std::max<std::size_t>(problems.size(), 1));
  std::vector<TunedProblem> found;
  Json reports = Json::array();
  ExitCode code = ExitCode::kClean;
  std::optional<Space> space;
  for (const std::string& problem : problems) {
    std::vector<std::string> settings = one ? std::vector<std::string>{} : settings_of(problem);
    TunedProblem tuned{{}, ParameterSet{scenario.parameters}, 0};
    for (const std::string& setting : settings) {
      const auto [name, value] = name_and_value(setting, "--problem");
      tuned.problem.emplace_back(name, integer(value, name));
      if (!found.empty() && (found.front().problem.size() < tuned.problem.size() ||
                             found.front().problem[tuned.problem.size() - 1].first != name)) {
        throw ConfigError("--problem " + problem +
                          ": every problem has the same names in the same "
                          "order");
      }
    }
    for (const std::string& setting : strings(session, "set")) {
      settings.push_back(setting);
    }
    const std::vector<std::string> usual = usual_values(scenario, settings);
    settings.insert(settings.end(), usual.begin(), usual.end());
    space.emplace(scenario, chip, settings);
    Where where{*space, strings(session, "where")};
    Progress progress{how.runs_max, 0};
    const TuneResult result =
        tune(*space, where, how, [&](std::uint64_t runs) { progress.set(runs); });
    code = worse(code, exit_of(result));
    if (result.proved) {
      tuned.parameters = space->parameters(space->at(result.runs[result.best].index));
      tuned.microseconds = result.runs[result.best].microseconds;
      found.push_back(tuned);
    }
    if (session.json()) {
      reports.push_back(json_of(*space, result));
    } else {
      session.out << text_of(*space, result);
    }
  }
  if (!header.empty() && !found.empty()) {
    write_header(session, found, *space, header);
  }
  if (session.json()) {
    write_json(session,
               {{"chip", chip.name}, {"problems", reports}, {"exit", static_cast<int>(code)}});
  }
  return code;
}

}  // namespace warptwin::sim::cli
