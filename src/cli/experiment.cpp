#include "cli/experiment.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/batches.h"
#include "cli/collected.h"
#include "cli/method_settings.h"
#include "cli/surroundings.h"
#include "cli/top_settings.h"
#include "strategy/catalog.h"

namespace parajoule::cli {
namespace {

base::Error wrong(const std::string& what) { return {base::Fault::usage, what}; }

/// The table of slow devices: training and rehearsals share a file.
bool is_of_rehearsals(std::string_view table) { return table == "slow" || table == "slow.random"; }

std::vector<Wish> for_training(std::vector<Wish> file) {
  std::erase_if(file, [](const Wish& wish) { return is_of_rehearsals(wish.table); });
  return file;
}

std::vector<std::string> for_training(std::vector<std::string> set) {
  std::erase_if(set, [](const std::string& argument) {
    return is_of_rehearsals(assignment_in(argument).table);
  });
  return set;
}

train::Choice chosen(const Collected& collected, const Vocabulary& vocabulary,
                     std::string_view key) {
  const std::string name = collected.chosen(key);
  return {.name = name,
          .settings =
              base::Settings(name, vocabulary.alternative(name)->options, collected.values(name))};
}

int ranks_of(const Request& request, const base::Settings& top) {
  if (request.started && request.ranks && *request.started != *request.ranks) {
    throw wrong(fmt::format("--ranks {}: {} ranks have been started already; leave --ranks out",
                            *request.ranks, *request.started));
  }
  if (request.started) return *request.started;
  if (request.ranks && *request.ranks < 1) {
    throw wrong(fmt::format("--ranks {}: must be at least 1", *request.ranks));
  }
  return request.ranks.value_or(int(top.whole("ranks")));
}

constexpr std::string_view from_cores = "cores and ranks";

int part_of(int cores, int sharing) { return std::max(1, cores / sharing); }

comm::Nodes nodes_of(int ranks, const std::optional<int>& per_node) {
  comm::Nodes nodes;
  for (int rank = 0; rank < ranks; ++rank) nodes.node.push_back(per_node ? rank / *per_node : 0);
  return nodes;
}

/// How many ranks take batches; asking every rank also finds out what the method refuses.
std::int64_t training_ranks(const train::Experiment& experiment) {
  const auto& method = strategy::method(experiment.strategy.name);
  const comm::Nodes nodes = nodes_of(experiment.ranks, experiment.ranks_per_node);
  std::int64_t training = 0;
  for (int rank = 0; rank < experiment.ranks; ++rank) {
    const auto part = method.part(rank, experiment.ranks, nodes, experiment.strategy.settings);
    if (part.trains) ++training;
  }
  return training;
}

/// What a word of the file means; the keys have refused all others.
template <class Meaning>
Meaning meant(const base::Settings& top, std::string_view key,
              std::initializer_list<std::pair<std::string_view, Meaning>> words) {
  const std::string word = top.word(key);
  for (const auto& [known, meaning] : words)
    if (word == known) return meaning;
  throw base::Error(base::Fault::bug, fmt::format("{} = {}: nobody knows its meaning", key, word));
}

void take_policies(train::Experiment& e, const base::Settings& top) {
  using data::OnBadSample, train::Buffers, train::OnNoGradient;
  e.buffers = meant<Buffers>(top, "buffers", {{"mean", Buffers::mean}, {"first", Buffers::first}});
  e.on_bad_sample = meant<OnBadSample>(top, "on_bad_sample",
                                       {{"abort", OnBadSample::abort},
                                        {"skip", OnBadSample::skip},
                                        {"replace", OnBadSample::replace}});
  e.on_no_gradient = meant<OnNoGradient>(
      top, "on_no_gradient", {{"abort", OnNoGradient::abort}, {"zero", OnNoGradient::zero}});
}

void take_top(train::Experiment& e, const base::Settings& top) {
  e.name = top.word("name");
  if (e.name.empty()) throw wrong("name: must not be empty: records and folders are called by it");
  e.seed = std::uint64_t(top.whole("seed"));
  e.epochs = top.whole("epochs");
  e.steps = whole_if_given(top, "steps");
  if (const auto per_node = whole_if_given(top, "ranks_per_node"))
    e.ranks_per_node = int(*per_node);
  e.evaluation_batch_size = top.whole("evaluation_batch_size");
  e.evaluate_training_set = top.flag("evaluate_training_set");
  e.augment_validation = top.flag("augment_validation");
  e.learning_rate = top.number("learning_rate");
  e.precision = top.word("precision");
  e.settling_steps = top.whole("settling_steps");
  e.checkpoint_every_steps = top.whole("checkpoint_every_steps");
  e.checkpoints = top.word("checkpoints");
  e.stall = base::Seconds(top.number("stall_seconds"));
  e.give_up = base::Seconds(top.number("give_up_seconds"));
  e.check_collectives = top.flag("check_collectives");
  e.loader_threads = int(top.whole("loader_threads"));
  e.meter_profile = top.word("meter_profile");
  e.sampling_hertz = top.number("sampling_hertz");
  e.records = top.word("records");
}

/// The rows of the record's `setting` table.
class Origins {
 public:
  Origins(const Collected& collected, train::Experiment& experiment)
      : collected_(collected), experiment_(experiment) {}

  void add(const std::string& table, const base::Settings& settings) {
    for (const auto& [key, entry] : settings.entries()) {
      const auto given = collected_.table(table).find(key);
      const bool said = given != collected_.table(table).end();
      put(table.empty() ? key : table + "." + key, base::written(entry.value),
          said ? name_of(given->second.origin) : "default");
    }
  }

