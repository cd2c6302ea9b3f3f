// parajoule models: what can be trained. The models live in parajoule-train.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/process.h"

namespace parajoule::cli {
namespace {

struct Arguments {
  std::string name;
  bool profile = false;
  std::vector<std::string> set;
  std::string input;
  std::optional<int> classes;
};

int ask(const Arguments& arguments) {
  const bool details =
      !arguments.set.empty() || !arguments.input.empty() || arguments.classes.has_value();
  if (arguments.profile && arguments.name.empty())
    throw base::Error(base::Fault::usage,
                      "--profile is of one model: parajoule models NAME --profile");
  if (details && !arguments.profile)
    throw base::Error(base::Fault::usage,
                      "--set, --input and --classes are for --profile: parajoule models NAME "
                      "--profile --set width=24");
  Command models{.words = {train_program(), arguments.profile ? "--profile" : "--models"}};
  auto& words = models.words;
  if (!arguments.name.empty()) words.push_back("--name=" + arguments.name);
  for (const std::string& assignment : arguments.set) words.push_back("--set=" + assignment);
  if (!arguments.input.empty()) words.push_back("--input=" + arguments.input);
  if (arguments.classes) words.push_back(fmt::format("--classes={}", *arguments.classes));
  become(models);
}

}  // namespace

void add_models(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("models", "the models with their parameters and FLOPs");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("name", arguments->name, "explain this one")->type_name("NAME");
  command->add_flag("--profile", arguments->profile,
                    "what its layers cost, as a file for rehearsals: models/NAME.toml");
  command
      ->add_option("--set", arguments->set,
                   "of a profile: an option of the model, as in the experiment: width=24")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("--input", arguments->input,
                   "of a profile: a sample's channels, height and width: 1x28x28")
      ->type_name("CxHxW");
  command->add_option("--classes", arguments->classes, "of a profile: of the data set")
      ->type_name("N");
  command->callback([arguments, &chosen] { chosen = [arguments] { return ask(*arguments); }; });
}

}  // namespace parajoule::cli
