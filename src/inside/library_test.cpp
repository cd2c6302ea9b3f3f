// The functions of parajoule.h as a program calls them.

#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parajoule.hpp"

namespace {

using testing::HasSubstr;

class Library : public testing::Test {
 protected:
  void SetUp() override { ::unsetenv("PARAJOULE_REGIONS"); }
  void TearDown() override { parajoule_stop(); }
};

TEST_F(Library, SaysItsVersion) {
  EXPECT_EQ(std::string(parajoule_version()), "parajoule " PARAJOULE_VERSION);
}

TEST_F(Library, WithoutAMeterRegionsCostNothingAndHarmNobody) {
  EXPECT_EQ(parajoule_active(), 0);
  const parajoule_region region = parajoule_begin("x");
  EXPECT_EQ(region, 0u);
  EXPECT_EQ(parajoule_end(region), PARAJOULE_OK);
}

TEST_F(Library, MetersThisMachineAndTellsEverySource) {
  ASSERT_EQ(parajoule_start(nullptr), PARAJOULE_OK) << parajoule_error();
  EXPECT_EQ(parajoule_active(), 1);
  const parajoule_region region = parajoule_begin_exact("x");
  ASSERT_NE(region, 0u);
  ASSERT_EQ(parajoule_end(region), PARAJOULE_OK);
  ASSERT_EQ(parajoule_stop(), PARAJOULE_OK);
  parajoule_result* result = nullptr;
  ASSERT_EQ(parajoule_energy_of(region, &result), PARAJOULE_OK) << parajoule_error();
  EXPECT_GT(parajoule_result_seconds(result), 0);
  ASSERT_GT(parajoule_result_count(result), 0u);  // memory at least, modelled
  for (size_t i = 0; i < parajoule_result_count(result); ++i) {
    parajoule_energy energy;
    ASSERT_EQ(parajoule_result_energy(result, i, &energy), PARAJOULE_OK);
    EXPECT_NE(std::string(energy.device), "");
    EXPECT_NE(std::string(energy.covers), "");
    EXPECT_TRUE(std::isnan(energy.joules) || energy.joules >= 0);
  }
  parajoule_energy none;
  EXPECT_EQ(parajoule_result_energy(result, parajoule_result_count(result), &none),
            PARAJOULE_USAGE);
  double joules = 0;
  EXPECT_EQ(parajoule_result_total(result, PARAJOULE_MODELLED, &joules, nullptr), PARAJOULE_OK);
  EXPECT_TRUE(std::isnan(joules) || joules >= 0);
  EXPECT_EQ(parajoule_result_total(result, parajoule_label(3), &joules, nullptr), PARAJOULE_USAGE);
  parajoule_result_free(result);
  EXPECT_EQ(parajoule_forget(region), PARAJOULE_OK);
  EXPECT_EQ(parajoule_energy_of(region, &result), PARAJOULE_USAGE);
  EXPECT_EQ(result, nullptr);
}

TEST_F(Library, WrongCallsGiveAStatusAndALine) {
  EXPECT_EQ(parajoule_begin(nullptr), 0u);
  EXPECT_THAT(parajoule_error(), HasSubstr("name of a region is NULL"));
  EXPECT_EQ(parajoule_begin(""), 0u);
  EXPECT_THAT(parajoule_error(), HasSubstr("needs a name"));
  EXPECT_EQ(parajoule_end(12345), PARAJOULE_USAGE);
  EXPECT_THAT(parajoule_error(), HasSubstr("no such region is open"));
  EXPECT_EQ(parajoule_energy_of(12345, nullptr), PARAJOULE_USAGE);
  parajoule_options options = {sizeof options, 5000};
  EXPECT_EQ(parajoule_start(&options), PARAJOULE_USAGE);
  options = {1, 10};
  EXPECT_EQ(parajoule_start(&options), PARAJOULE_USAGE);
  EXPECT_THAT(parajoule_error(), HasSubstr("sizeof"));
  parajoule_result_free(nullptr);
  EXPECT_EQ(parajoule_result_count(nullptr), 0u);
}

TEST_F(Library, LeavesTheHandlersOfAllSignalsAlone) {
  const auto handlers = [] {
    std::array<void (*)(int), 64> all{};
    for (int signal = 1; signal < 64; ++signal) {
      struct sigaction action {};
      if (::sigaction(signal, nullptr, &action) == 0) all[std::size_t(signal)] = action.sa_handler;
    }
    return all;
  };
  const auto before = handlers();
  ASSERT_EQ(parajoule_start(nullptr), PARAJOULE_OK);
  EXPECT_EQ(handlers(), before);
  sigset_t mask;
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &mask), 0);
  EXPECT_EQ(::sigismember(&mask, SIGINT), 0);
  ASSERT_EQ(parajoule_stop(), PARAJOULE_OK);
  EXPECT_EQ(handlers(), before);
}

TEST_F(Library, InCppARegionEndsWithItsScope) {
  const parajoule::Metering metering;
  parajoule::Region outer("outer");
  { const parajoule::Region inner = parajoule::Region::exact("inner"); }
  outer.end();
  const parajoule::RegionResult result = outer.result();
  EXPECT_FALSE(result.energies().empty());
  EXPECT_GT(result.seconds(), 0);
  EXPECT_THROW(outer.end(), parajoule::MeterError);
  EXPECT_THROW(parajoule::Metering(), parajoule::MeterError);
}

}  // namespace
