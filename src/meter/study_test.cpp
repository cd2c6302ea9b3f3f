#include "meter/study.h"

#include <gtest/gtest.h>

#include "meter/made_up_source.h"

namespace parajoule::meter {
namespace {

using base::Seconds;

Series series(std::string device, std::string kind, Quantity quantity,
              std::vector<std::pair<double, double>> values) {
  Description description = described(std::move(device), quantity);
  description.device_kind = std::move(kind);
  Series series{std::move(description), {}};
  for (const auto& [at, value] : values) series.rows.push_back({0, Seconds(at), value});
  return series;
}

/// Two seconds and a bit of a node with one GPU and one package.
std::vector<Series> node() {
  return {series("GPU 0", "gpu", Quantity::power, {{0, 100}, {1, 300}, {2, 200}}),
          series("GPU 0", "gpu", Quantity::energy, {{0, 0}, {1, 999}, {2, 1999}}),
          series("package-0", "cpu", Quantity::energy, {{0, 10}, {1, 60}, {3, 260}}),
          series("package-0 dram", "memory", Quantity::energy, {{0, 0}, {1, 5}, {3, 15}}),
          series("platform", "platform", Quantity::energy, {{0, 0}, {1, 500}, {3, 900}})};
}

TEST(Study, IntegratesPowersAsThePaperDoes) {
  const std::vector<std::vector<Series>> nodes = {node()};
  const auto account = study_account(nodes, {.devices = 1, .updates = 6, .local_batch_size = 32});
  // GPU: (100+300)/2 + (300+200)/2. Package: powers 50 W at 1 s, 100 W at 3 s: (50+100)/2 x 2 s,
  // the first second is lost. Memory: 5 W at 1 s and 3 s.
  const StudyEnergy energy = account.measured->energy;
  EXPECT_DOUBLE_EQ(energy.gpu.value, 450);
  EXPECT_DOUBLE_EQ(energy.cpu.value, 150);
  EXPECT_DOUBLE_EQ(energy.memory.value, 10);
  EXPECT_EQ(account.run_time, Seconds(3));
  EXPECT_DOUBLE_EQ(account.device_hours, 3.0 / 3600);
  EXPECT_DOUBLE_EQ(account.measured->kilowatt_hours, 610 / 3.6e6);
  EXPECT_NEAR(account.samples_per_device_hour, 6 * 32 * 1200, 1e-6);
  EXPECT_NEAR(account.passes_per_device_hour, 6 * 1200, 1e-6);
  EXPECT_NEAR(*account.measured->watt_hours_per_1000_samples, 610 / 3.6 / (6 * 32), 1e-9);
  EXPECT_FALSE(account.modelled);
}

TEST(Study, AddsNodesUpAndCountsTheirDevices) {
  const std::vector<std::vector<Series>> nodes = {node(), node()};
  const auto account = study_account(nodes, {.devices = 2, .updates = 6, .local_batch_size = 32});
  EXPECT_DOUBLE_EQ(account.measured->energy.whole().value, 1220);
  EXPECT_DOUBLE_EQ(account.device_hours, 6.0 / 3600);
  EXPECT_NEAR(account.samples_per_device_hour, 6 * 2 * 32 * 600, 1e-6);
}

TEST(Study, LeavesOutThePartsOfWhatItHas) {
  std::vector<Series> cores = node();
  cores.push_back(series("package-0 core", "cpu", Quantity::energy, {{0, 0}, {1, 9}, {2, 18}}));
  cores.back().description.part_of = "package-0";
  cores[2].description.part_of = "platform";
  const std::vector<std::vector<Series>> nodes = {cores};
  EXPECT_DOUBLE_EQ(study_account(nodes, {}).measured->energy.cpu.value, 150);
}

TEST(Study, KeepsModelledEnergyApart) {
  std::vector<Series> modelled = node();
  modelled[2].description.label = Label::modelled;
  const std::vector<std::vector<Series>> nodes = {modelled};
  const auto account = study_account(nodes, {});
  EXPECT_DOUBLE_EQ(account.measured->energy.whole().value, 460);
  EXPECT_DOUBLE_EQ(account.modelled->energy.whole().value, 150);
}

TEST(Study, OfAGpuWithoutPowerTakesTheCounter) {
  std::vector<Series> counted = node();
  counted.erase(counted.begin());
  const std::vector<std::vector<Series>> nodes = {counted};
  EXPECT_DOUBLE_EQ(study_account(nodes, {}).measured->energy.gpu.value, (999 + 1000) / 2.0);
}

}  // namespace
}  // namespace parajoule::meter
