#pragma once

// Which methods a bench runs, and with what options: from a file of cases, and from the catalog of
// methods what the file leaves out.

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "strategy/catalog.h"

namespace parajoule::bench {

struct Case {
  enum class Hides { nothing, pass, step };
  std::string label;
  std::string method;
  base::Settings options = {};
  std::string sum = "auto";
  Hides hides = Hides::nothing;  ///< its sums, behind computing
};

inline const base::Option& option_of(const strategy::Method& method, const std::string& key) {
  for (const base::Option& option : method.options)
    if (option.name == key) return option;
  throw base::Error(base::Fault::usage, fmt::format("{} has no option {}", method.name, key));
}

/// METHOD KEY=VALUE ... [: hides pass | step]
inline Case case_in(const std::string& line) {
  std::istringstream words(line);
  Case result;
  words >> result.method;
  result.label = result.method;
  const strategy::Method& method = strategy::method(result.method);
  std::map<std::string, base::Value> given;
  for (std::string word; words >> word && word != ":";) {
    result.label += " " + word;
    const auto equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (key == "sum")
      result.sum = value;
    else
      given[key] = base::parse(option_of(method, key), method.name, value);
  }
  if (line.find(": hides pass") != std::string::npos) result.hides = Case::Hides::pass;
  if (line.find(": hides step") != std::string::npos) result.hides = Case::Hides::step;
  result.options = base::Settings(method.name, method.options, given);
  return result;
}

/// Those of the file in its order; then the methods that stand nowhere in it.
inline std::vector<Case> cases_in(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw base::Error(base::Fault::input, path + ": cannot be read");
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line.front() != '#') cases.push_back(case_in(line));
  for (const strategy::Method& method : strategy::methods()) {
    const bool stands = std::ranges::find(cases, method.name, &Case::method) != cases.end();
    if (!stands) cases.push_back(case_in(std::string(method.name)));
  }
  return cases;
}

}  // namespace parajoule::bench
