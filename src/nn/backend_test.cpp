#include "nn/backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <torch/torch.h>
#include <torch/version.h>

namespace parajoule::nn {
namespace {

TEST(Backend, NamesWhatComputes) {
  torch::ones({2, 2}).mm(torch::ones({2, 2}));
  const Backend found = backend();
  EXPECT_EQ(found.torch, TORCH_VERSION);
  EXPECT_THAT(found.onednn, testing::MatchesRegex("none|[0-9]+\\..*"));
  EXPECT_FALSE(found.blas.empty());
  EXPECT_EQ(found.kernel == "unknown", found.blas == "unknown");
}

TEST(Backend, ThreadsAreThoseAskedFor) {
  const int before = at::get_num_threads();
  use_threads(2);
  EXPECT_EQ(backend().threads, 2);
  use_threads(before);
  EXPECT_EQ(backend().threads, before);
}

}  // namespace
}  // namespace parajoule::nn
