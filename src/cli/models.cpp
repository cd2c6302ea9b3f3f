// parajoule models: what can be trained. The models live in parajoule-train.

#include <memory>
#include <string>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/process.h"

namespace parajoule::cli {

void add_models(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("models", "the models with their parameters and FLOPs");
  auto name = std::make_shared<std::string>();
  auto profile = std::make_shared<bool>(false);
  command->add_option("name", *name, "explain this one")->type_name("NAME");
  command->add_flag("--profile", *profile,
                    "what its layers cost, as a file for rehearsals: models/NAME.toml");
  command->callback([name, profile, &chosen] {
    chosen = [name, profile]() -> int {
      if (*profile && name->empty())
        throw base::Error(base::Fault::usage,
                          "--profile is of one model: parajoule models NAME --profile");
      Command models{.words = {train_program(), *profile ? "--profile" : "--models"}};
      if (!name->empty()) models.words.push_back("--name=" + *name);
      become(models);
    };
  });
}

}  // namespace parajoule::cli
