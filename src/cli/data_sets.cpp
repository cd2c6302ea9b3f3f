#include "cli/data_sets.h"

#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/cores.h"
#include "cli/exit_status.h"
#include "cli/listing.h"
#include "cli/wishes.h"
#include "data/catalog.h"
#include "data/check.h"
#include "data/prepare.h"

namespace parajoule::cli {
namespace {

struct Part {
  std::string_view name;
  data::Split split;
};
constexpr Part parts[] = {{"training", data::Split::training},
                          {"validation", data::Split::validation}};

/// One part of a data set: its line, and the lines of what is bad. Gives the number of those.
std::size_t check_part(const data::Dataset& dataset, std::string_view name) {
  const data::Shape shape = dataset.shape();
  const data::Checked checked = data::check(dataset, usable_cores());
  for (const auto& finding : checked.bad) std::cout << "bad: " << finding.what << '\n';
  std::cout << fmt::format(
      "{}: {} samples of {}x{}x{} in {} classes, {} bad, {} damaged but "
      "readable\n",
      name, checked.samples, shape.channels, shape.height, shape.width, dataset.classes(),
      checked.bad.size(), checked.damaged.size());
  return checked.bad.size();
}

}  // namespace

std::string shown_data_sets(const std::string& name) {
  if (!name.empty()) {
    const data::Kind& kind = data::kind(name);
    return explained({kind.name, kind.summary, "", kind.options}, "data");
  }
  std::vector<Alternative> entries;
  for (const auto& kind : data::kinds()) {
    entries.push_back({kind.name, kind.summary, "", kind.options});
  }
  return list_of(entries);
}

int check_data(const DataWords& words) {
  const data::Kind& kind = data::kind(words.name);
  const base::Settings settings = settings_of(kind.name, kind.options, words.set);
  std::size_t bad = 0;
  std::vector<std::unique_ptr<data::Dataset>> sets;
  for (const Part& part : parts) {
    sets.push_back(kind.open(settings, part.split));
    bad += check_part(*sets.back(), part.name);
  }
  data::need_alike(*sets[0], *sets[1]);
  return bad == 0 ? done : wrong_usage;
}

int prepare_data(const DataWords& words) {
  const data::Kind& kind = data::kind(words.name);
  const base::Settings settings = settings_of(kind.name, kind.options, words.set);
  for (const Part& part : parts) {
    const auto dataset = kind.open(settings, part.split);
    const std::string folder =
        words.folder + (part.split == data::Split::training ? "/train" : "/val");
    const auto count = data::write_image_folder(
        *dataset, folder, {.quality = words.quality, .samples = words.samples});
    std::cout << fmt::format("{}: {} pictures\n", folder, count);
  }
  std::cout << fmt::format("train on them with data = \"images\" and [images] folder = \"{}\"\n",
                           words.folder);
  return done;
}

}  // namespace parajoule::cli
