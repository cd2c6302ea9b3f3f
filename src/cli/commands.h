#pragma once

// The commands of `parajoule`, one file each.

#include <functional>

#include <CLI/App.hpp>

namespace parajoule::cli {

/// What the command line asks for; gives the exit status, or throws base::Error.
using Chosen = std::function<int()>;

// Each adds a command to `app`, which puts what it does into `chosen` when it is called.
void add_train(CLI::App& app, Chosen& chosen);
void add_strategies(CLI::App& app, Chosen& chosen);
void add_optimizers(CLI::App& app, Chosen& chosen);
void add_models(CLI::App& app, Chosen& chosen);
void add_data(CLI::App& app, Chosen& chosen);
void add_runs(CLI::App& app, Chosen& chosen);

}  // namespace parajoule::cli
