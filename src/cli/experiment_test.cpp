#include "cli/experiment.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "cli/example.h"
#include "comm/sums.h"
#include "strategy/catalog.h"
#include "strategy/overlap.h"

namespace parajoule::cli {
namespace {

using base::Option;
using testing::HasSubstr;
using testing::StartsWith;

const std::vector<Option> net_options = {
    {"width", Option::Kind::whole, "64", "channels of the first stage", {}, 1},
    {"norm", Option::Kind::word, "batch", "normalisation", {"batch", "group"}}};
const std::vector<Option> set_options = {
    {"folder", Option::Kind::word, "", "where the files are"},
    {"mean", Option::Kind::numbers, "[0.5]", "of each channel"}};
const std::vector<Option> sgd_options = {{"momentum", Option::Kind::number, "0.9", "mu", {}, 0, 1}};
const std::vector<Option> step_options = {
    {"milestones", Option::Kind::wholes, "[30, 60]", "epochs"}};

template <class Catalog>
std::vector<Alternative> all_of(const Catalog& catalog) {
  std::vector<Alternative> entries;
  for (const auto& entry : catalog)
    entries.push_back({entry.name, entry.summary, entry.paper, entry.options});
  return entries;
}

/// A small world beside the real strategies.
Vocabulary small() {
  std::vector<Alternative> strategies;
  for (const auto& method : strategy::methods()) {
    strategies.push_back({method.name, method.summary, method.paper, method.own_options()});
  }
  return {.choices = {{"model", "net", "the network", {{"net", "a net", "", net_options}}},
                      {"data", "set", "what it learns from", {{"set", "a set", "", set_options}}},
                      {"strategy", "synchronous", "how ranks train", strategies},
                      {"overlap", "merged", "sums in the pass", all_of(strategy::overlaps())},
                      {"sum", "auto", "how ranks add up", all_of(comm::sums())},
                      {"optimizer", "sgd", "the rule", {{"sgd", "plain", "", sgd_options}}},
                      {"schedule",
                       "constant",
                       "of the rate",
                       {{"constant", "no change", "", {}}, {"step", "steps", "", step_options}}}},
          .recipes = {{"famous",
                       "a famous recipe",
                       "a famous paper",
                       {{"", "epochs", "90"},
                        {"", "schedule", "step"},
                        {"step", "milestones", "[1, 2]"},
                        {"sgd", "momentum", "0.5"}}}}};
}

train::Experiment made(std::string_view file, Request request = {}) {
  const Vocabulary vocabulary = small();
  return resolve(wishes_in(file, "x.toml"), request, vocabulary);
}

std::string refusal(std::string_view file, Request request = {}) {
  try {
    made(file, std::move(request));
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::usage);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "";
}

std::string origin_of(const train::Experiment& experiment, std::string_view key) {
  const auto found = std::ranges::find(experiment.settings, key, &train::Setting::key);
  return found == experiment.settings.end() ? "" : found->value + " by " + found->origin;
}

TEST(Experiment, OverlapAndSumAreChoicesOfTheirOwn) {
  const auto e = made(
      "overlap = \"lazy\"\nsum = \"hierarchical\"\n[lazy]\nthreshold_bytes = 8\n"
      "[hierarchical]\nleaders = \"tree\"");
  EXPECT_EQ(e.strategy.settings.word("overlap"), "lazy");
  EXPECT_EQ(e.strategy.settings.whole("threshold_bytes"), 8);
  EXPECT_EQ(e.sum.name, "hierarchical");
  EXPECT_EQ(e.sum.settings.word("leaders"), "tree");
  EXPECT_EQ(origin_of(e, "overlap"), "lazy by file");
  EXPECT_EQ(origin_of(e, "lazy.threshold_bytes"), "8 by file");
  EXPECT_EQ(origin_of(e, "merged.merge_bytes"), "");
  EXPECT_EQ(origin_of(e, "synchronous.overlap"), "");
  EXPECT_EQ(origin_of(e, "hierarchical.leaders"), "tree by file");
}

TEST(Experiment, SlowDevicesOfRehearsalsArePassedOver) {
  const std::string file = "[slow]\nrank = 3\nrandom = {probability = 0.5}\n";
  EXPECT_EQ(made(file, {.set = {"slow.factor=2", "slow.random.seed=3"}}).ranks, 1);
  EXPECT_EQ(origin_of(made(file), "slow.rank"), "");
  EXPECT_THAT(refusal("[slo]\nrank = 3"), HasSubstr("nothing is called 'slo'"));
}

TEST(Experiment, RanksAreNoMoreThanSamplesOrThanAMachineHolds) {
  const auto refused = [](const auto& check) -> std::string {
    try {
      check();
    } catch (const base::Error& error) {
      EXPECT_EQ(error.fault, base::Fault::usage);
      return error.what();
    }
    return "";
  };
  const auto e = made("ranks = 6");
  EXPECT_EQ(refused([&] { check_samples(e, 6); }), "");
  EXPECT_EQ(refused([&] { check_samples(e, 5); }),
            "ranks = 6: 6 of them train, on 5 samples; take fewer");
  EXPECT_EQ(refused([&] { check_ranks_on_node(e, 4096); }), "");
  EXPECT_THAT(refused([&] { check_ranks_on_node(e, 4097); }), HasSubstr("on one machine"));
}

TEST(Experiment, AnOverlapIsForStrategiesThatSumInThePass) {
  EXPECT_EQ(
      refusal("strategy = \"local_sgd\"\noverlap = \"layer\""),
      "x.toml:2: overlap = layer: local_sgd sums no gradients during the backward pass; leave "
      "it out");
  const auto e = made("strategy = \"local_sgd\"");
  EXPECT_EQ(origin_of(e, "overlap"), "");
  EXPECT_EQ(origin_of(e, "merged.merge_bytes"), "");
}

TEST(Experiment, AnEmptyFileIsAllDefaults) {
  const auto e = made("");
  EXPECT_EQ(e.model.name, "net");
  EXPECT_EQ(e.model.settings.whole("width"), 64);
  EXPECT_EQ(e.epochs, 1);
  EXPECT_EQ(e.steps, std::nullopt);
  EXPECT_EQ(e.local_batch_size, 64);
  EXPECT_EQ(e.reference_batch_size, e.global_batch_size);
  EXPECT_EQ(origin_of(e, "epochs"), "1 by default");
}

TEST(Experiment, TakesValuesFromTheTablesOfWhatIsChosen) {
  const auto e = made(R"(
      epochs = 3
      steps = 100
      learning_rate = 1
      strategy = "local_sgd"
      [local_sgd]
      period = 4
      [net]
      width = 16
      norm = "group"
      [set]
      mean = [1, 0.25])");
  EXPECT_EQ(e.epochs, 3);
  EXPECT_EQ(e.steps, 100);
  EXPECT_EQ(e.learning_rate, 1);
  EXPECT_EQ(e.strategy.settings.whole("period"), 4);
  EXPECT_EQ(e.model.settings.word("norm"), "group");
  EXPECT_EQ(e.data.settings.numbers("mean"), (std::vector<double>{1, 0.25}));
  EXPECT_EQ(origin_of(e, "local_sgd.period"), "4 by file");
  EXPECT_EQ(origin_of(e, "steps"), "100 by file");
}

TEST(Experiment, TheCommandLineHoldsAgainstTheFile) {
  const auto e = made("epochs = 3\n[net]\nwidth = 16", {.set = {"epochs=5", "net.width=8"}});
  EXPECT_EQ(e.epochs, 5);
  EXPECT_EQ(e.model.settings.whole("width"), 8);
  EXPECT_EQ(origin_of(e, "net.width"), "8 by command line");
}

TEST(Experiment, ABareKeyMayBeTheStrategysInAnyOrder) {
  const auto e = made("", {.set = {"period=16", "strategy=local_sgd"}});
  EXPECT_EQ(e.strategy.settings.whole("period"), 16);
}

TEST(Experiment, ARecipeWeighsLessThanFileAndCommandLine) {
  const auto e = made("recipe = \"famous\"\n[sgd]\nmomentum = 0.7", {.set = {"epochs=2"}});
  EXPECT_EQ(e.epochs, 2);
  EXPECT_EQ(e.schedule.name, "step");
  EXPECT_EQ(e.schedule.settings.wholes("milestones"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(e.optimizer.settings.number("momentum"), 0.7);
  EXPECT_EQ(origin_of(e, "schedule"), "step by recipe");
  EXPECT_EQ(origin_of(e, "sgd.momentum"), "0.7 by file");
}

TEST(Experiment, RanksComeFromTheOneWhoStartedThem) {
  EXPECT_EQ(made("ranks = 2").ranks, 2);
  EXPECT_EQ(made("ranks = 2", {.ranks = 3}).ranks, 3);
  const auto e = made("ranks = 2", {.started = 4});
  EXPECT_EQ(e.ranks, 4);
  EXPECT_EQ(origin_of(e, "ranks"), "4 by started");
  EXPECT_THAT(refusal("", {.ranks = 3, .started = 4}), HasSubstr("--ranks 3"));
  EXPECT_THAT(refusal("", {.ranks = 0}), HasSubstr("--ranks 0"));
}

TEST(Experiment, BatchesFollowFromTheRanksThatTrain) {
  const auto e = made("ranks = 4\nglobal_batch_size = 128");
  EXPECT_EQ(e.local_batch_size, 32);
  EXPECT_EQ(origin_of(e, "local_batch_size"), "32 by global_batch_size");
  EXPECT_EQ(origin_of(made("local_batch_size = 8"), "global_batch_size"), "8 by local_batch_size");
  EXPECT_THAT(refusal("ranks = 3\nglobal_batch_size = 128"), HasSubstr("126 or 129"));
  EXPECT_THAT(refusal("ranks = 3\nglobal_batch_size = 128"), StartsWith("x.toml:2: "));
}

TEST(Experiment, ThreadsShareTheCoresOfANode) {
  EXPECT_EQ(made("ranks = 2", {.cores = 8}).threads, 4);
  EXPECT_EQ(made("ranks = 4\nranks_per_node = 2", {.cores = 8}).threads, 2);  // only pretended
  EXPECT_EQ(made("ranks = 4", {.cores = 2}).threads, 1);
  EXPECT_EQ(made("threads = 3", {.cores = 2}).threads, 3);
}

TEST(Experiment, ThreadsFollowTheCoresThatARankFinds) {
  auto e = made("", {.started = 4, .cores = 8});
  EXPECT_TRUE(share_cores(e, 8, 1));  // bound to cores of its own
  EXPECT_EQ(e.threads, 8);
  EXPECT_TRUE(share_cores(e, 8, 2));
  EXPECT_EQ(origin_of(e, "threads"), "4 by cores and ranks");
  auto said = made("threads = 3", {.started = 4, .cores = 8});
  EXPECT_TRUE(share_cores(said, 8, 2));
  EXPECT_FALSE(share_cores(said, 8, 4));
  EXPECT_EQ(origin_of(said, "threads"), "3 by file");
}

TEST(Experiment, TheFolderOfRecordsMayComeFromTheEnvironment) {
  const auto e = made("", {.records = "elsewhere"});
  EXPECT_EQ(e.records, "elsewhere");
  EXPECT_EQ(origin_of(e, "records"), "elsewhere by PARAJOULE_RECORDS");
  EXPECT_EQ(made("records = \"here\"", {.records = "elsewhere"}).records, "here");
}

TEST(Experiment, ErrorsNameTheLineTheKeyAndTheWayOut) {
  EXPECT_THAT(refusal("\n\nepoch = 3"), StartsWith("x.toml:3: epoch = 3: unknown key"));
  EXPECT_THAT(refusal("epoch = 3"), HasSubstr("did you mean 'epochs'?"));
  EXPECT_THAT(refusal("epochs = \"many\""), StartsWith("x.toml:1: epochs = many: must be a whole"));
  EXPECT_THAT(refusal("steps = 0"), HasSubstr("at least 1"));
  EXPECT_THAT(refusal("model = \"nett\""), HasSubstr("did you mean 'net'?"));
  EXPECT_THAT(refusal("[nets]\nwidth = 3"), HasSubstr("did you mean 'net'?"));
  EXPECT_THAT(refusal("[net]\nwidths = 3"), StartsWith("x.toml:2: net.widths = 3"));
  EXPECT_THAT(refusal("[net]\nnorm = \"layer\""), HasSubstr("batch, group"));
  EXPECT_THAT(refusal("width = 3"), HasSubstr("write net.width"));
  EXPECT_THAT(refusal("[model]\nwidth = 3"), HasSubstr("table [net]"));
  EXPECT_THAT(refusal("version = 2"), HasSubstr("version"));
  EXPECT_THAT(refusal("[net]\nwidth = {a = 1}"), StartsWith("x.toml:2: net.width"));
  EXPECT_THAT(refusal("epochs = [1, \"x\"]"), StartsWith("x.toml:1: epochs"));
  EXPECT_THAT(refusal("recipe = \"secret\""), HasSubstr("famous"));
}

TEST(Experiment, ErrorsOfTheCommandLineSaySo) {
  EXPECT_THAT(refusal("", {.set = {"epochs=x"}}), StartsWith("--set: epochs = x: must be"));
  EXPECT_THAT(refusal("", {.set = {"epoch=1"}}), HasSubstr("did you mean 'epochs'?"));
  EXPECT_THAT(refusal("", {.set = {"epochs"}}), HasSubstr("--set key=value"));
  EXPECT_THAT(refusal("", {.set = {"=1"}}), HasSubstr("--set key=value"));
  EXPECT_THAT(refusal("", {.set = {"net.=1"}}), HasSubstr("--set key=value"));
  EXPECT_THAT(refusal("", {.set = {"period=4"}}), HasSubstr("unknown key"));
}

TEST(Experiment, BrokenTomlNamesItsLine) {
  EXPECT_THAT(refusal("epochs = 1\nname = \"open"), StartsWith("x.toml:2: "));
  EXPECT_THAT(refusal("epochs = 1\nepochs = 2"), StartsWith("x.toml:2: "));
}

TEST(Experiment, AMissingFileSaysHowToGetOne) {
  try {
    read_wishes("/nowhere/x.toml");
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/x.toml"));
    EXPECT_THAT(error.what(), HasSubstr("--example"));
  }
}

TEST(Experiment, OptionsOfWhatIsNotChosenAreCheckedAllTheSame) {
  EXPECT_THAT(refusal("[local_sgd]\nperiods = 4"), HasSubstr("did you mean 'period'?"));
  EXPECT_EQ(made("[local_sgd]\nperiod = 4").strategy.name, "synchronous");
}

TEST(Experiment, TheExampleReadsBackAsTheDefaults) {
  const auto from_example = made(example(small()));
  const auto from_nothing = made("");
  ASSERT_EQ(from_example.settings.size(), from_nothing.settings.size());
  for (const auto& setting : from_nothing.settings) {
    const auto same = std::ranges::find(from_example.settings, setting.key, &train::Setting::key);
    ASSERT_NE(same, from_example.settings.end()) << setting.key;
    EXPECT_EQ(same->value, setting.value) << setting.key;
  }
}

TEST(Experiment, TheExampleAndThePageHoldEveryKey) {
  const std::string text = example(small());
  const std::string markdown = page(small());
  for (const Key& key : keys()) {
    EXPECT_THAT(text, HasSubstr(fmt::format("{} =", key.option.name))) << key.option.name;
    EXPECT_THAT(markdown, HasSubstr(fmt::format("`{}`", key.option.name)));
  }
  EXPECT_THAT(markdown, HasSubstr("### `famous`"));
  EXPECT_THAT(markdown, HasSubstr("### `local_sgd`"));
}

TEST(Experiment, EveryLineOfTheExampleFitsAHundredColumns) {
  const std::string text = example(small());
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 100U) << text.substr(begin, end - begin);
    begin = end + 1;
  }
}

}  // namespace
}  // namespace parajoule::cli
