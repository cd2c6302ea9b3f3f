#include "cli/shown.h"

#include <regex>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/listing.h"
#include "cli/wishes.h"
#include "nn/catalog.h"
#include "nn/profile.h"
#include "rehearse/profile_file.h"

namespace parajoule::cli {
namespace {

/// 1x28x28.
std::string shape_of(const nn::Input& input, std::string_view between = "x") {
  return fmt::format("{}{}{}{}{}", input.channels, between, input.height, between, input.width);
}

nn::Input input_in(const std::string& text) {
  static const std::regex shape("([1-9][0-9]{0,4})x([1-9][0-9]{0,4})x([1-9][0-9]{0,4})");
  std::smatch found;
  if (!std::regex_match(text, found, shape))
    throw base::Error(
        base::Fault::usage,
        fmt::format("--input {}: must be channels x height x width, as in --input 3x224x224",
                    base::shown(text)));
  return {
      .channels = std::stoi(found[1]), .height = std::stoi(found[2]), .width = std::stoi(found[3])};
}

/// 25557032 -> "25,557,032".
std::string grouped(std::int64_t number) {
  std::string digits = fmt::format("{}", number);
  for (int at = int(digits.size()) - 3; at > 0; at -= 3) digits.insert(std::size_t(at), 1, ',');
  return digits;
}

std::string line_of(const nn::Model& model) {
  const auto total = nn::describe(model).total();
  const std::string shape =
      fmt::format("{}, {} classes", shape_of(model.usual.input), model.usual.classes);
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

std::string model_profile(const ProfileWords& words) {
  const nn::Model& model = nn::model(words.name);
  const base::Settings settings = settings_of(model.name, model.options, words.set);
  const nn::Input input = words.input.empty() ? model.usual.input : input_in(words.input);
  const int classes = words.classes.value_or(model.usual.classes);
  nn::Net net = model.make(settings, input, classes);
  std::string options;
  for (const auto& [key, entry] : settings.entries())
    if (entry.given) options += fmt::format("{} = {}, ", key, base::written(entry.value));
  if (options.empty()) options = "its usual options, ";
  const std::string source =
      fmt::format("counted by parajoule models {} --profile: {}samples of {}, {} classes, float32",
                  words.name, options, shape_of(input, " x "), classes);
  return rehearse::written(nn::profile_of(net), words.name, source);
}

}  // namespace parajoule::cli
