#include "cli/vocabulary.h"

#include "comm/sums.h"
#include "data/catalog.h"
#include "nn/catalog.h"
#include "optimize/catalog.h"
#include "strategy/catalog.h"
#include "strategy/overlap.h"
#include "train/learning_rate.h"

namespace parajoule::cli {
namespace {

template <class Catalog>
std::vector<Alternative> alternatives(const Catalog& catalog) {
  std::vector<Alternative> entries;
  for (const auto& entry : catalog) {
    entries.push_back({entry.name, entry.summary, entry.paper, entry.options});
  }
  return entries;
}

/// What a method shares with others stands in tables of its own.
std::vector<Alternative> strategies() {
  std::vector<Alternative> entries;
  for (const auto& method : strategy::methods()) {
    entries.push_back({method.name, method.summary, method.paper, method.own_options()});
  }
  return entries;
}

std::vector<Alternative> data_sets() {
  std::vector<Alternative> entries;
  for (const auto& kind : data::kinds()) {
    entries.push_back({kind.name, kind.summary, "", kind.options});
  }
  return entries;
}

}  // namespace

Vocabulary vocabulary() {
  return {
      .choices = {{"model", "resnet20", "the network", alternatives(nn::models())},
                  {"data", "fashion_mnist", "what it learns from", data_sets()},
                  {"strategy", strategy::methods().front().name, "the way to train on many ranks",
                   strategies()},
                  {"overlap", strategy::usual_overlap,
                   "sums of gradients during the backward pass, of strategies that sum them there",
                   alternatives(strategy::overlaps())},
                  {"sum", comm::sums().front().name, "how ranks add up what they sum",
                   alternatives(comm::sums())},
                  {"optimizer", "sgd", "the rule that moves the weights",
                   alternatives(optimize::optimizers())},
                  {"schedule", "cosine", "what becomes of the learning rate",
                   alternatives(train::schedules())}},
      .recipes = recipes(),
  };
}

}  // namespace parajoule::cli
