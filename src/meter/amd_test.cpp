#include "meter/amd.h"

#include <functional>
#include <stdexcept>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meter/account.h"
#include "meter/amd_library.h"
#include "meter/amd_stub.h"
#include "meter/made_up_tree.h"
#include "meter/sweep.h"

namespace parajoule::meter {
namespace {

using base::Seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// The stub with fresh GPUs on a made-up bus.
class Amd : public testing::Test {
 protected:
  Amd() : handle_(::dlopen(AMD_STUB, RTLD_NOW)) {
    if (!handle_) throw std::runtime_error(::dlerror());
    stub = static_cast<AmdStub*>(::dlsym(handle_, "amd_stub"));
    *stub = AmdStub();
    tree.write("sys/module/amdgpu/version", "6.8.5\n");
    describe("0x740f", "AMD INSTINCT MI210");
    options = tree.options();
    options.amd_smi = AMD_STUB;
    options.hip_visible_devices = std::vector<std::string>{};
  }
  ~Amd() override { ::dlclose(handle_); }

  /// What the bus says of all GPUs.
  void describe(const std::string& device, const std::string& model) {
    for (int i = 0; i < AmdStub::most_gpus; ++i) {
      const std::string folder = fmt::format("sys/bus/pci/devices/0000:{:02x}:00.0/", i);
      tree.write(folder + "unique_id", fmt::format("{:016x}\n", 0xa0 + i));
      tree.write(folder + "product_name", model + "\n");
      tree.write(folder + "device", device + "\n");
    }
  }

  std::vector<std::string> devices(Quantity quantity) const {
    std::vector<std::string> names;
    for (const auto& source : opened.sources)
      if (source->description().quantity == quantity) names.push_back(source->description().device);
    return names;
  }
  Source* find(std::string_view device, Quantity quantity) const {
    for (const auto& source : opened.sources)
      if (source->description().device == device && source->description().quantity == quantity)
        return source.get();
    throw std::runtime_error("no such source");
  }
  double read(std::string_view device, Quantity quantity, double now = 0) const {
    const Reading reading = find(device, quantity)->read(Seconds(now));
    EXPECT_TRUE(std::holds_alternative<double>(reading)) << written(std::get<Gap>(reading));
    return std::get<double>(reading);
  }
  /// Without a list of its own, a run may use all.
  void open() {
    Options with = options;
    std::string all;
    for (unsigned i = 0; i < stub->count; ++i) all += fmt::format("{}{}", i ? "," : "", i);
    if (!with.rocr_visible_devices) with.rocr_visible_devices = all;
    opened = open_amd(with);
  }

  /// Ten seconds at ten readings a second; `at` is called before each with its number.
  NodeAccount run(const std::function<void(int)>& at) {
    open();
    Seconds now{0};
    Sweep sweep(std::move(opened.sources),
                {.now = [&] { return now; }, .asleep = [] { return Seconds(0); }}, Seconds(0.1));
    std::vector<Row> rows;
    for (int i = 0; i <= 100; ++i, now += Seconds(0.1)) {
      at(i);
      for (Row& row : sweep.round()) rows.push_back(std::move(row));
    }
    return account(by_source(sweep.descriptions(), rows), {Seconds(0), Seconds(10)});
  }

  MadeUpTree tree;
  Options options;
  Opened opened;
  AmdStub* stub;
  AmdStub::Gpu& gpu() { return stub->gpus[0]; }

