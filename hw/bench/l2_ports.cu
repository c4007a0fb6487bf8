// Who takes turns at the port of a GPC, and what holds SMs together that read the same lines.
//
//   warptwin-measure-ports OUT.json
//
// One thread of every SM keeps `depth` boxes of contiguous lines on their way, by bulk copies, and
// notes when each 16th came. Some SMs read lines of their own, some the same ones as others, each
// `delay` cycles after the one before.
// Exit codes: 0, 2 usage, 4 no device.

#include <array>
#include <fstream>
#include <map>
#include <string>

#include "hw/bench/l2_streams.cuh"

namespace warptwin::hw::bench {
namespace {

// SMs of the largest GPC that read the same, beside others of it that read lines of their own: when
// their boxes came, of every twentieth note.
void note_sharers(Ports& ports,
                  const std::map<std::uint32_t, std::vector<std::uint32_t>>& of,
                  std::ostream& out) {
  constexpr std::uint32_t kNotesApart = 20;
  const std::uint32_t sms = ports.sms();
  const auto largest = std::max_element(of.begin(), of.end(), [](const auto& x, const auto& y) {
                         return x.second.size() < y.second.size();
                       })->second;
  for (const bool near : {true, false}) {
    for (const std::uint32_t sharers : {2U, 4U}) {
      for (const std::uint32_t beside : {0U, 6U, 12U}) {
        for (const std::uint32_t depth : {2U, 4U, 8U, 24U}) {
          for (const std::uint32_t delay :
               {0U, 100U, 200U, 300U, 500U, 1000U, 2000U, 4000U, 8000U}) {
            std::vector<Part> parts(sms, Part{kIdle, 0});
            std::vector<std::uint32_t> places;
            const std::uint32_t size = static_cast<std::uint32_t>(largest.size());
            for (std::uint32_t i = 0; i < sharers; ++i) {
              places.push_back(largest[near ? i : i * size / sharers]);
              parts[places.back()] = {0, i * delay};
            }
            std::uint32_t others = 0;
            for (const std::uint32_t sm : largest) {
              if (parts[sm].stream == kIdle && others < beside) {
                parts[sm] = {1 + others++, 0};
              }
            }
            const auto notes = ports.run(parts, depth);
            out << ",\n{\"what\": \"" << (near ? "near" : "far") << "\", \"sharers\": " << sharers
                << ", \"beside\": " << beside << ", \"depth\": " << depth
                << ", \"delay\": " << delay << ", \"times\": [";
            for (std::uint32_t i = 0; i < sharers; ++i) {
              out << (i == 0 ? "[" : ", [");
              for (std::uint32_t n = 0; n < kNotes; n += kNotesApart) {
                out << (n == 0 ? "" : ",") << notes[places[i] * kNotes + n];
              }
              out << "]";
            }
            double sum = 0;
            for (std::uint32_t sm = 0; sm < sms; ++sm) {
              const bool other = parts[sm].stream != kIdle && parts[sm].stream != 0;
              sum += other ? rate(notes, sm, 8, 30) : 0;
            }
            out << "], \"others\": " << number(beside == 0 ? 0 : sum / beside) << "}";
          }
        }
      }
    }
  }
}

void measure(const char* path) {
  Ports ports;
  std::ofstream out{path};
  const std::uint32_t sms = ports.sms();
  std::map<std::uint32_t, std::vector<std::uint32_t>> of;
  for (std::uint32_t sm = 0; sm < sms; ++sm) {
    of[ports.gpc()[sm]].push_back(sm);
  }
  cudaDeviceProp device{};
  require_cuda(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties", "see the error");
  out << "{\"device\": \"" << device.name << "\",\n\"gpc_of_sm\": [";
  for (std::uint32_t sm = 0; sm < sms; ++sm) {
    out << (sm == 0 ? "" : ", ") << ports.gpc()[sm];
  }
  out << "],\n\"runs\": [";
  const char* between = "\n";
  // While all load: the first ones to end do so at about note 40.
  const auto note_rates =
      [&](const std::string& what, std::uint32_t depth, const std::vector<Part>& parts) {
        const auto notes = ports.run(parts, depth);
        out << between << "{\"what\": \"" << what << "\", \"depth\": " << depth << ", \"rates\": [";
        for (std::uint32_t sm = 0; sm < sms; ++sm) {
          out << (sm == 0 ? "" : ", ")
              << (parts[sm].stream == kIdle ? "0" : number(rate(notes, sm, 4, 38)));
        }
        out << "]}";
        between = ",\n";
      };
  std::vector<Part> all(sms);
  for (std::uint32_t sm = 0; sm < sms; ++sm) {
    all[sm] = {sm, 0};
  }
  for (const std::uint32_t depth : {2U, 4U, 8U, 12U, 24U}) {
    note_rates("all", depth, all);
  }
  for (const auto& [gpc, members] : of) {
    std::vector<Part> one(sms, Part{kIdle, 0});
    for (const std::uint32_t sm : members) {
      one[sm] = {sm, 0};
    }
    note_rates("GPC " + std::to_string(gpc) + " alone", 24, one);
  }
  for (std::uint32_t place = 0; place < 18; ++place) {
    std::vector<Part> most = all;
    for (const auto& [gpc, members] : of) {
      if (place < members.size() && members.size() > 2) {
        most[members[place]].stream = kIdle;
      }
    }
    note_rates("all but place " + std::to_string(place), 24, most);
  }
  for (std::uint32_t sm = 0; sm < sms; ++sm) {  // those of GPCs that no cluster joins
    if (of[ports.gpc()[sm]].size() <= 2) {
      std::vector<Part> most = all;
      most[sm].stream = kIdle;
      note_rates("all but SM " + std::to_string(sm), 24, most);
    }
  }
  note_sharers(ports, of, out);
  out << "\n]}\n";
}

}  // namespace
}  // namespace warptwin::hw::bench

int main(int count, char** arguments) {
  return warptwin::hw::bench::measure_to_file(
      count, arguments, "usage: warptwin-measure-ports OUT.json", warptwin::hw::bench::measure);
}
