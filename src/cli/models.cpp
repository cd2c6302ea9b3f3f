// parajoule models: what can be trained. The models live in parajoule-train.

#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/process.h"

namespace parajoule::cli {

void add_models(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("models", "the models with their parameters and FLOPs");
  auto name = std::make_shared<std::string>();
  command->add_option("name", *name, "explain this one")->type_name("NAME");
  command->callback([name, &chosen] {
    chosen = [name]() -> int {
      Command models{.words = {train_program(), "--models"}};
      if (!name->empty()) models.words.push_back("--name=" + *name);
      become(models);
    };
  });
}

}  // namespace parajoule::cli
