#include "measure/merge.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "measure/merged_node.h"
#include "measure/rows.h"
#include "measure/settings.h"
#include "measure/spans.h"
#include "store/database.h"
#include "store/file_name.h"
#include "store/insert.h"
#include "store/schema.h"

namespace parajoule::measure {
namespace {

using std::filesystem::path;

/// Everything that is to be one record.
struct Whole {
  store::Run run;
  std::vector<store::Setting> settings = {};
  std::vector<MergedNode> nodes = {};
  std::vector<store::Phase> phases = {};
  std::vector<store::Note> notes = {};
};

std::vector<Part> opened(std::span<const path> files) {
  std::vector<Part> parts;
  for (const path& file : files) parts.emplace_back(file);
  std::ranges::stable_sort(parts, {}, [](const Part& part) { return part.run.started_utc; });
  return parts;
}

/// A setting that says something of a part as such, or of a node, which gets another number.
bool of_part(const store::Setting& setting) {
  return setting.key == "process" || setting.key == "clock" || setting.key == "tasks" ||
         setting.key == "status" || setting.key == "nodes" || setting.key.starts_with("command.") ||
         setting.key.starts_with("idle.") || setting.key.starts_with("process.") ||
         setting.key.starts_with("told.") || setting.key.starts_with("update_period.");
}

void set(std::vector<store::Setting>& settings, std::string key, std::string value) {
  settings.push_back({std::move(key), std::move(value), "merged"});
}

void add_settings(const Part& part, Whole& whole) {
  for (const store::Setting& setting : part.settings)
    if (!of_part(setting) && !find(whole.settings, setting.key)) whole.settings.push_back(setting);
}

/// Processes keep their regions apart: their numbers go on from part to part.
void add_rows(Part& part, Whole& whole) {
  int next = 0;
  for (const store::Phase& phase : whole.phases) next = std::max(next, phase.rank + 1);
  for (store::Phase& phase : part.phases) {
    phase.rank += next;
    phase.begin += part.shift;
    phase.end += part.shift;
    const std::string key = fmt::format("process.{}.node", phase.rank);
    if (!find(whole.settings, key)) set(whole.settings, key, std::to_string(part.place));
    whole.phases.push_back(std::move(phase));
  }
  for (store::Note& note : part.notes) {
    note.seconds += part.shift;
    whole.notes.push_back(std::move(note));
  }
}

void add_totals(const std::vector<Part>& parts, Whole& whole) {
  int tasks = 0;
  int status = 0;
  int nodes = int(whole.nodes.size());
  bool ended = true;
  for (const Part& part : parts) {
    tasks += number_in<int>(part.settings, "tasks").value_or(1);
    nodes = std::max(nodes, number_in<int>(part.settings, "nodes").value_or(1));
    const auto own = number_in<int>(part.settings, "status");
    ended = ended && own;
    status = std::max(status, own.value_or(0));
  }
  set(whole.settings, "tasks", std::to_string(tasks));
  set(whole.settings, "nodes", std::to_string(nodes));
  if (ended) set(whole.settings, "status", std::to_string(status));
  for (std::size_t i = 0; i < whole.nodes.size(); ++i)
    for (store::Setting& setting : whole.nodes[i].settings(int(i)))
      whole.settings.push_back(std::move(setting));
}

Whole joined(std::vector<Part> parts) {
  Whole whole{.run = parts.front().run};
  for (Part& part : parts) {
    part.join(parts.front());
    part.place = add_node(part, whole.nodes);
    if (part.run.id != parts.front().run.id) whole.run.id.clear();
    if (part.run.state != store::State::done) whole.run.state = store::State::failed;
    add_settings(part, whole);
    add_rows(part, whole);
  }
  if (whole.run.id.empty()) whole.run.id = store::random_id();
  whole.run.kind = store::Kind::measure;
  add_totals(parts, whole);
  return whole;
}

template <class Row>
void insert(const store::Database& database, const std::vector<Row>& rows) {
  store::insert<Row>(database, std::span<const Row>(rows));
}

void insert_nodes(const store::Database& database, const std::vector<MergedNode>& nodes) {
  int source = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    store::Node node = nodes[i].node;
    node.node = int(i);
    insert(database, std::vector{node});
    for (const meter::Series& series : nodes[i].series) {
      insert(database, std::vector{row_of(series.description, source, int(i))});
      std::vector<store::Reading> readings;
      for (meter::Row row : series.rows) {
        row.source = 0;
        readings.push_back(row_of(row, source));
      }
      insert(database, readings);
      ++source;
    }
  }
}

void write(const Whole& whole, const path& file, const path& called) {
  const store::Database database(file,
                                 {.access = store::Database::Access::create, .called = called});
  database.run(fmt::format("BEGIN; {}", store::schema));
  insert(database, std::vector{whole.run});
  insert(database, whole.settings);
  insert_nodes(database, whole.nodes);
  insert(database, whole.phases);
  insert(database, whole.notes);
  database.run("COMMIT");
}

/// Gives a finished file its name, if no other has it.
bool name_it(const path& file, const path& name) {
  if (link(file.c_str(), name.c_str()) == 0) {
    unlink(file.c_str());
    return true;
  }
  const int code = errno;
  std::error_code failed;
  const bool taken = std::filesystem::exists(name, failed);
  if (!taken) std::filesystem::rename(file, name, failed);
  if (!taken && !failed) return true;
  unlink(file.c_str());
  if (taken) return false;
  throw base::Error(base::Fault::environment, fmt::format("cannot make the record '{}': {}",
                                                          name.string(), std::strerror(code)));
}

}  // namespace

std::optional<path> merge(std::span<const path> files, const path& folder) {
  if (files.size() < 2)
    throw base::Error(base::Fault::usage, "runs merge needs the records of two nodes or more");
  const Whole whole = joined(opened(files));
  const path name = store::folder_of_records(folder) /
                    store::file_name(whole.run.started_utc, whole.run.name, whole.run.id);
  path draft = name;
  draft += fmt::format(".{}.{}", store::random_id(), getpid());
  try {
    write(whole, draft, name);
  } catch (...) {
    unlink(draft.c_str());
    throw;
  }
  if (!name_it(draft, name)) return {};
  return name;
}

std::vector<path> parts_in(const path& folder, const std::string& id) {
  std::vector<path> parts;
  std::error_code failed;
  for (auto entry = std::filesystem::directory_iterator(folder, failed);
       !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    const std::string name = entry->path().filename();
    if (name.starts_with(id + ".") && name.ends_with(".db")) parts.push_back(entry->path());
  }
  std::ranges::sort(parts);
  return parts;
}

int tasks_in(std::span<const path> parts) {
  int tasks = 0;
  for (const path& file : parts) {
    const store::Reader record(file);
    if (record.run().state != store::State::running)
      tasks += number_in<int>(record.rows<store::Setting>(), "tasks").value_or(0);
  }
  return tasks;
}

}  // namespace parajoule::measure
