// Machines and profiles as files, and the ones that ship with the program.
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "rehearse/machine.h"
#include "rehearse/plan.h"
#include "rehearse/profile_file.h"

namespace parajoule::rehearse {
namespace {

using testing::HasSubstr;

const std::string folder = PARAJOULE_SOURCE;

std::string told(const std::function<void()>& act) {
  try {
    act();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::input);
    return error.what();
  }
  return "";
}

/// The layers of ResNet-50 (He et al., arXiv:1512.03385, table 1) by the rules of a profile.
class ResNet50 {
 public:
  ResNet50() {
    convolution("conv1", 3, 64, 7, 112);
    layers.back().backward_flops = layers.back().forward_flops;  // pixels need no gradient
    normalisation("bn1", 64, 112);
    std::int64_t in = 64, size = 56;
    const int blocks[] = {3, 4, 6, 3};
    for (int stage = 0; stage < 4; ++stage) {
      for (int block = 0; block < blocks[stage]; ++block) {
        const std::int64_t width = 64 << stage;
        const std::int64_t out = stage > 0 && block == 0 ? size / 2 : size;
        const std::string name =
            "layer" + std::to_string(stage + 1) + "." + std::to_string(block) + ".";
        convolution(name + "conv1", in, width, 1, size);
        normalisation(name + "bn1", width, size);
        convolution(name + "conv2", width, width, 3, out);
        normalisation(name + "bn2", width, out);
        convolution(name + "conv3", width, 4 * width, 1, out);
        if (block == 0) {
          convolution(name + "downsample.0", in, 4 * width, 1, out);
          normalisation(name + "downsample.1", 4 * width, out);
        }
        normalisation(name + "bn3", 4 * width, out);
        in = 4 * width;
        size = out;
      }
    }
    layers.push_back({.name = "fc",
                      .parameters = 2048 * 1000 + 1000,
                      .shape = {1000},
                      .forward_flops = 2 * 2048 * 1000,
                      .backward_flops = 4 * 2048 * 1000,
                      .activation_bytes = 4 * 1000});
  }
  std::vector<schedule::LayerProfile> layers;