  /// A value that follows from others, unless it was said.
  void follows(const std::string& key, std::int64_t value, std::string_view from) {
    if (collected_.table("").contains(key)) return;
    put(key, fmt::format("{}", value), from);
  }

  void put(const std::string& key, const std::string& value, std::string_view origin) {
    drop(key);
    experiment_.settings.push_back({.key = key, .value = value, .origin = std::string(origin)});
  }

  void drop(const std::string& key) {
    std::erase_if(experiment_.settings, [&](const auto& row) { return row.key == key; });
  }

 private:
  const Collected& collected_;
  train::Experiment& experiment_;
};

void note_origins(train::Experiment& e, const Collected& collected, const base::Settings& top,
                  const Request& request) {
  Origins origins(collected, e);
  origins.add("", top);
  for (const train::Choice* choice : {&e.model, &e.data, &e.sum, &e.optimizer, &e.schedule}) {
    origins.add(choice->name, choice->settings);
  }
  const auto& method = strategy::method(e.strategy.name);
  origins.add(e.strategy.name, base::Settings(e.strategy.name, method.own_options(),
                                              collected.values(e.strategy.name)));
  if (method.overlaps())
    origins.add(e.overlap.name, e.overlap.settings);
  else
    origins.drop("overlap");
  if (request.started || request.ranks) {
    origins.put("ranks", fmt::format("{}", e.ranks), request.started ? "started" : "command line");
  }
  if (e.records != top.word("records")) origins.put("records", e.records, "PARAJOULE_RECORDS");
  origins.follows(
      "local_batch_size", e.local_batch_size,
      collected.table("").contains("global_batch_size") ? "global_batch_size" : "default");
  origins.follows("global_batch_size", e.global_batch_size, "local_batch_size");
  origins.follows("reference_batch_size", e.reference_batch_size, "global_batch_size");
  origins.follows("threads", e.threads, from_cores);
}

}  // namespace

train::Experiment resolve(const std::vector<Wish>& file, const Request& request,
                          const Vocabulary& vocabulary) {
  Collected collected(vocabulary);
  collected.add(for_training(file));
  collected.add(for_training(request.set));
  const std::string wanted = collected.chosen("recipe");
  const auto recipe = std::ranges::find(vocabulary.recipes, wanted, &Recipe::name);
  if (recipe != vocabulary.recipes.end()) collected.add(*recipe);

  const base::Settings top = top_settings(collected, vocabulary);
  train::Experiment e;
  take_top(e, top);
  take_policies(e, top);
  e.model = chosen(collected, vocabulary, "model");
  e.data = chosen(collected, vocabulary, "data");
  e.sum = chosen(collected, vocabulary, "sum");
  e.overlap = chosen(collected, vocabulary, "overlap");
  e.strategy = chosen(collected, vocabulary, "strategy");
  e.strategy.settings = method_settings(collected, e.strategy.name, e.overlap.name);
  e.optimizer = chosen(collected, vocabulary, "optimizer");
  e.schedule = chosen(collected, vocabulary, "schedule");
  e.ranks = ranks_of(request, top);
  check_optimizer(e.strategy.name, e.optimizer.name, e.optimizer.settings);
  const BatchSizes batches = batch_sizes(collected, top, training_ranks(e));
  if (request.records && !collected.table("").contains("records")) e.records = *request.records;
  e.local_batch_size = batches.local;
  e.global_batch_size = batches.global;
  e.reference_batch_size = whole_if_given(top, "reference_batch_size").value_or(batches.global);
  e.threads = int(whole_if_given(top, "threads").value_or(part_of(request.cores, e.ranks)));
  note_origins(e, collected, top, request);
  return e;
}

train::Experiment read_experiment(const Request& request, const Vocabulary& vocabulary) {
  train::Experiment experiment = resolve(read_wishes(request.path), request, vocabulary);
  share_cores(experiment, request.cores, most_on_a_node(environment, experiment.ranks));
  return experiment;
}

bool share_cores(train::Experiment& experiment, int cores, int sharing) {
  const int part = part_of(cores, sharing);
  const auto row = std::ranges::find(experiment.settings, "threads", &train::Setting::key);
  if (row != experiment.settings.end() && row->origin == from_cores) {
    experiment.threads = part;
    row->value = fmt::format("{}", part);
  }
  return experiment.threads <= part;
}

std::string rehearsals_alone(const Request& request) {
  const auto file = read_wishes(request.path);
  const bool any = for_training(file).size() < file.size() ||
                   for_training(request.set).size() < request.set.size();
  return any ? "training makes no use of [slow]: it is for rehearsals" : "";
}

void check_ranks_on_node(const train::Experiment& experiment, int on_a_node) {
  constexpr int most = 4096;  // processes of a machine; each maps the memory of the others
  if (on_a_node > most)
    throw wrong(
        fmt::format("ranks = {}: {} of them on one machine, which are more than {}; take "
                    "fewer, or start them over several with srun or mpirun",
                    experiment.ranks, on_a_node, most));
}

void check_samples(const train::Experiment& experiment, std::int64_t samples) {
  if (const std::int64_t training = training_ranks(experiment); training > samples)
    throw wrong(fmt::format("ranks = {}: {} of them train, on {} samples; take fewer",
                            experiment.ranks, training, samples));
}

std::optional<int> asked_ranks(const Request& request, const Vocabulary& vocabulary) {
  Collected collected(vocabulary);
  collected.add(for_training(read_wishes(request.path)));
  collected.add(for_training(request.set));
  const auto ranks = collected.table("").find("ranks");
  if (ranks == collected.table("").end()) return {};
  return int(std::get<std::int64_t>(ranks->second.value));
}

}  // namespace parajoule::cli
