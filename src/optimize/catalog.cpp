#include "optimize/catalog.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/nearest.h"
#include "optimize/adam.h"
#include "optimize/adamw.h"
#include "optimize/lamb.h"
#include "optimize/lars.h"
#include "optimize/sgd.h"

namespace parajoule::optimize {
namespace {

using Kind = base::Option::Kind;

base::Option weight_decay(std::string_view fallback) {
  return {.name = "weight_decay",
          .kind = Kind::number,
          .fallback = fallback,
          .help = "lambda, how strongly weights are pulled to zero",
          .least = 0.0};
}

base::Option decay() {
  return {.name = "decay",
          .kind = Kind::word,
          .fallback = "all",
          .help = "what weight_decay pulls: all, or matrices (no biases, no normalisation)",
          .choices = {"all", "matrices"}};
}

base::Option beta(std::string_view name, std::string_view fallback, std::string_view help) {
  return {.name = name,
          .kind = Kind::number,
          .fallback = fallback,
          .help = help,
          .least = 0.0,
          .most = 1.0};
}

base::Option adapt() {
  return {.name = "adapt",
          .kind = Kind::word,
          .fallback = "all",
          .help =
              "layers whose rate follows from their norms: all, or matrices (no biases, no "
              "normalisation)",
          .choices = {"all", "matrices"}};
}

std::vector<base::Option> of_lars() {
  return {{.name = "trust",
           .kind = Kind::number,
           .fallback = "0.001",
           .help = "eta, how much of a layer's norm a step at rate 1 may change it by",
           .least = 0.0},
          {.name = "momentum",
           .kind = Kind::number,
           .fallback = "0.9",
           .help = "mu, what the velocity keeps in a step; 0: no momentum",
           .least = 0.0,
           .most = 1.0},
          weight_decay("0"),
          decay(),
          adapt()};
}

std::vector<base::Option> moments(std::string_view decayed, std::string_view epsilon = "1e-8") {
  return {beta("beta1", "0.9", "beta_1, what the mean of the gradients keeps in a step"),
          beta("beta2", "0.999", "beta_2, what the mean of their squares keeps in a step"),
          {.name = "epsilon",
           .kind = Kind::number,
           .fallback = epsilon,
           .help = "epsilon, added to the root of the mean of squares",
           .least = 0.0},
          weight_decay(decayed),
          decay()};
}

std::vector<base::Option> of_lamb() {
  std::vector<base::Option> options = moments("0.01", "1e-6");
  options.push_back(adapt());
  return options;
}

std::vector<Entry> table() {
  return {
      {"sgd",
       "stochastic gradient descent, with momentum, plain or Nesterov's",
       "Sutskever et al., ICML 2013",
       {{.name = "momentum",
         .kind = Kind::number,
         .fallback = "0.9",
         .help = "mu, what the velocity keeps in a step; 0: no momentum",
         .least = 0.0,
         .most = 1.0},
        {.name = "nesterov",
         .kind = Kind::flag,
         .fallback = "false",
         .help = "look ahead along the velocity"},
        weight_decay("0"),
        decay()},
       make_sgd},
      {"adam", "adaptive moments; weight decay is part of the gradient",
       "Kingma, Ba, ICLR 2015, arXiv:1412.6980", moments("0"), make_adam},
      {"adamw", "adaptive moments; weight decay apart from the gradient",
       "Loshchilov, Hutter, ICLR 2019, arXiv:1711.05101", moments("0.01"), make_adamw},
      {"lars", "sgd for large batches: each layer's rate in proportion to its norm",
       "You, Gitman, Ginsburg, arXiv:1708.03888", of_lars(), make_lars},
      {"lamb", "adamw for large batches: each layer's step in proportion to its norm",
       "You et al., ICLR 2020, arXiv:1904.00962", of_lamb(), make_lamb},
  };
}

}  // namespace

std::span<const Entry> optimizers() {
  static const std::vector<Entry> entries = table();
  return entries;
}

const Entry& optimizer(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Entry& entry : optimizers()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  throw base::Error(base::Fault::usage, fmt::format("optimizer = {}: no such optimizer{}", name,
                                                    base::hint(name, names)));
}

std::optional<double> momentum(const base::Settings& settings) {
  // The velocity of lars is in each layer of another scale.
  const auto& entries = settings.entries();
  if (!entries.contains("momentum") || entries.contains("trust")) return std::nullopt;
  return settings.number("momentum");
}

}  // namespace parajoule::optimize