 private:
  void convolution(const std::string& name, std::int64_t in, std::int64_t out, std::int64_t kernel,
                   std::int64_t size) {
    const std::int64_t flops = 2 * out * size * size * in * kernel * kernel;
    layers.push_back({.name = name,
                      .parameters = in * out * kernel * kernel,
                      .shape = {out, size, size},
                      .forward_flops = flops,
                      .backward_flops = 2 * flops,
                      .activation_bytes = 4 * out * size * size});
  }
  void normalisation(const std::string& name, std::int64_t channels, std::int64_t size) {
    layers.push_back({.name = name,
                      .parameters = 2 * channels,
                      .shape = {channels, size, size},
                      .activation_bytes = 4 * channels * size * size});
  }
};

TEST(Profile, OfResNet50IsCountedFromItsLayers) {
  const schedule::Profile profile = read_profile(folder + "/models/resnet50.toml");
  const ResNet50 counted;
  ASSERT_EQ(profile.layers.size(), counted.layers.size());
  for (std::size_t i = 0; i < counted.layers.size(); ++i) {
    const schedule::LayerProfile& read = profile.layers[i];
    const schedule::LayerProfile& right = counted.layers[i];
    EXPECT_EQ(read.name, right.name);
    EXPECT_EQ(read.parameters, right.parameters) << right.name;
    EXPECT_EQ(read.shape, right.shape) << right.name;
    EXPECT_EQ(read.forward_flops, right.forward_flops) << right.name;
    EXPECT_EQ(read.backward_flops, right.backward_flops) << right.name;
    EXPECT_EQ(read.activation_bytes, right.activation_bytes) << right.name;
  }
  // torchvision's documentation: 25557032 parameters, 4.09 billion multiply-adds.
  EXPECT_EQ(profile.total().parameters, 25557032);
  EXPECT_NEAR(double(profile.total().forward_flops), 2 * 4.0892e9, 2 * 0.00005e9);
}

TEST(Machine, ThatShipsIsRead) {
  const Machine machine = read_machine(folder + "/machines/a100-hdr.toml");
  EXPECT_EQ(machine.name, "a100-hdr");
  EXPECT_EQ(machine.flops_per_second.at("float32"), 19.5e12);
  EXPECT_EQ(machine.device.memory_bytes_per_second, 2039e9);
  EXPECT_EQ(machine.devices, 8);
  EXPECT_EQ(machine.network.bytes_per_second, 25e9);
  EXPECT_THAT(machine.source, HasSubstr("Assumptions"));
}

TEST(Machine, SaysWhichLinksAreHalfDuplex) {
  const auto with = [](const std::string& word) {
    const std::string link = "latency_seconds = 0\nbytes_per_second = 1\n";
    return "version = 1\nname = \"a\"\nsource = \"b\"\n[device]\nkind = \"cpu\"\n"
           "flops_per_second = {float32 = 1}\nmemory_bytes_per_second = 1\nmemory_bytes = 1\n"
           "idle_watts = 0\ncompute_watts = 0\ncommunicate_watts = 0\n"
           "[node]\ndevices = 1\ncores = 1\nhost_watts = 0\n[link.node]\n" +
           link + "[link.network]\n" + link + word;
  };
  const Machine machine = machine_in(with("half_duplex = true"), "m.toml");
  EXPECT_FALSE(machine.node.half_duplex);
  EXPECT_TRUE(machine.network.half_duplex);
  EXPECT_FALSE(machine_in(with(""), "m.toml").network.half_duplex);
  EXPECT_EQ(machine.network.eager_bytes, 0);
  EXPECT_EQ(
      machine_in(with("half_duplex = true\neager_bytes = 65536"), "m.toml").network.eager_bytes,
      65536);
  EXPECT_EQ(told([&] { machine_in(with("half_duplex = 1"), "m.toml"); }),
            "m.toml:22: link.network.half_duplex: must be true or false");
}

TEST(Machine, SaysWhatIsWrongAndWhere) {
  const auto wrong = [](const std::string& text) {
    return told([&] { machine_in("version = 1\n" + text, "m.toml"); });
  };
  EXPECT_EQ(wrong("name = 3"), "m.toml:2: name: must be text in quotes");
  EXPECT_EQ(wrong("name = \"a\""), "m.toml:1: source: is missing");
  EXPECT_EQ(wrong("name = \"a\"\nsource = \"b\"\n[device]\nkind = \"gpu\"\n"
                  "flops_per_second = {float32 = \"fast\"}"),
            "m.toml:6: device.flops_per_second.float32: must be a number of at least 1");
  EXPECT_THAT(told([] { machine_in("version = 2", "m.toml"); }),
              HasSubstr("m.toml:1: version: this program reads version 1"));
  EXPECT_THAT(told([] { machine_in("version = ", "m.toml"); }), HasSubstr("m.toml:1: "));
  EXPECT_EQ(told([] { read_machine("/nowhere.toml"); }), "/nowhere.toml: cannot be read");
  EXPECT_EQ(told([] { read_machine("/dev/null"); }), "/dev/null: not a plain file");
}

TEST(Profile, IsReadAsItWasWritten) {
  const schedule::Profile profile{.layers = {{.name = "body.0.conv",
                                              .parameters = 12,
                                              .shape = {3, 28, 27},
                                              .forward_flops = 1234567890123,
                                              .backward_flops = 2469135780246,
                                              .activation_bytes = 9072},
                                             {.name = "norm", .shape = {3}}}};
  const std::string text = written(profile, "a", "by a test");
  const schedule::Profile read = profile_in(text, "p.toml");
  ASSERT_EQ(read.layers.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read.layers[i].name, profile.layers[i].name);
    EXPECT_EQ(read.layers[i].parameters, profile.layers[i].parameters);
    EXPECT_EQ(read.layers[i].shape, profile.layers[i].shape);
    EXPECT_EQ(read.layers[i].forward_flops, profile.layers[i].forward_flops);
    EXPECT_EQ(read.layers[i].backward_flops, profile.layers[i].backward_flops);
    EXPECT_EQ(read.layers[i].activation_bytes, profile.layers[i].activation_bytes);
  }
  EXPECT_THAT(text, HasSubstr("source = \"\"\"by a test\"\"\"\n"));
}

