#pragma once

// The commands of `parajoule`, one file each.

#include <functional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

namespace parajoule::cli {

/// What the command line asks for; gives the exit status, or throws base::Error.
using Chosen = std::function<int()>;

// Each adds a command to `app`, which puts what it does into `chosen` when it is called.
void add_train(CLI::App& app, Chosen& chosen);
void add_strategies(CLI::App& app, Chosen& chosen);
void add_sums(CLI::App& app, Chosen& chosen);
void add_optimizers(CLI::App& app, Chosen& chosen);
void add_models(CLI::App& app, Chosen& chosen);
void add_rehearse(CLI::App& app, Chosen& chosen);
void add_data(CLI::App& app, Chosen& chosen);
void add_doctor(CLI::App& app, Chosen& chosen);
void add_report(CLI::App& app, Chosen& chosen);
void add_runs(CLI::App& app, Chosen& chosen);
void add_sensors(CLI::App& app, Chosen& chosen);
void add_serve(CLI::App& app, Chosen& chosen);
void add_trace(CLI::App& app, Chosen& chosen);

/// `command`: the words that are to be run, which are not for us to understand; filled before the
/// others are parsed.
CLI::App& add_measure(CLI::App& app, Chosen& chosen, const std::vector<std::string>& command);

/// How many of the words, of which the second is `measure`, are ours: up to `--`, or to the first
/// one that is neither an option nor the value of one.
int words_before_command(const CLI::App& measure, int count, char** words);

}  // namespace parajoule::cli
