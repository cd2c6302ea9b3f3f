#include "cli/shown.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/listing.h"
#include "nn/catalog.h"
#include "nn/profile.h"
#include "rehearse/profile_file.h"

namespace parajoule::cli {
namespace {

/// The data that a family of models was published for.
struct Published {
  nn::Input input;
  int classes;
};

Published published_for(const nn::Model& model) {
  const auto has = [&](std::string_view option) {
    return std::ranges::find(model.options, option, &base::Option::name) != model.options.end();
  };
  if (has("stem")) return {{3, 224, 224}, 1000};
  if (has("shortcut")) return {{3, 32, 32}, 10};
  return {{1, 28, 28}, 10};
}

schedule::Profile profile_for(const nn::Model& model, const Published& data) {
  nn::Net net = model.make(base::Settings(model.name, model.options, {}), data.input, data.classes);
  return nn::profile_of(net);
}

/// 25557032 -> "25,557,032".
std::string grouped(std::int64_t number) {
  std::string digits = fmt::format("{}", number);
  for (int at = int(digits.size()) - 3; at > 0; at -= 3) digits.insert(std::size_t(at), 1, ',');
  return digits;
}

std::string line_of(const nn::Model& model) {
  const Published data = published_for(model);
  const auto total = profile_for(model, data).total();
  const std::string shape = fmt::format("{}x{}x{}, {} classes", data.input.channels,
                                        data.input.height, data.input.width, data.classes);
  return fmt::format("{:<10} {:>12} {:>14.3f} {:>15.3f}  {}\n", model.name,
                     grouped(total.parameters), double(total.forward_flops) / 1e9,
                     double(total.backward_flops) / 1e9, shape);
}

}  // namespace

std::string shown_models(const std::string& name) {
  if (!name.empty()) {
    const nn::Model& model = nn::model(name);
    return explained({model.name, model.summary, model.paper, model.options}, "model");
  }
  std::string text = fmt::format("{:<10} {:>12} {:>14} {:>15}  {}\n", "model", "parameters",
                                 "GFLOP forward", "GFLOP backward", "for each sample of");
  for (const nn::Model& model : nn::models()) text += line_of(model);
  return text + "GFLOP: 1e9 operations; a multiplication with its addition counts as two\n";
}

std::string model_profile(const std::string& name) {
  const nn::Model& model = nn::model(name);
  const Published data = published_for(model);
  const std::string source = fmt::format(
      "counted by parajoule models {} --profile: its usual options, samples of {} x {} x {}, {} "
      "classes, float32",
      name, data.input.channels, data.input.height, data.input.width, data.classes);
  return rehearse::written(profile_for(model, data), name, source);
}

}  // namespace parajoule::cli
