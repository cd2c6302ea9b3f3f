#include "cli/whole_training.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/energy_text.h"
#include "cli/numbers.h"
#include "cli/run_account.h"
#include "cli/summary.h"
#include "store/folder.h"

namespace parajoule::cli {
namespace {

namespace fs = std::filesystem;
using Align = Table::Align;

constexpr std::string_view earlier = "continues";

WholeTraining::Start start_of(const store::Reader& record) {
  const RunAccount account = account_of(record);
  return {.id = record.run().id,
          .standing = account.summary.standing,
          .wall = account.whole.work.length(),
          .totals = account.whole.totals};
}

/// The number of `<number>.ckpt`, which counts once it is there.
std::optional<std::int64_t> number_of(const fs::path& file) {
  const std::string stem = file.stem().string();
  std::int64_t number = 0;
  const auto end = std::from_chars(stem.data(), stem.data() + stem.size(), number).ptr;
  if (file.extension() != ".ckpt" || end != stem.data() + stem.size()) return {};
  return number;
}

}  // namespace

base::Seconds WholeTraining::wall() const {
  base::Seconds sum{0};
  for (const Start& start : starts) sum += start.wall;
  return sum;
}

meter::Totals WholeTraining::totals() const {
  meter::Totals sum;
  for (const Start& start : starts) sum += start.totals;
  return sum;
}

std::optional<WholeTraining> whole_training(const store::Reader& record) {
  std::optional<std::string> before = record.setting(earlier);
  if (!before) return {};
  WholeTraining training{.starts = {start_of(record)}};
  std::set<std::string> seen = {record.run().id};
  const fs::path folder = record.path().parent_path();
  while (before && seen.insert(*before).second) {
    try {
      const store::Reader found(store::find_record(folder, *before));
      training.starts.push_back(start_of(found));
      before = found.setting(earlier);
    } catch (const base::Error&) {
      training.missing = before;
      break;
    }
  }
  std::ranges::reverse(training.starts);
  return training;
}

std::string whole_training_text(const std::optional<WholeTraining>& training, Look look) {
  if (!training) return {};
  Table table({{.heading = "start"},
               {.heading = ""},
               {.heading = "wall time", .align = Align::right},
               {.heading = "measured", .align = Align::right},
               {.heading = "modelled", .align = Align::right}});
  const auto add = [&](const std::string& name, std::string_view state, base::Seconds wall,
                       const meter::Totals& totals) {
    table.add({name, std::string(state), spoken(wall), total_text(totals.measured),
               total_text(totals.modelled)});
  };
  for (const auto& start : training->starts)
    add(start.id, word_for(start.standing), start.wall, start.totals);
  add("together", "", training->wall(), training->totals());
  std::string text = table.text(look);
  if (training->missing)
    text +=
        indented(fmt::format("without the record {} and those before it, which are not in this "
                             "folder",
                             *training->missing));
  return text;
}

std::vector<std::string> checkpoint_of(const store::Reader& record) {
  const auto folder = record.setting("run_folder");
  if (!folder) return {};
  std::error_code unreadable;
  std::optional<fs::path> newest;
  for (const auto& entry : fs::directory_iterator(*folder, unreadable))
    if (const auto number = number_of(entry.path());
        number && (!newest || *number > *number_of(*newest)))
      newest = entry.path();
  if (!newest) return {};
  return {newest->string(),
          "examples/read_checkpoint.py reads it, for PyTorch too (docs/checkpoint.md)"};
}

}  // namespace parajoule::cli