 private:
  void* handle_;
};

TEST_F(Amd, CountsTheAccumulatorByTheResolutionItComesWith) {
  open();
  const double before = read("AMD GPU 0", Quantity::energy, 0);
  gpu().count += 20'000'000;
  EXPECT_NEAR(read("AMD GPU 0", Quantity::energy, 1) - before, 306, 1e-4);
  EXPECT_THAT(find("AMD GPU 0", Quantity::energy)->description().covers,
              HasSubstr("AMD INSTINCT MI210 (GPU-00000000000000a0), whole board, AMD SMI 24.6"));
  EXPECT_THAT(find("AMD GPU 0", Quantity::energy)->description().covers, HasSubstr(untried));
}

TEST_F(Amd, ReadsThePowerWhereEachVersionLaysIt) {
  for (unsigned version : {24U, 25U, 26U}) {
    stub->version = version;
    gpu().current = 310;
    open();
    EXPECT_EQ(read("AMD GPU 0", Quantity::power), 310) << version;
    gpu().current = 0xffffffff;
    open();
    EXPECT_EQ(read("AMD GPU 0", Quantity::power), 300) << version;
    gpu().average = 1681;  // over three times the limit of 560 W
    EXPECT_EQ(std::get<Gap>(find("AMD GPU 0", Quantity::power)->read(Seconds(1))).cause,
              Gap::Cause::implausible)
        << version;
    gpu().average = 300;
  }
}

TEST_F(Amd, RefusesALayoutItDoesNotKnowAndThenAsksTheOlderLibrary) {
  for (unsigned version : {3U, 23U, 27U}) {
    stub->version = version;
    open();
    EXPECT_THAT(opened.sources, IsEmpty());
    ASSERT_THAT(opened.unavailable, SizeIs(1));
    EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("in a way that is not known here"));
    EXPECT_EQ(stub->uses, 0);
  }
  options.rocm_smi = AMD_STUB;
  open();
  EXPECT_EQ(read("AMD GPU 0", Quantity::power), 310);
  EXPECT_THAT(find("AMD GPU 0", Quantity::power)->description().covers, HasSubstr("ROCm SMI 7.2"));
}

TEST_F(Amd, TakesThePowerThatAModelHas) {
  gpu().average = 0xffff;  // MI300X
  open();
  EXPECT_THAT(*find("AMD GPU 0", Quantity::power)->description().formula, HasSubstr("current"));
  gpu().current = 0xffff;  // MI210
  gpu().average = 250;
  open();
  EXPECT_EQ(read("AMD GPU 0", Quantity::power), 250);
  EXPECT_THAT(*find("AMD GPU 0", Quantity::power)->description().formula, HasSubstr("average"));
}

TEST_F(Amd, OfAPackageWithTwoDiesTheFirstHasBoth) {
  describe("0x740c", "AMD INSTINCT MI250");
  stub->count = 4;
  stub->gpus_a_socket = 2;
  const unsigned watts[] = {89, 0, 93, 0};
  for (int i = 0; i < 4; ++i) {
    stub->gpus[i].current = 0xffff;
    stub->gpus[i].average = watts[i];
    stub->gpus[i].energy_result = i % 2 ? AmdStub::not_supported : 0;
  }
  open();
  EXPECT_THAT(devices(Quantity::power), ElementsAre("AMD GPU 0", "AMD GPU 2"));
  EXPECT_THAT(find("AMD GPU 2", Quantity::power)->description().covers,
              HasSubstr("package with both its dies"));
  EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("in the number of AMD GPU 0"));
  EXPECT_THAT(opened.unavailable[1].reason, HasSubstr("in the number of AMD GPU 2"));
}

TEST_F(Amd, ASecondDieThatTellsPowerIsPartOfTheFirst) {
  describe("0x7408", "AMD INSTINCT MI250X");
  stub->count = 2;
  open();
  EXPECT_EQ(find("AMD GPU 1", Quantity::power)->description().part_of, "AMD GPU 0");
  EXPECT_EQ(find("AMD GPU 1", Quantity::energy)->description().part_of, "AMD GPU 0");
  EXPECT_EQ(find("AMD GPU 0", Quantity::energy)->description().part_of, std::nullopt);
}

TEST_F(Amd, OfARunOnASecondDieThePackageIsMetered) {
  describe("0x740c", "AMD INSTINCT MI250");
  stub->count = 4;
  for (int i : {1, 3}) stub->gpus[i].current = stub->gpus[i].average = stub->gpus[i].count = 0;
  options.hip_visible_devices = std::vector<std::string>{"3"};
  open();
  EXPECT_THAT(devices(Quantity::power), ElementsAre("AMD GPU 2"));
}

TEST_F(Amd, MetersTheRunsGpusOnly) {
  stub->count = 4;
  options.hip_visible_devices = std::vector<std::string>{"3", "GPU-00000000000000a1"};
  open();
  EXPECT_THAT(devices(Quantity::power), ElementsAre("AMD GPU 1", "AMD GPU 3"));
  options.rocr_visible_devices = "2,3";
  options.hip_visible_devices = std::vector<std::string>{"0"};
  open();
  EXPECT_THAT(devices(Quantity::power), ElementsAre("AMD GPU 2"));
  EXPECT_THAT(opened.unavailable, SizeIs(3));
  EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("leaves it out"));
  options.hip_visible_devices = {};
  options.visible_devices = std::vector<std::string>{"1"};  // what HIP goes by then
  open();
  EXPECT_THAT(devices(Quantity::power), ElementsAre("AMD GPU 3"));
}

TEST_F(Amd, ACounterWithoutResolutionIsNone) {
  gpu().resolution = 0;
  open();
  EXPECT_THAT(devices(Quantity::energy), IsEmpty());
  EXPECT_THAT(*find("AMD GPU 0", Quantity::power)->description().formula,
              HasSubstr("no energy counter"));
}

