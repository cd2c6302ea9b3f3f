#include "meter/nvml.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meter/account.h"
#include "meter/made_up_nvml.h"

namespace parajoule::meter {
namespace {

using base::Seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST_F(Nvml, ReadsTheEnergyCounterInJoulesAndThePowerBesideIt) {
  const Opened opened = open_nvml(options({"0"}));
  ASSERT_THAT(opened.sources, SizeIs(2));
  Source& energy = *opened.sources[0];
  EXPECT_EQ(energy.description().quantity, Quantity::energy);
  EXPECT_EQ(energy.description().label, Label::measured);
  const double before = value(energy.read(Seconds(0)));
  gpu().millijoules += 1000;
  EXPECT_NEAR(value(energy.read(Seconds(1))) - before, 1.000, 1e-9);
  Source& power = *opened.sources[1];
  EXPECT_EQ(power.description().device, energy.description().device);
  EXPECT_EQ(power.description().quantity, Quantity::power);
  EXPECT_EQ(value(power.read(Seconds(1))), 260);
}

TEST_F(Nvml, SaysWhatIsCoveredByWhichDriverAndThatNoDeviceWasEverSeen) {
  const Opened opened = open_nvml(options({"0"}));
  const std::string& covers = opened.sources.at(0)->description().covers;
  EXPECT_THAT(covers, HasSubstr("GPU 0 NVIDIA A100-SXM4-40GB (GPU-0000-aaaa"));
  EXPECT_THAT(covers, HasSubstr("whole board"));
  EXPECT_THAT(covers, HasSubstr("energy counter"));
  EXPECT_THAT(covers, HasSubstr("driver 535.54.03"));
  EXPECT_THAT(covers, HasSubstr("never seen on real hardware"));
  EXPECT_NEAR(*opened.sources[0]->description().bias_relative, 0.057, 1e-12);
}

TEST_F(Nvml, WithoutACounterIntegratesPowerAndSaysSo) {
  gpu().energy_result = NvmlStub::not_supported;
  const Opened opened = open_nvml(options({"0"}));
  ASSERT_THAT(opened.sources, SizeIs(1));
  const Description& description = opened.sources[0]->description();
  EXPECT_EQ(description.quantity, Quantity::power);
  EXPECT_THAT(*description.formula, HasSubstr("trapezoid"));
  EXPECT_THAT(*description.formula, HasSubstr("no energy counter: Not Supported"));
  Series series{description, {}};
  for (int i = 0; i <= 100; ++i)
    series.rows.push_back({0, Seconds(i * 0.1), opened.sources[0]->read(Seconds(i * 0.1))});
  const SourceAccount number = account(series, {Seconds(0), Seconds(10)});
  EXPECT_NEAR(number.energy->value, 2600, 1e-6);
}

TEST_F(Nvml, TakesThePowerOfTheMomentWhereThereIsOneAndElseKnowsTheWindow) {
  EXPECT_EQ(open_nvml(options({"0"})).sources.at(1)->description().window, Seconds(0.025));
  gpu().instant_result = NvmlStub::not_supported;
  EXPECT_EQ(open_nvml(options({"0"})).sources.at(1)->description().window, Seconds(0.025));
  gpu().name = "NVIDIA H100 PCIe";
  gpu().architecture = 9;
  const Opened opened = open_nvml(options({"0"}));
  EXPECT_EQ(opened.sources.at(1)->description().window, Seconds(1));
  EXPECT_EQ(value(opened.sources[1]->read(Seconds(0))), 250);
}

TEST_F(Nvml, AGpuThatTellsNothingIsNamedAndIsNotZero) {
  gpu().energy_result = gpu().power_result = gpu().instant_result = NvmlStub::not_supported;
  const Opened opened = open_nvml(options({"0"}));
  EXPECT_THAT(opened.sources, IsEmpty());
  ASSERT_THAT(opened.unavailable, SizeIs(1));
  EXPECT_THAT(opened.unavailable[0].what, HasSubstr("GPU 0 NVIDIA A100"));
  EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("neither energy nor power: Not Supported"));
}

TEST_F(Nvml, AFailingReadIsAGapThatTheCounterMakesUpFor) {
  const Opened opened = open_nvml(options({"0"}));
  Source& energy = *opened.sources.at(0);
  const double before = value(energy.read(Seconds(0)));
  gpu().energy_result = NvmlStub::gpu_is_lost;
  gpu().millijoules += 30'000;
  const Reading lost = energy.read(Seconds(0.1));
  ASSERT_TRUE(std::holds_alternative<Gap>(lost));
  EXPECT_EQ(std::get<Gap>(lost).cause, Gap::Cause::failed);
  EXPECT_THAT(std::get<Gap>(lost).detail, HasSubstr("GPU is lost"));
  gpu().energy_result = 0;
  EXPECT_NEAR(value(energy.read(Seconds(0.2))) - before, 30, 1e-9);
  gpu().instant_result = NvmlStub::gpu_is_lost;
  EXPECT_TRUE(std::holds_alternative<Gap>(opened.sources[1]->read(Seconds(0.2))));
}

TEST_F(Nvml, ADriverThatWasLoadedAnewIsNoEnergy) {
  const Opened opened = open_nvml(options({"0"}));
  Source& energy = *opened.sources.at(0);
  const double before = value(energy.read(Seconds(0)));
  gpu().millijoules = 10;
  EXPECT_TRUE(std::holds_alternative<Gap>(energy.read(Seconds(0.1))));
  EXPECT_TRUE(std::holds_alternative<Gap>(energy.read(Seconds(0.2))));
  gpu().millijoules = 25'010;
  EXPECT_NEAR(value(energy.read(Seconds(0.3))) - before, 25, 1e-9);
}

TEST_F(Nvml, APowerFarOverTheLimitIsDropped) {
  const Opened opened = open_nvml(options({"0"}));
  gpu().instant_milliwatts = 1'300'000;
  const Reading reading = opened.sources.at(1)->read(Seconds(0));
  ASSERT_TRUE(std::holds_alternative<Gap>(reading));
  EXPECT_EQ(std::get<Gap>(reading).cause, Gap::Cause::implausible);
}

TEST_F(Nvml, MetersTheRunsGpusOnlyAndNamesTheOthers) {
  stub->count = 8;
  const Opened opened = open_nvml(options({"3"}));
  EXPECT_THAT(devices(opened), ElementsAre("GPU 3"));
  ASSERT_THAT(opened.unavailable, SizeIs(7));
  EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("not of this run"));
}

