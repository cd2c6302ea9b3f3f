#include "cli/vocabulary.h"

#include "data/catalog.h"
#include "nn/catalog.h"
#include "optimize/catalog.h"
#include "strategy/catalog.h"
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
                  {"strategy", "synchronous", "the way to train on many ranks",
                   alternatives(strategy::methods())},
                  {"optimizer", "sgd", "the rule that moves the weights",
                   alternatives(optimize::optimizers())},
                  {"schedule", "cosine", "what becomes of the learning rate",
                   alternatives(train::schedules())}},
      .recipes = recipes(),
  };
}

}  // namespace parajoule::cli
