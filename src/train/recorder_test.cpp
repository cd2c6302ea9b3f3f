// The record of a run on two machines that are made up: ranks are threads, the meters are files.
#include "train/recorder.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/solo.h"
#include "comm/threads.h"
#include "meter/made_up_tree.h"
#include "store/reader.h"
#include "store/test_record.h"

namespace parajoule::train {
namespace {

using base::Seconds;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

const std::filesystem::path package = "sys/class/powercap/intel-rapl:0";

/// One package with a counter, and memory that has none.
class MadeUpMachine {
 public:
  MadeUpMachine(std::string name, int memory_gib) : name_(std::move(name)) {
    tree_.zone(package, "package-0", 1'000'000);
    tree_.write("proc/stat", "cpu0 1 0 0 1 0 0 0 0 0 0\ncpu1 1 0 0 1 0 0 0 0 0 0\n");
    tree_.write("proc/meminfo", fmt::format("MemTotal: {} kB\n", memory_gib << 20));
  }
  const meter::MadeUpTree& tree() const { return tree_; }

  Hardware of_rank(int rank) const {
    Hardware hardware{.machine = {.boot_id = name_,
                                  .host = "host of " + name_,
                                  .cpus = 2,
                                  .memory_bytes = 1,
                                  .cores = {rank % 2},
                                  .visible_devices = std::to_string(rank)},
                      .meters = tree_.options()};
    hardware.meters.periods = tree_.root() / "periods.json";
    if (const auto file = tree_.root() / "wall.csv"; std::filesystem::exists(file))
      hardware.wall = {file};
    return hardware;
  }

  /// A wall meter that shows so many watts for minutes around now.
  void plug_in(double watts) const {
    const double now = double(std::time(nullptr));
    std::string text = fmt::format("# outlet: of {}\ntime,watts\n", name_);
    for (int twentieth = -100; twentieth < 2000; ++twentieth)
      text += fmt::format("{},{}\n", now + 0.05 * twentieth, watts);
    tree_.write("wall.csv", text);
  }

 private:
  std::string name_;
  meter::MadeUpTree tree_;
};

struct Told final : Reporter {
  std::vector<std::string> notes;
  void note(std::string_view text) override { notes.emplace_back(text); }
};

class RecorderTest : public testing::Test {
 protected:
  RecorderTest() {
    experiment.records = folder.path();
    experiment.sampling_hertz = 50;
  }

  /// Four ranks, two on each machine, do `work` and end well. Returns the record.
  std::string run(const std::function<void(Recorder&, int rank)>& work) {
    const meter::Running one(first.tree(), {package});
    const meter::Running other(second.tree(), {package});
    std::string path;
    comm::Threads(4).run([&](comm::Communicator& group) {
      Told quiet;
      Reporter& reporter = group.rank() == 0 ? told : quiet;
      const MadeUpMachine& machine = group.rank() < 2 ? first : second;
      Recorder recorder(experiment, group, reporter, machine.of_rank(group.rank()));
      work(recorder, group.rank());
      recorder.finish(store::State::done, "");
      if (group.rank() == 0) path = recorder.path();
    });
    return path;
  }

