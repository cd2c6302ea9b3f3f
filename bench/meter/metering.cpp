// What metering costs: the sampler with a number of sources of one kind, for some seconds.
//
//   bench_meter KIND SOURCES HERTZ SECONDS      KIND: file | waiting | spinning
//
// `file`: RAPL zones of a made-up tree. `waiting` and `spinning`: a read takes 2.4 ms, as long as
// NVML's energy counter or a BMC, asleep or computing. Prints one line of JSON: the processor time
// of the sampler's threads over the wall time, the rounds, and the resident memory after the first
// tenth and at the end. Every source must have been read once a round, or it fails.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "meter/made_up_source.h"
#include "meter/made_up_tree.h"
#include "meter/rapl.h"
#include "meter/sampler.h"

namespace {

using namespace parajoule;
using base::Seconds;
using Sources = std::vector<std::unique_ptr<meter::Source>>;

constexpr std::chrono::microseconds slow_read{2400};

double number(const char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  base::ensure(end != text && *end == '\0' && value > 0, "arguments are numbers above 0");
  return value;
}

Sources files(const meter::MadeUpTree& tree, int count) {
  for (int i = 0; i < count; ++i)
    tree.zone(fmt::format("sys/class/powercap/intel-rapl:{}", i), fmt::format("package-{}", i),
              1'000'000 + i);
  meter::Opened opened = meter::open_rapl(tree.options());
  base::ensure(opened.sources.size() == std::size_t(count), "every zone is a source");
  return std::move(opened.sources);
}

meter::Reading slowly(std::string_view kind) {
  const auto until = std::chrono::steady_clock::now() + slow_read;
  if (kind == "waiting") std::this_thread::sleep_until(until);
  while (std::chrono::steady_clock::now() < until) {
  }
  return 100.0;
}

Sources fakes(std::string_view kind, int count) {
  Sources sources;
  for (int i = 0; i < count; ++i)
    sources.push_back(
        meter::made_up(meter::described(fmt::format("fake {}", i), meter::Quantity::power),
                       [kind = std::string(kind)](Seconds) { return slowly(kind); }));
  return sources;
}

/// Resident, in bytes.
long resident() {
  long pages = 0;
  std::ifstream statm("/proc/self/statm");
  statm >> pages >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

int run(std::string_view kind, int count, double hertz, double seconds) {
  const meter::MadeUpTree tree;
  std::size_t values = 0;
  meter::Sampler sampler(kind == "file" ? files(tree, count) : fakes(kind, count),
                         {.hertz = hertz, .sink = [&](std::span<const meter::Row> rows) {
                            for (const meter::Row& row : rows)
                              values += std::holds_alternative<double>(row.reading);
                          }});
  std::this_thread::sleep_for(Seconds(seconds / 10));
  const long early = resident();
  std::this_thread::sleep_for(Seconds(seconds * 9 / 10));
  const long late = resident();
  sampler.stop();
  const meter::SamplingCost cost = sampler.cost();
  base::ensure(values == cost.rounds * std::size_t(count), "every source gave a value each round");
  std::puts(fmt::format(R"({{"kind": "{}", "sources": {}, "hertz": {}, "core": {:.6f}, )"
                        R"("rounds": {}, "left_out": {}, "longest_round_seconds": {:.6f}, )"
                        R"("resident_early": {}, "resident_late": {}}})",
                        kind, count, hertz, cost.cpu / cost.wall, cost.rounds, cost.left_out,
                        cost.longest_round.count(), early, late)
                .c_str());
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) {
    std::fputs("bench_meter file|waiting|spinning SOURCES HERTZ SECONDS\n", stderr);
    return 2;
  }
  const std::string_view kind = words[1];
  base::ensure(kind == "file" || kind == "waiting" || kind == "spinning", "a known kind");
  return run(kind, int(number(words[2])), number(words[3]), number(words[4]));
}
