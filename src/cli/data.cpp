// parajoule data: list, check, prepare. The data sets live in parajoule-train.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/process.h"

namespace parajoule::cli {
namespace {

struct Arguments {
  std::string name;
  std::string folder;
  std::vector<std::string> set;
  std::optional<long> samples;
  std::optional<int> quality;
};

Chosen asking(const std::string& action, const std::shared_ptr<Arguments>& arguments) {
  return [action, arguments]() -> int {
    Command data{.words = {train_program(), "--data=" + action}};
    auto& words = data.words;
    if (!arguments->name.empty()) words.push_back("--name=" + arguments->name);
    if (!arguments->folder.empty()) words.push_back("--to=" + arguments->folder);
    if (arguments->samples) words.push_back(fmt::format("--samples={}", *arguments->samples));
    if (arguments->quality) words.push_back(fmt::format("--quality={}", *arguments->quality));
    for (const std::string& assignment : arguments->set) words.push_back("--set=" + assignment);
    become(data);
  };
}

void add_options(CLI::App& command, Arguments& arguments) {
  command.add_option("--set", arguments.set, "an option of the data set: folder=DIR")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

}  // namespace

void add_data(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("data", "the data sets: list, check, prepare");
  command->require_subcommand(1);
  auto arguments = std::make_shared<Arguments>();

  auto* list = command->add_subcommand("list", "all data sets, or one with its options");
  list->add_option("name", arguments->name, "explain this one")->type_name("NAME");
  list->callback([=, &chosen] { chosen = asking("list", arguments); });

  auto* check = command->add_subcommand("check", "decode every sample and name the bad ones");
  check->add_option("name", arguments->name, "the data set")->type_name("NAME")->required();
  add_options(*check, *arguments);
  check->callback([=, &chosen] { chosen = asking("check", arguments); });

  auto* prepare =
      command->add_subcommand("prepare", "write a data set as folders of JPEGs, for `images`");
  prepare->add_option("name", arguments->name, "the data set")->type_name("NAME")->required();
  prepare->add_option("folder", arguments->folder, "where to write")->type_name("DIR")->required();
  prepare->add_option("--samples", arguments->samples, "of each part, at most")->type_name("N");
  prepare->add_option("--quality", arguments->quality, "of the JPEGs, 1 to 100")->type_name("Q");
  add_options(*prepare, *arguments);
  prepare->callback([=, &chosen] { chosen = asking("prepare", arguments); });
}

}  // namespace parajoule::cli
