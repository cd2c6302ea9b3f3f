#include "cli/blas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parajoule::cli {
namespace {

const Environment nothing = [](std::string_view) -> std::optional<std::string> { return {}; };
const Environment chosen = [](std::string_view) -> std::optional<std::string> { return "Zen"; };

TEST(Blas, AnSseKernelOnAProcessorWithAvx2IsMended) {
  const auto better = better_kernel({.kernel = "Prescott", .avx2 = true}, nothing);
  ASSERT_TRUE(better);
  EXPECT_EQ(better->variable, "OPENBLAS_CORETYPE");
  EXPECT_EQ(better->value, "Haswell");
  EXPECT_THAT(better->reason, testing::HasSubstr("Prescott"));
}

TEST(Blas, WhatIsGoodOrChosenStays) {
  EXPECT_FALSE(better_kernel({.kernel = "Haswell", .avx2 = true}, nothing));
  EXPECT_FALSE(better_kernel({.kernel = "SkylakeX", .avx2 = true}, nothing));
  EXPECT_FALSE(better_kernel({.kernel = "unknown", .avx2 = true}, nothing));
  EXPECT_FALSE(better_kernel({.kernel = "Prescott", .avx2 = false}, nothing));
  EXPECT_FALSE(better_kernel({.kernel = "Prescott", .avx2 = true}, chosen));
}

}  // namespace
}  // namespace parajoule::cli