  static void for_a_while(Recorder& recorder, const std::function<bool()>& enough) {
    for (int i = 0; i < 2000 && !enough(); ++i) {
      recorder.move();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  const store::TemporaryFolder folder;
  const MadeUpMachine first{"first", 16}, second{"second", 32};
  Experiment experiment;
  Told told;
};

std::vector<std::string> notes_of(const store::Reader& record) {
  std::vector<std::string> texts;
  for (const store::Note& note : record.rows<store::Note>()) texts.push_back(note.text);
  return texts;
}

TEST_F(RecorderTest, MetersEachMachineOnceAndBringsItsReadings) {
  const store::Reader record(run([](Recorder& recorder, int) {
    const Seconds end = recorder.now() + Seconds(0.8);
    for_a_while(recorder, [&] { return recorder.now() > end; });
  }));
  const auto nodes = record.rows<store::Node>();
  ASSERT_THAT(nodes, SizeIs(2));
  EXPECT_EQ(nodes[0].boot_id, "first");
  EXPECT_EQ(nodes[1].boot_id, "second");
  EXPECT_EQ(nodes[1].host, "host of second");

  std::map<int, int> node_of, readings;
  std::map<int, std::vector<std::string>> devices;
  for (const store::Source& source : record.rows<store::Source>()) {
    EXPECT_TRUE(node_of.emplace(source.source, source.node).second);
    devices[source.node].push_back(source.device);
  }
  EXPECT_THAT(devices[0], Contains("package-0").Times(1));
  EXPECT_EQ(devices[0], devices[1]);

  std::map<int, Seconds> last;
  for (const store::Reading& reading : record.rows<store::Reading>()) {
    ++readings[reading.source];
    EXPECT_GE(reading.seconds, std::max(last[reading.source], Seconds(0)));
    last[reading.source] = reading.seconds;
  }
  for (const auto& [source, node] : node_of) {
    EXPECT_GE(readings[source], 2) << source;
    EXPECT_GE(last[source], Seconds(0.7)) << source;
  }
  EXPECT_THAT(notes_of(record), Contains(StartsWith(store::metering_cost)).Times(2));
  EXPECT_THAT(notes_of(record), Contains(HasSubstr(" of node 1, ")));
}

TEST_F(RecorderTest, TakesInTheWallMeterOfEachMachine) {
  first.plug_in(300);
  second.plug_in(500);
  const store::Reader record(run([](Recorder& recorder, int) {
    const Seconds end = recorder.now() + Seconds(0.2);
    for_a_while(recorder, [&] { return recorder.now() > end; });
  }));
  const auto sources = record.rows<store::Source>();
  std::map<std::string, store::Source> outlets;
  std::set<int> numbers;
  for (const store::Source& source : sources) {
    numbers.insert(source.source);
    if (source.device_kind == "outlet") outlets[source.device] = source;
  }
  EXPECT_EQ(numbers.size(), sources.size());
  ASSERT_THAT(outlets, SizeIs(2));
  EXPECT_EQ(outlets["outlet of first"].node, 0);
  EXPECT_EQ(outlets["outlet of second"].node, 1);
  std::map<int, std::set<double>> shown;
  for (const store::Reading& reading : record.rows<store::Reading>())
    if (reading.value) shown[reading.source].insert(*reading.value);
  EXPECT_EQ(shown[outlets["outlet of first"].source], std::set<double>{300});
  EXPECT_EQ(shown[outlets["outlet of second"].source], std::set<double>{500});
}

TEST_F(RecorderTest, AWallMetersFileThatIsNoneIsALineAndCostsNoRun) {
  second.tree().write("wall.csv", "nothing\n");
  const store::Reader record(run([](Recorder&, int) {}));
  EXPECT_EQ(record.run().state, store::State::done);
  EXPECT_THAT(notes_of(record),
              Contains(testing::AllOf(HasSubstr("wall.csv"), HasSubstr("runs join"))));
}

TEST_F(RecorderTest, TakesThePeriodsThatSensorsFoundOnEachMachine) {
  const store::Reader before(run([](Recorder&, int) {}));
  const auto package_of = [](const store::Reader& record, int node) {
    for (store::Source& source : record.rows<store::Source>())
      if (source.node == node && source.device == "package-0") return source;
    throw std::runtime_error("the record has no such package");
  };
  const meter::FoundPeriod kept[] = {
      {package_of(before, 1).covers, Seconds(0.25), "2025-11-30T10:11:12.123Z"}};
  meter::keep_found_periods(second.tree().root() / "periods.json", kept);
  const store::Reader record(run([](Recorder&, int) {}));
  const store::Source other = package_of(record, 1);
  EXPECT_EQ(other.update_period, Seconds(0.25));
  EXPECT_EQ(record.setting(fmt::format("update_period.{}", other.source)), "0.25");
  EXPECT_NE(package_of(record, 0).update_period, Seconds(0.25));
}

TEST_F(RecorderTest, NamesWhatNobodyMeters) {
  const store::Reader record(run([](Recorder&, int) {}));
  EXPECT_THAT(notes_of(record),
              Contains(testing::AllOf(StartsWith(store::not_metered), HasSubstr("mainboard, disks"),
                                      testing::Not(HasSubstr("processors"))))
                  .Times(2));
}

TEST_F(RecorderTest, ShowsWhatAllMachinesDrawTogether) {
  std::atomic<bool> seen = false;
  LiveEnergy together;
  run([&](Recorder& recorder, int rank) {
    for_a_while(recorder, [&] {
      if (rank != 0) return seen.load();
      together = recorder.energy();
      // 0.15 W a GiB of memory: 2.4 W here and 4.8 W there.
      seen = together.modelled_power.value_or(base::Watts{0}).value > 7;
      return seen.load();
    });
  });
  ASSERT_TRUE(seen);
  EXPECT_NEAR(together.modelled_power->value, 7.2, 0.01);
  ASSERT_TRUE(together.measured_energy);
  EXPECT_GT(together.measured_energy->value, 0);
}

TEST_F(RecorderTest, KeepsOneClockOnAllMachines) {
  std::array<std::atomic<double>, 4> origin;
  run([&](Recorder& recorder, int rank) {
    origin[rank] = (monotonic_now() - recorder.now()).count();
  });
  for (const auto& each : origin) EXPECT_NEAR(each, origin[0], 0.5);
}

TEST_F(RecorderTest, KeepsBadSamplesOfAllRanksAndTellsAFew) {
  const store::Reader record(run([](Recorder& recorder, int rank) {
    for (int i = 0; i < 10; ++i)
      recorder.damage({.bad = {{.index = i, .why = fmt::format("rank {} picture {}", rank, i)}}});
    recorder.damage({.bad = {{.index = 11, .why = "cut short", .replaced_by = 12}}});
    recorder.damage({.count = 8, .warnings = 3});
    recorder.damage({});
  }));
  const auto notes = notes_of(record);
  EXPECT_THAT(notes, Contains(StartsWith(store::skipped_sample)).Times(40));
  EXPECT_THAT(notes, Contains("bad sample skipped: rank 3 picture 9"));
  EXPECT_THAT(notes, Contains("bad sample replaced by sample 12: cut short").Times(4));
  EXPECT_THAT(notes, Contains(StartsWith("damage mended: 3 times")).Times(4));
  ASSERT_THAT(told.notes, SizeIs(BadSamples::named + 1));
  EXPECT_THAT(told.notes[0], StartsWith(store::skipped_sample));
  EXPECT_THAT(told.notes.back(), HasSubstr("44 in all"));
}

TEST_F(RecorderTest, WritesALossThatIsNoNumberAsNone) {
  const store::Reader record(run([](Recorder& recorder, int rank) {
    recorder.found("blas_kernel", fmt::format("of rank {}", rank));
    recorder.step({.rank = rank,
                   .step = 0,
                   .seconds = recorder.now(),
                   .samples = 0,
                   .loss = std::numeric_limits<double>::quiet_NaN(),
                   .sent_bytes = 0,
                   .waited = {}},
                  {});
  }));
  const auto steps = record.rows<store::Step>();
  ASSERT_THAT(steps, SizeIs(4));
  for (const store::Step& step : steps) EXPECT_TRUE(std::isnan(step.loss));
  EXPECT_EQ(record.setting("blas_kernel"), "of rank 0");
}

TEST_F(RecorderTest, ARunThatFailsKeepsWhatTheFirstRankHad) {
  comm::Solo alone;
  Recorder recorder(experiment, alone, told, first.of_rank(0));
  const Seconds now = monotonic_now();
  recorder.damage({.bad = {{.index = 1, .why = "a.png"}}});
  recorder.phases({{Phase::forward, now, now + Seconds(0.01)}});
  recorder.fail("it broke");
  const store::Reader record(recorder.path());
  EXPECT_EQ(record.run().state, store::State::failed);
  EXPECT_THAT(record.rows<store::Phase>(), SizeIs(1));
  EXPECT_THAT(notes_of(record), Contains("bad sample skipped: a.png"));
  EXPECT_THAT(notes_of(record), Contains("failed: it broke"));
}

}  // namespace
}  // namespace parajoule::train