/// The machine that ships, with `now` in place of `was`.
std::string told_of_machine_with(const std::string& was, const std::string& now) {
  std::ifstream file(folder + "/machines/a100-hdr.toml");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text.replace(text.find(was), was.size(), now);
  return told([&] { machine_in(text, "m.toml"); });
}

TEST(Machine, ThatCannotBeMeantIsRefused) {
  EXPECT_THAT(told_of_machine_with("kind = \"gpu\"", "kind = \"toaster\""),
              HasSubstr("device.kind: no kind \"toaster\"; known: cpu, gpu"));
  EXPECT_THAT(told_of_machine_with("idle_watts = 55", "idle_watts = 600"),
              HasSubstr("device.idle_watts: 600 is more than compute_watts, 400"));
  EXPECT_THAT(told_of_machine_with("[node]", "[nod]"),
              HasSubstr(": nod: is not known; did you mean 'node'?"));
  EXPECT_THAT(told_of_machine_with("devices = 8", "devices = 9223372036854775807"),
              HasSubstr("node.devices: must be a whole number of at most 1000000"));
  EXPECT_THAT(told_of_machine_with("shared_by = 1", "shared_by = 4294967297"),
              HasSubstr("link.node.shared_by: must be a whole number of at most 1000000"));
  EXPECT_THAT(told_of_machine_with("latency_seconds = 3e-6", "latency_seconds = 1e308"),
              HasSubstr("link.node.latency_seconds: must be a number of at most"));
}

TEST(Machine, IsNoFolder) {
  EXPECT_EQ(told([] { read_machine("/"); }), "/: a folder, not a file");
}

TEST(Machine, ThatIsNoTomlIsRefusedInOneLine) {
  for (const char* text : {"[{", "[{\"version\": 1}]", "a = [{", "\"a\\nb\" = 1\nversion = 1"}) {
    const std::string said = told([&] { machine_in(text, "m.toml"); });
    EXPECT_THAT(said, testing::StartsWith("m.toml:")) << text;
    EXPECT_THAT(said, testing::Not(HasSubstr("\n"))) << text;
  }
}

TEST(Profile, RefusesAKeyThatIsNotKnown) {
  EXPECT_EQ(
      told([] {
        profile_in(
            "version = 1\nname = \"a\"\nsource = \"b\"\nlayers = [\n{name = \"c\", parameters "
            "= 1, shape = [1], forward_flops = 1, backward_flops = 1, activation_bytes = 1, "
            "flops = 1}]\n",
            "p.toml");
      }),
      "p.toml:5: layers[0].flops: is not known; known: name, parameters, shape, forward_flops, "
      "backward_flops, activation_bytes");
}

TEST(LayerTimes, AreTheLongerOfOperationsAndMemory) {
  Machine machine;
  machine.flops_per_second["float32"] = 100;
  machine.device.memory_bytes_per_second = 10;
  const schedule::Profile profile{
      .layers = {{.name = "heavy",
                  .parameters = 5,
                  .shape = {1},
                  .forward_flops = 2000,
                  .backward_flops = 4000,
                  .activation_bytes = 1},
                 {.name = "wide", .parameters = 0, .shape = {25}, .activation_bytes = 100}}};
  const auto times = layer_times(profile, machine, "float32", 3);
  EXPECT_DOUBLE_EQ(times[0].forward.count(), 3 * 20);
  EXPECT_DOUBLE_EQ(times[0].backward.count(), 3 * 40);
  EXPECT_DOUBLE_EQ(times[1].forward.count(), 3 * 2 * 100 / 10.0);
  EXPECT_DOUBLE_EQ(times[1].backward.count(), 3 * 4 * 100 / 10.0);
  EXPECT_EQ(times[0].range, (base::Range{0, 5}));
  EXPECT_EQ(times[1].range.size(), 0u);
  EXPECT_THAT(told([&] { layer_times(profile, machine, "float16", 3); }),
              HasSubstr("no flops_per_second for it, only for float32"));
  auto stretched = times;
  stretch(stretched, base::Seconds(36));
  EXPECT_DOUBLE_EQ(stretched[0].forward.count(), 60 * 36.0 / 360);
}

}  // namespace
}  // namespace parajoule::rehearse
