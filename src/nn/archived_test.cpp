#include "nn/archived.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <torch/torch.h>

#include "base/error.h"
#include "nn/body.h"
#include "nn/initialise.h"
#include "nn/toy.h"

namespace parajoule::nn {
namespace {

using testing::HasSubstr;

constexpr Input image = {.channels = 3, .height = 8, .width = 8};

struct Stored {
  explicit Stored(std::string order, std::int64_t width = 4)
      : net(toy::make("resnet20", image, 5, {{"memory_order", order}, {"width", width}})),
        memory(net) {
    bind(net, memory.replica());
    initialise(net, 3);
  }
  Net net;
  toy::Memory<float> memory;
};

TEST(Archived, ValuesComeBackInAnyMemoryOrder) {
  Stored written("channels_last"), read("contiguous");
  written.net.forward(torch::randn({2, 3, 8, 8}));  // moves the running statistics
  base::Archive archive;
  save(written.net, archive);
  initialise(read.net, 99);
  load(read.net, archive);
  const auto expected = written.net.body().named_parameters();
  for (const auto& item : read.net.body().named_parameters()) {
    EXPECT_TRUE(item.value().equal(expected[item.key()])) << item.key();
  }
  EXPECT_EQ(read.memory.buffers, written.memory.buffers);
  EXPECT_EQ(archive.entries().at("layer1.0.conv1.weight").shape,
            std::vector<std::int64_t>({4, 4, 3, 3}));
}

TEST(Archived, ADifferenceIsNamedAndChangesNothing) {
  Stored written("contiguous"), wider("contiguous", 6);
  base::Archive archive;
  save(written.net, archive);
  const auto weights = wider.memory.weights;
  try {
    load(wider.net, archive);
    FAIL() << "weights of another shape were taken";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::input);
    EXPECT_THAT(error.what(), HasSubstr("conv1.weight"));
  }
  EXPECT_EQ(wider.memory.weights, weights);
}

TEST(Archived, AMissingBufferIsNamedAndChangesNothing) {
  Stored net("contiguous");
  base::Archive archive;
  save(net.net, archive);
  archive.entries().erase("layer3.2.bn2.running_var");
  initialise(net.net, 77);
  const auto weights = net.memory.weights;
  try {
    load(net.net, archive);
    FAIL() << "a net without one running variance was taken";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("layer3.2.bn2.running_var"));
  }
  EXPECT_EQ(net.memory.weights, weights);
}

TEST(Archived, AnotherPrecisionIsRefused) {
  Stored written("contiguous");
  base::Archive archive;
  save(written.net, archive);
  Net exact = toy::make("resnet20", image, 5, {{"width", std::int64_t{4}}});
  toy::Memory<double> memory(exact);
  bind(exact, memory.replica());
  EXPECT_THROW(load(exact, archive), base::Error);
}

}  // namespace
}  // namespace parajoule::nn