TEST_F(Amd, AFrozenCounterIsIntegratedInstead) {
  const NodeAccount node = run([](int) {});
  EXPECT_NEAR(node.totals.measured->energy().value, 3100, 1e-6);
}

TEST_F(Amd, ACounterThatGoesBackwardsAgainAndAgainIsIntegratedInstead) {
  const NodeAccount node = run([&](int i) {
    gpu().count += 2'000'000;
    if (i % 20 == 10) gpu().count -= 100'000'000;
  });
  EXPECT_NEAR(node.totals.measured->energy().value, 3100, 1e-6);
  EXPECT_THAT(node.sources[0].remarks, Contains(HasSubstr("slipped")));
}

TEST_F(Amd, ACounterThatRunsImpossiblyFastIsIntegratedInstead) {
  const NodeAccount node = run([&](int) { gpu().count += 2'000'000'000; });
  EXPECT_NEAR(node.totals.measured->energy().value, 3100, 1e-6);
  EXPECT_THAT(node.sources[0].remarks, Contains(HasSubstr("implausible")));
}

TEST_F(Amd, AGoodCounterCounts) {
  const NodeAccount node = run([&](int) { gpu().count += 2'000'000; });
  EXPECT_NEAR(node.totals.measured->energy().value, 3060, 1e-3);
  EXPECT_THAT(node.sources[1].remarks, Contains(HasSubstr("= 0.987")));
}

TEST_F(Amd, TellsWhatElseThereIs) {
  gpu().others_result = 0;
  open();
  EXPECT_EQ(read("AMD GPU 0", Quantity::temperature), 61);
  EXPECT_EQ(read("AMD GPU 0", Quantity::clock), 1.7e9);
  EXPECT_NEAR(read("AMD GPU 0", Quantity::utilisation), 0.93, 1e-12);
  EXPECT_EQ(read("AMD GPU 0", Quantity::memory), 9e9);
  gpu().edge_result = AmdStub::not_supported;  // MI300
  EXPECT_EQ(read("AMD GPU 0", Quantity::temperature), 71);
  gpu().others_result = AmdStub::not_supported;
  open();
  EXPECT_THAT(opened.sources, SizeIs(2));
}

TEST_F(Amd, AGpuThatTellsNothingIsNamedAndIsNotZero) {
  gpu().energy_result = gpu().power_result = AmdStub::not_supported;
  open();
  EXPECT_THAT(opened.sources, IsEmpty());
  EXPECT_THAT(opened.unavailable.at(0).reason, HasSubstr("neither energy nor power"));
}

TEST_F(Amd, EndsItsUseOfTheLibrary) {
  open();
  EXPECT_EQ(stub->uses, 1);
  opened = {};
  EXPECT_EQ(stub->uses, 0);
}

TEST_F(Amd, TheOlderLibraryTellsTheSame) {
  options.amd_smi = (tree.root() / "none.so").string();
  options.rocm_smi = AMD_STUB;
  gpu().others_result = 0;
  open();
  const double before = read("AMD GPU 0", Quantity::energy, 0);
  gpu().count += 20'000'000;
  EXPECT_NEAR(read("AMD GPU 0", Quantity::energy, 1) - before, 306, 1e-4);
  EXPECT_EQ(read("AMD GPU 0", Quantity::temperature), 61);
  EXPECT_NEAR(read("AMD GPU 0", Quantity::utilisation), 0.93, 1e-12);
  EXPECT_EQ(read("AMD GPU 0", Quantity::memory), 9e9);
  EXPECT_THAT(devices(Quantity::clock), IsEmpty());
  gpu().current_result = AmdStub::not_supported;
  open();
  EXPECT_EQ(read("AMD GPU 0", Quantity::power), 300);
}

TEST_F(Amd, WithoutLibrariesThatIsTheAnswerAndWithoutDriverThereIsNothingToSay) {
  options.amd_smi = options.rocm_smi = (tree.root() / "none.so").string();
  open();
  EXPECT_THAT(opened.unavailable.at(0).reason, HasSubstr("none.so"));
  options.sys = tree.root() / "nothing";
  open();
  EXPECT_THAT(opened.unavailable, IsEmpty());
  EXPECT_THAT(opened.sources, IsEmpty());
}

TEST_F(Amd, AnInitialisationThatFailsIsAnAnswer) {
  stub->init_result = 7;
  open();
  EXPECT_THAT(opened.unavailable.at(0).reason, HasSubstr("amdsmi_init: FAILED (AMD SMI 7)"));
}

}  // namespace
}  // namespace parajoule::meter
