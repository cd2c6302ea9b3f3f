#include "measure/node_meter.h"

#include <algorithm>
#include <future>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "measure/job.h"
#include "measure/join.h"
#include "measure/rows.h"
#include "measure/slurm_energy.h"
#include "store/file_name.h"

namespace parajoule::measure {
namespace {

/// Rows wait so long for the record, and in it for the disk: a meter that is killed loses less than
/// a second, and wakes no processor more often than that takes.
constexpr base::Seconds waits{0.45};

constexpr int own_node = 0;  // a record of several nodes is merged of those of each

}  // namespace

NodeMeter::NodeMeter(Options options) : wall_(std::move(options.wall)) {
  // A counter that stands still is waited for, and a disk too: both at once.
  auto opening =
      std::async(std::launch::async, [&options] { return meter::open_sources(options.sources); });
  open_record(options.record);
  record_->add(this_node(own_node));
  for (store::Setting& setting : options.settings) add(std::move(setting));
  for (store::Setting& setting : slurm_settings(environment)) add(std::move(setting));
  add({"clock", fmt::format("{}", base::Seconds(start().time_since_epoch()).count()), "record"});
  meter::Opened opened = opening.get();
  tell(opened);
  sampler_ = std::make_unique<meter::Sampler>(
      std::move(opened.sources),
      meter::Sampler::Options{.hertz = options.hertz,
                              .deliver_every = waits,
                              .sink =
                                  [this](std::span<const meter::Row> rows) {
                                    std::vector<store::Reading> readings;
                                    for (const meter::Row& row : rows)
                                      readings.push_back(row_of(row, 0));
                                    record_->add(std::span<const store::Reading>(readings));
                                  },
                              .start = start()});
}

NodeMeter::~NodeMeter() = default;

void NodeMeter::open_record(store::Record::Options options) {
  options.write_every = waits;
  try {
    record_ = std::make_unique<store::Record>(options);
    return;
  } catch (const base::Error& error) {
    if (error.fault == base::Fault::bug) throw;
    in_spare_folders(error.what(), [&](const std::filesystem::path& folder) {
      options.folder = folder;
      record_ = std::make_unique<store::Record>(options);
    });
  }
}

/// Tries one folder for temporary files after another, the last of them in memory, and tells where
/// the record is then. Throws Error{environment} that says what keeps each of them from it.
template <class Attempt>
void NodeMeter::in_spare_folders(std::string why, Attempt&& attempt) {
  if (const std::string unusable = store::unusable_tmpdir(); !unusable.empty())
    why += "; " + unusable;
  for (const std::filesystem::path& folder : store::temporary_folders()) {
    try {
      attempt(folder);
      troubles_.push_back(fmt::format("{}; it is kept as {}", why, record_->path().string()));
      return;
    } catch (const base::Error& error) {
      if (error.fault == base::Fault::bug) throw;
      why += fmt::format("; {}", error.what());
    }
  }
  throw base::Error(base::Fault::environment, why);
}

void NodeMeter::tell(const meter::Opened& opened) {
  MeterRows rows = rows_of(opened, 0, own_node);
  sources_ = int(rows.sources.size());
  for (store::Source& source : rows.sources) attempt([&] { record_->add(std::move(source)); });
  for (std::string& line : rows.notes) note(store::Severity::note, std::move(line));
  for (store::Setting& setting : rows.settings) add(std::move(setting));
}

/// What keeps the disk from taking rows is told and changes nothing else.
template <class Call>
void NodeMeter::attempt(Call&& call) {
  try {
    call();
  } catch (const base::Error& error) {
    if (error.fault == base::Fault::bug) throw;
    if (std::ranges::find(troubles_, error.what()) == troubles_.end())
      troubles_.emplace_back(error.what());
  }
}

void NodeMeter::begin(std::string_view name, base::Seconds at) {
  for (store::Setting& setting : settings_of(name, own_node, at, {})) add(std::move(setting));
}

void NodeMeter::add(std::string_view name, meter::Span span) {
  for (store::Setting& setting : settings_of(name, own_node, span.begin, span.end))
    add(std::move(setting));
}

void NodeMeter::add(store::Setting setting) {
  attempt([&] { record_->add(std::move(setting)); });
}

void NodeMeter::add(std::span<const store::Phase> phases) {
  attempt([&] { record_->add(phases); });
}

void NodeMeter::note(store::Severity severity, std::string text) {
  attempt([&] {
    record_->add(store::Note{.seconds = now(), .severity = severity, .text = std::move(text)});
  });
}

void NodeMeter::stop() {
  attempt([&] { sampler_->stop(); });
  note(store::Severity::note, cost_text(sampler_->cost(), ""));
  const auto job = environment("SLURM_JOB_ID");
  const auto step = environment("SLURM_STEP_ID");
  if (!job || !step) return;
  if (const auto energy = slurm_energy(*job, *step))
    add({"slurm.consumed_energy_joules", fmt::format("{}", energy->value), "sacct"});
}

/// What is wrong with a file of somebody else's is told and changes nothing else.
void NodeMeter::join(const std::filesystem::path& file) {
  const auto tell = [&](const std::string& text) {
    note(store::Severity::warning, text);
    troubles_.push_back(text);
  };
  try {
    const Joined rows =
        joined(file, record_->started_utc(), {base::Seconds(0), now()}, sources_, own_node);
    for (const store::Source& source : rows.sources) attempt([&] { record_->add(source); });
    attempt([&] { record_->add(std::span<const store::Reading>(rows.readings)); });
    sources_ += int(rows.sources.size());
    for (const std::string& remark : rows.remarks) tell(remark);
  } catch (const base::Error& error) {
    tell(fmt::format("{}; `parajoule runs join` takes it in later", error.what()));
  }
}

void NodeMeter::finish(store::State state, std::string_view why) {
  for (const std::filesystem::path& file : wall_) join(file);
  try {
    record_->finish(state, why);
  } catch (const base::Error& error) {
    if (error.fault == base::Fault::bug) throw;
    std::erase(troubles_, error.what());
    attempt([&] {
      in_spare_folders(error.what(),
                       [&](const std::filesystem::path& folder) { record_->rescue(folder); });
    });
  }
}

void NodeMeter::discard() {
  sampler_.reset();
  attempt([&] { record_->finish(store::State::failed, "the command was not started"); });
  std::error_code nothing;
  std::filesystem::remove(record_->path(), nothing);
}

}  // namespace parajoule::measure