TEST_F(Nvml, MetersTheUnionOfWhatTheRanksOfANodeSee) {
  stub->count = 8;
  EXPECT_THAT(devices(open_nvml(options({"3", "5,GPU-", "3"}))), ElementsAre("GPU 3", "GPU 5"));
  EXPECT_THAT(devices(open_nvml(options({"GPU-2222", "GPU-7777-aaaa"}))),
              ElementsAre("GPU 2", "GPU 7"));
  EXPECT_THAT(devices(open_nvml(options({""}))), IsEmpty());
}

TEST_F(Nvml, MetersAllWhereARankMaySeeAllThoughTheOwnerMayNot) {
  stub->count = 3;
  ::setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  EXPECT_THAT(devices(open_nvml(options({}))), SizeIs(3));
  EXPECT_THAT(devices(open_nvml({.nvml = NVML_STUB})), ElementsAre("GPU 1"));
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(Nvml, SaysWhichWordOfTheListItDidNotUnderstand) {
  stub->count = 2;
  const Opened opened = open_nvml(options({"0,5"}));
  EXPECT_THAT(devices(opened), ElementsAre("GPU 0"));
  EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("'5' in '0,5' names no GPU"));
}

TEST_F(Nvml, DoubtsNumbersWhereCudaMayCountInAnotherOrder) {
  stub->count = 2;
  Options two = options({"0,1"});
  two.device_order = "FASTEST_FIRST";
  EXPECT_THAT(open_nvml(two).unavailable, IsEmpty());  // equal GPUs
  stub->gpus[1].name = "NVIDIA T4";
  const Opened opened = open_nvml(two);
  ASSERT_THAT(opened.unavailable, SizeIs(1));
  EXPECT_THAT(opened.unavailable[0].remedy, HasSubstr("CUDA_DEVICE_ORDER=PCI_BUS_ID"));
  two.visible_devices = std::vector<std::string>{"GPU-0000,GPU-1111"};
  EXPECT_THAT(open_nvml(two).unavailable, IsEmpty());
  two.visible_devices = std::vector<std::string>{"0,1"};
  two.device_order = "PCI_BUS_ID";
  EXPECT_THAT(open_nvml(two).unavailable, IsEmpty());
}

