#include "meter/control_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meter/made_up_tree.h"
#include "meter/memory_modules.h"
#include "meter/model.h"

namespace parajoule::meter {
namespace {

using base::Seconds;
using testing::HasSubstr;
using testing::Not;

/// A machine on which a process is in the group `name`, and those groups exist.
struct Grouped {
  MadeUpTree tree;

  explicit Grouped(const std::string& name, std::vector<std::string> groups) {
    tree.write("proc/self/cgroup", "9:name=systemd:/\n0::" + name + "\n");
    tree.write("proc/stat", "cpu0 0 0 0 0\ncpu1 0 0 0 0\n");
    tree.write("proc/meminfo", "MemTotal:       16777216 kB\n");
    for (const std::string& group : groups)
      tree.write("sys/fs/cgroup" + group + "/cgroup.events", "populated 1\n");
  }
  void used(const std::string& group, double seconds) const {
    tree.write("sys/fs/cgroup" + group + "/cpu.stat",
               fmt::format("usage_usec {}\nuser_usec 1\n", std::uint64_t(seconds * 1e6)));
  }
  Options options() const {
    Options options = tree.options();
    options.cores = std::vector{0, 1};
    return options;
  }
  std::string group() const {
    const auto found = own_control_group(options());
    return found ? found->name : "none";
  }
};

TEST(ControlGroup, IsThatOfTheProcess) {
  const Grouped user("/user.slice/user-7.slice/session-3.scope",
                     {"/user.slice/user-7.slice/session-3.scope"});
  EXPECT_EQ(user.group(), "/user.slice/user-7.slice/session-3.scope");
}

TEST(ControlGroup, OfASlurmJobIsThatOfTheWholeJob) {
  const std::string job = "/system.slice/slurmstepd.scope/job_17";
  const Grouped task(job + "/step_0/user/task_3", {job, job + "/step_0/user/task_3"});
  EXPECT_EQ(task.group(), job);
}

TEST(ControlGroup, OfTheWholeMachineIsNone) {
  EXPECT_EQ(Grouped("/", {}).group(), "none");
  EXPECT_EQ(Grouped("/gone", {}).group(), "none");
  EXPECT_EQ(Grouped("/../../elsewhere", {"/"}).group(), "none");
  // In a container the group of its own is shown as the root, but has the files of a group.
  EXPECT_EQ(Grouped("/", {"/"}).group(), "/");
  EXPECT_FALSE(own_control_group(MadeUpTree().options()));
}

TEST(ControlGroup, TellsItsProcessorTime) {
  EXPECT_EQ(processor_time_in("usage_usec 2500000\nuser_usec 1\n"), Seconds(2.5));
  EXPECT_EQ(processor_time_in("nr_periods 1\nusage_usec 7000000"), Seconds(7));
  for (const char* text : {"", "usage_usec", "usage_usec x", "user_usec 5\n", "usage_usec 5x\n"})
    EXPECT_EQ(processor_time_in(text), std::nullopt) << text;
}

TEST(Model, UsesWhatTheControlGroupDoes) {
  const Grouped run("/run", {"/run"});
  run.used("/run", 100);
  const Options options = run.options();
  const auto sources = model_cores(options, machine(options));
  Source &energy = *sources.at(0), &share = *sources.at(1);
  EXPECT_THAT(energy.description().covers, HasSubstr("control group /run"));
  EXPECT_THAT(*energy.description().formula, HasSubstr("cpu.stat"));
  EXPECT_EQ(std::get<double>(energy.read(Seconds(10))), 0);
  EXPECT_TRUE(std::holds_alternative<Gap>(share.read(Seconds(10))));
  run.used("/run", 110);  // ten of the twenty seconds that two processors have in ten
  EXPECT_NEAR(std::get<double>(share.read(Seconds(20))), 0.5, 1e-12);
  EXPECT_NEAR(std::get<double>(energy.read(Seconds(20))), 10 * 2 * (1.5 + 4.5 * 0.6155722066724582),
              1e-9);
  run.used("/run", 1000);  // more than there is: all of it
  EXPECT_EQ(std::get<double>(share.read(Seconds(30))), 1);
}

TEST(Model, AGroupThatGoesAwayIsAGap) {
  const Grouped run("/run", {"/run"});
  run.used("/run", 100);
  const auto sources = model_cores(run.options(), machine(run.options()));
  sources[0]->read(Seconds(10));
  run.tree.write("sys/fs/cgroup/run/cpu.stat", "");
  EXPECT_THAT(std::get<Gap>(sources[0]->read(Seconds(11))).detail, HasSubstr("cpu.stat"));
}

TEST(Model, WithoutAGroupOfItsOwnUsesTheProcessors) {
  const Grouped run("/", {});
  const auto sources = model_cores(run.options(), machine(run.options()));
  EXPECT_THAT(*sources.at(0)->description().formula, HasSubstr("/proc/stat"));
  EXPECT_THAT(sources.at(0)->description().covers, Not(HasSubstr("group")));
}

std::string slot(char low, char high) {
  std::string structure(0x28, '\0');
  structure[0] = 17;
  structure[1] = 0x28;
  structure[0x0c] = low;
  structure[0x0d] = high;
  return structure;
}

TEST(MemoryModules, AreCountedWithoutEmptySlots) {
  const MadeUpTree tree;
  EXPECT_EQ(memory_modules(tree.root() / "sys"), std::nullopt);
  const std::filesystem::path entries = "sys/firmware/dmi/entries";
  tree.write(entries / "16-0/raw", slot(0, 1));
  EXPECT_EQ(memory_modules(tree.root() / "sys"), std::nullopt);
  tree.write(entries / "17-0/raw", slot(0, 64));
  tree.write(entries / "17-1/raw", slot(0, 0));
  tree.write(entries / "17-2/raw", slot('\xff', 0x7f));
  tree.write(entries / "17-3/raw", "short");
  EXPECT_EQ(memory_modules(tree.root() / "sys"), 2);
  std::filesystem::create_directory(tree.root() / entries / "17-4");
  EXPECT_EQ(memory_modules(tree.root() / "sys"), std::nullopt);  // one that cannot be read
}

TEST(Model, OfMemoryGoesByModulesWhereTheyCanBeCounted) {
  const Grouped run("/run", {"/run"});
  run.tree.write("sys/firmware/dmi/entries/17-0/raw", slot(0, 64));
  run.tree.write("sys/firmware/dmi/entries/17-1/raw", slot(0, 64));
  run.tree.write("sys/fs/cgroup/run/memory.max", "4294967296\n");  // a quarter of the node's
  const auto memory = model_memory(machine(run.options()));
  EXPECT_EQ(std::get<double>(memory->read(Seconds(5))), 0);
  EXPECT_NEAR(std::get<double>(memory->read(Seconds(15))), 10 * 3 * 2 * 0.25, 1e-9);
  EXPECT_THAT(*memory->description().formula, HasSubstr("3 W a module x 2 modules"));
}

}  // namespace
}  // namespace parajoule::meter
