// Published ways to train, as presets of keys.

#include "cli/keys.h"

namespace parajoule::cli {
namespace {

Recipe study() {
  return {
      .name = "study",
      .summary =
          "as in the study of energy in parallel training: warm-up once an epoch, plateau "
          "schedule, decay on everything, random views in validation, the whole training "
          "set evaluated every epoch",
      .source =
          "P. Huber et al., Energy Consumption in Parallel Neural Network Training, "
          "arXiv:2508.07706; read from the authors' training code.",
      .presets = {{"", "epochs", "100"},
                  {"", "learning_rate", "0.1"},
                  {"", "reference_batch_size", "256"},
                  {"", "schedule", "plateau"},
                  {"", "optimizer", "sgd"},
                  {"", "evaluate_training_set", "true"},
                  {"", "augment_validation", "true"},
                  {"", "meter_profile", "study"},
                  {"plateau", "factor", "0.5"},
                  {"plateau", "patience", "5"},
                  {"plateau", "warmup_epochs", "5"},
                  {"plateau", "warmup", "epoch"},
                  {"sgd", "momentum", "0.9"},
                  {"sgd", "nesterov", "false"},
                  {"sgd", "weight_decay", "1e-4"},
                  {"sgd", "decay", "all"},
                  {"images", "scale", "[0.5, 1.0]"},
                  {"images", "flip", "true"}},
  };
}

Recipe goyal() {
  return {
      .name = "goyal",
      .summary =
          "ImageNet in an hour: warm-up at every iteration, steps by ten, no decay on biases "
          "and normalisation, blocks that start as the identity, small weights in the last layer, "
          "Nesterov momentum",
      .source =
          "P. Goyal et al., Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour, "
          "arXiv:1706.02677, sections 2 and 5.1.",
      .presets = {{"", "epochs", "90"},
                  {"", "learning_rate", "0.1"},
                  {"", "reference_batch_size", "256"},
                  {"", "schedule", "step"},
                  {"", "optimizer", "sgd"},
                  {"step", "milestones", "[30, 60, 80]"},
                  {"step", "factor", "0.1"},
                  {"step", "warmup_epochs", "5"},
                  {"step", "warmup", "iteration"},
                  {"sgd", "momentum", "0.9"},
                  {"sgd", "nesterov", "true"},
                  {"sgd", "weight_decay", "1e-4"},
                  {"sgd", "decay", "matrices"},
                  {"resnet50", "zero_gamma", "true"},
                  {"resnet50", "classifier_deviation", "0.01"},
                  {"resnet101", "zero_gamma", "true"},
                  {"resnet101", "classifier_deviation", "0.01"},
                  {"resnet152", "zero_gamma", "true"},
                  {"resnet152", "classifier_deviation", "0.01"},
                  {"images", "scale", "[0.08, 1.0]"},
                  {"images", "resize", "256"},
                  {"images", "flip", "true"}},
  };
}

}  // namespace

std::vector<Recipe> recipes() { return {study(), goyal()}; }

}  // namespace parajoule::cli
