#include "cli/keys.h"

#include <algorithm>

namespace parajoule::cli {
namespace {

using Kind = base::Option::Kind;

constexpr std::string_view training = "What is trained, and for how long";
constexpr std::string_view ranks = "Ranks and batches";
constexpr std::string_view rate = "Learning rate";
constexpr std::string_view judging = "Evaluation";
constexpr std::string_view numbers = "Numbers";
constexpr std::string_view trouble = "When something goes wrong";
constexpr std::string_view machine = "This machine";
constexpr std::string_view energy = "Energy and records";

/// Of samples in a batch, and of epochs: their products must not overflow.
constexpr double most_counted = 1e9;

const std::vector<Key> table = {
    {training, {"version", Kind::whole, "1", "of this file's format", {}, 1, 1}},
    {training,
     {"name", Kind::word, "experiment", "what records and folders of this run are called"}},
    {training,
     {"recipe", Kind::word, "none",
      "a published way to train: sets the keys that docs/experiment.md lists, but none that the "
      "file "
      "or the command line gives: delete here what it should set"}},
    {training,
     {"seed", Kind::whole, "0", "of all random numbers: weights, order, augmentation", {}, 0}},
    {training, {"epochs", Kind::whole, "1", "passes over the training set", {}, 1, most_counted}},
    {training,
     {"steps",
      Kind::whole,
      "",
      "of the ranks that take most, ends training even within an epoch; left "
      "out: all steps of the epochs",
      {},
      1}},

    {ranks, {"ranks", Kind::whole, "1", "processes that take part", {}, 1, 1e6}},
    {ranks,
     {"ranks_per_node",
      Kind::whole,
      "",
      "pretended nodes of so many ranks each, for tests; left "
      "out: the real ones",
      {},
      1,
      1e6}},
    {ranks,
     {"local_batch_size",
      Kind::whole,
      "",
      "samples one rank takes in a step (LBS); left out: "
      "global_batch_size divided by the ranks that train, or 64",
      {},
      1,
      most_counted}},
    {ranks,
     {"global_batch_size",
      Kind::whole,
      "",
      "samples of one update over all ranks (GBS); left out: "
      "local_batch_size times the ranks that train",
      {},
      1,
      most_counted}},

    {rate,
     {"learning_rate",
      Kind::number,
      "0.1",
      "at a global batch of reference_batch_size samples",
      {},
      0}},
    {rate,
     {"reference_batch_size",
      Kind::whole,
      "",
      "samples; the rate is scaled by global_batch_size / "
      "reference_batch_size (linear scaling rule); left out: global_batch_size, no scaling",
      {},
      1,
      most_counted}},

    {judging,
     {"evaluation_batch_size",
      Kind::whole,
      "500",
      "samples of one chunk of the evaluation; the "
      "error does not depend on the ranks",
      {},
      1,
      most_counted}},
    {judging,
     {"evaluate_training_set", Kind::flag, "false",
      "evaluate the whole training set too after "
      "every epoch"}},
    {judging,
     {"augment_validation", Kind::flag, "false",
      "evaluate on random views as in training, as the "
      "study did"}},

    {numbers,
     {"precision",
      Kind::word,
      "float32",
      "of products; float64 also keeps the weights in float64, all others in float32",
      {"float64", "float32", "bfloat16", "float16"}}},
    {numbers,
     {"buffers",
      Kind::word,
      "mean",
      "running statistics that are evaluated: the mean over the "
      "ranks, or those of the first one",
      {"mean", "first"}}},
    {numbers,
     {"settling_steps",
      Kind::whole,
      "0",
      "steps of each rank left out of the second set of "
      "numbers",
      {},
      0}},

    {trouble,
     {"on_bad_sample",
      Kind::word,
      "abort",
      "a file that cannot be read: end, leave it out, or take "
      "another one",
      {"abort", "skip", "replace"}}},
    {trouble,
     {"on_no_gradient",
      Kind::word,
      "abort",
      "a parameter that gets no gradient: end, or count it "
      "as zero",
      {"abort", "zero"}}},
    {trouble, {"on_nan", Kind::word, "abort", "a loss that is not a number: end", {"abort"}}},
    {trouble,
     {"checkpoint_every_steps",
      Kind::whole,
      "0",
      "steps; 0: at the end, and when asked to stop",
      {},
      0}},
    {trouble, {"checkpoints", Kind::word, "checkpoints", "folder of the runs' folders"}},
    {trouble,
     {"stall_seconds",
      Kind::number,
      "60",
      "waiting for other ranks after which the missing ones "
      "are named",
      {},
      0.1}},
    {trouble,
     {"give_up_seconds",
      Kind::number,
      "600",
      "waiting for other ranks after which the run ends",
      {},
      0.1}},
    {trouble,
     {"check_collectives", Kind::flag, "false",
      "let the ranks agree on what they are about to do "
      "before every exchange; slow, for finding faults"}},

    {machine,
     {"threads",
      Kind::whole,
      "",
      "of arithmetic in each rank; left out: the cores of the node "
      "divided by its ranks",
      {},
      1,
      4096}},
    {machine,
     {"loader_threads",
      Kind::whole,
      "1",
      "that read and augment samples for each rank",
      {},
      1,
      4096}},

    {energy,
     {"meter_profile",
      Kind::word,
      "plain",
      "how readings become energies: plain, or as the study "
      "computed them",
      {"plain", "study"}}},
    {energy,
     {"sampling_hertz", Kind::number, "10", "readings a second of each source", {}, 0.01, 1000}},
    {energy, {"records", Kind::word, "records", "folder of the records; PARAJOULE_RECORDS if set"}},
};

}  // namespace

std::span<const Key> keys() { return table; }

const Choice* Vocabulary::choice(std::string_view key) const {
  const auto found = std::ranges::find(choices, key, &Choice::key);
  return found == choices.end() ? nullptr : &*found;
}

const Alternative* Vocabulary::alternative(std::string_view name) const {
  for (const Choice& choice : choices) {
    const auto found = std::ranges::find(choice.alternatives, name, &Alternative::name);
    if (found != choice.alternatives.end()) return &*found;
  }
  return nullptr;
}

std::vector<base::Option> Vocabulary::top() const {
  std::vector<base::Option> options;
  for (const Choice& choice : choices) {
    options.push_back(
        {.name = choice.key, .kind = Kind::word, .fallback = choice.fallback, .help = choice.help});
    for (const Alternative& known : choice.alternatives) {
      options.back().choices.push_back(known.name);
    }
  }
  for (const Key& key : keys()) {
    options.push_back(key.option);
    if (key.option.name != "recipe") continue;
    options.back().choices.push_back("none");
    for (const Recipe& recipe : recipes) options.back().choices.push_back(recipe.name);
  }
  return options;
}

}  // namespace parajoule::cli