TEST_F(Nvml, MetersAGpuInPartsOnceAndSaysThatItIsShared) {
  stub->count = 2;
  stub->gpus[1].parts = 3;
  const Opened opened = open_nvml(options({"MIG-02", "MIG-03"}));
  EXPECT_THAT(devices(opened), ElementsAre("GPU 1"));
  EXPECT_THAT(opened.sources[0]->description().covers,
              HasSubstr("shared by all its MIG instances"));
  EXPECT_THAT(open_nvml(options({"0"})).sources[0]->description().covers, Not(HasSubstr("MIG")));
}

TEST_F(Nvml, AGpuThatCannotBeReachedKeepsItsNumber) {
  stub->count = 3;
  stub->gpus[1].handle_result = NvmlStub::gpu_is_lost;
  const Opened opened = open_nvml(options({"1,2"}));
  EXPECT_THAT(devices(opened), ElementsAre("GPU 2"));
  EXPECT_THAT(opened.unavailable[0].what, HasSubstr("GPU 1"));
  EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("GPU is lost"));
}

TEST_F(Nvml, AModelWhoseNumberGoesOnIsAnotherModel) {
  gpu().name = "NVIDIA RTX A1000 Laptop GPU";
  gpu().instant_result = NvmlStub::not_supported;
  const Opened opened = open_nvml(options({"0"}));
  EXPECT_EQ(opened.sources.at(1)->description().window, Seconds(1));
  EXPECT_NE(*opened.sources.at(1)->description().bias_relative, 0.057);
}

TEST_F(Nvml, EndsItsUseOfTheLibraryWithTheLastSource) {
  {
    const Opened opened = open_nvml(options({"0"}));
    EXPECT_EQ(stub->uses, 1);
  }
  EXPECT_EQ(stub->uses, 0);
}

TEST_F(Nvml, ADriverThatIsNotLoadedIsAnAnswer) {
  stub->init_result = 9;
  const Opened opened = open_nvml(options({"0"}));
  EXPECT_THAT(opened.sources, IsEmpty());
  ASSERT_THAT(opened.unavailable, SizeIs(1));
  EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("Driver Not Loaded"));
  EXPECT_EQ(stub->uses, 0);
}

TEST(NvmlMissing, IsAnAnswerThatNamesTheLibrary) {
  const Opened opened = open_nvml({.nvml = "libno-such-thing.so.1"});
  EXPECT_THAT(opened.sources, IsEmpty());
  ASSERT_THAT(opened.unavailable, SizeIs(1));
  EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("libno-such-thing.so.1"));
}

TEST(NvmlMissing, ALibraryWithoutItsFunctionsIsAnAnswer) {
  const Opened opened = open_nvml({.nvml = "libm.so.6"});
  EXPECT_THAT(opened.sources, IsEmpty());
  ASSERT_THAT(opened.unavailable, SizeIs(1));
  EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("nvmlInit_v2 is missing"));
}

}  // namespace
}  // namespace parajoule::meter
