#include "train/recorder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "measure/join.h"
#include "measure/rows.h"
#include "meter/account.h"
#include "store/file_name.h"
#include "train/earlier_record.h"

namespace parajoule::train {
namespace {

bool tells_of_a_bad_sample(const store::Note& note) {
  return note.text.starts_with(store::skipped_sample) ||
         note.text.starts_with(store::replaced_sample);
}

template <class T>
void add(std::optional<T>& sum, const std::optional<T>& more) {
  if (more) sum = sum.value_or(T{}) + *more;
}

}  // namespace

LiveEnergy& LiveEnergy::operator+=(const LiveEnergy& other) {
  add(measured_energy, other.measured_energy);
  add(modelled_energy, other.modelled_energy);
  add(measured_power, other.measured_power);
  add(modelled_power, other.modelled_power);
  return *this;
}

Recorder::Recorder(const Experiment& experiment, comm::Communicator& group, Reporter& reporter,
                   const Hardware& hardware)
    : group_(group),
      reporter_(reporter),
      place_(find_place(group, hardware.machine)),
      origin_(begin(experiment)),
      stream_(group, [this](Rows rows) { write_rows(std::move(rows)); }),
      merged_(group.rank(), origin_),
      bad_samples_([this](std::string_view line) { reporter_.note(line); }) {
  start_meter(experiment, hardware);
}

Recorder::~Recorder() = default;

base::Seconds Recorder::begin(const Experiment& experiment) {
  if (group_.rank() == 0) open_record(experiment);
  return agree_on_origin();
}

void Recorder::open_record(const Experiment& experiment) {
  record_.emplace(store::Record::Options{.folder = experiment.records,
                                         .name = experiment.name,
                                         .kind = store::Kind::run,
                                         .version = PARAJOULE_VERSION,
                                         .command = experiment.command});
  path_ = record_->path();
  for (const std::string& remark : record_->remarks()) reporter_.note(remark);
  for (const Setting& setting : experiment.settings)
    record_->add(store::Setting{setting.key, setting.value, setting.origin});
  if (!experiment.folder.empty()) place_in_training(experiment.folder);
}

void Recorder::place_in_training(const std::filesystem::path& run_folder) {
  std::error_code unknown;
  const std::filesystem::path folder = std::filesystem::absolute(run_folder, unknown);
  found("run_folder", unknown ? run_folder.string() : folder.string());
  try {
    if (const auto before = follow_earlier_record(run_folder, record_->id()))
      found("continues", *before);
  } catch (const base::Error& error) {
    record_->add(store::Note{record_->now(), 0, store::Severity::warning, error.what()});
  }
}

base::Seconds Recorder::agree_on_origin() {
  // Ranks of rank 0's machine share its monotonic clock; on others the moment all leave a barrier
  // is the same, as far as a barrier is.
  double start = 0;
  if (record_) start = std::chrono::duration<double>(record_->start().time_since_epoch()).count();
  group_.broadcast(base::Vector(std::span(&start, 1)), 0);
  group_.barrier();
  const double left = monotonic_now().count();
  double left_by_first = left;
  group_.broadcast(base::Vector(std::span(&left_by_first, 1)), 0);
  return base::Seconds(place_.first_machine ? start : start + left - left_by_first);
}

void Recorder::start_meter(const Experiment& experiment, const Hardware& hardware) {
  meter::Opened opened;
  if (place_.owner) {
    meter::Options options = hardware.meters;
    options.cores = place_.cores;
    options.visible_devices = place_.visible_devices;
    opened = meter::open_sources(options);
  }
  if (place_.owner) wall_ = hardware.wall;
  first_source_ = number_sources(opened.sources.size());
  for (const auto& source : opened.sources) descriptions_.push_back(source->description());
  if (place_.owner) tell_hardware(hardware.machine, opened);
  // Nobody's readings may come before the rows that say what they are of.
  stream_.drain();
  group_.barrier();
  if (place_.owner) start_sampler(std::move(opened.sources), experiment.sampling_hertz);
}

/// Sources are numbered over all nodes, in the order of their owners.
int Recorder::number_sources(std::size_t own) {
  std::vector<double> counts(std::size_t(group_.size()));
  counts[group_.rank()] = double(own);
  group_.sum(base::Vector(std::span(counts)));
  int first = numbered_;
  for (int rank = 0; rank < group_.rank(); ++rank) first += int(counts[rank]);
  for (const double count : counts) numbered_ += int(count);
  return first;
}

void Recorder::tell_hardware(const Machine& machine, const meter::Opened& opened) {
  Rows& rows = stream_.waiting();
  rows.nodes.push_back(
      {place_.node, machine.boot_id, machine.host, machine.cpus, machine.memory_bytes});
  measure::MeterRows meters = measure::rows_of(opened, first_source_, place_.node);
  rows.sources = std::move(meters.sources);
  rows.settings = std::move(meters.settings);
  for (std::string& line : meters.notes) add_note(store::Severity::note, std::move(line));
}

/// Collective. What is wrong with a file of somebody else's is told and costs no run.
void Recorder::join_wall_meters() {
  measure::Joined found;
  const auto ran = std::chrono::duration_cast<std::chrono::system_clock::duration>(now());
  const std::string started = store::written_utc(std::chrono::system_clock::now() - ran);
  for (const std::filesystem::path& file : wall_) {
    try {
      const int next = int(found.sources.size());
      measure::append(found,
                      measure::joined(file, started, {base::Seconds(0), now()}, next, place_.node));
    } catch (const base::Error& error) {
      found.remarks.push_back(
          fmt::format("{}; `parajoule runs join` takes it in later", error.what()));
    }
  }
  const int first = number_sources(found.sources.size());
  for (store::Source& source : found.sources) source.source += first;
  for (store::Reading& reading : found.readings) reading.source += first;
  Rows& rows = stream_.waiting();
  std::ranges::move(found.sources, std::back_inserter(rows.sources));
  std::ranges::move(found.readings, std::back_inserter(rows.readings));
  for (const std::string& remark : found.remarks) note(store::Severity::warning, remark);
}

void Recorder::start_sampler(std::vector<std::unique_ptr<meter::Source>> sources, double hertz) {
  const auto since_boot = std::chrono::duration_cast<std::chrono::steady_clock::duration>(origin_);
  sampler_ = std::make_unique<meter::Sampler>(
      std::move(sources),
      meter::Sampler::Options{.hertz = hertz,
                              .sink = [this](auto rows) { take_readings(rows); },
                              .start = std::chrono::steady_clock::time_point(since_boot)});
}

void Recorder::take_readings(std::span<const meter::Row> sampled) {
  std::vector<store::Reading> rows;
  for (const meter::Row& row : sampled) rows.push_back(measure::row_of(row, first_source_));
  // The record takes rows from any thread; those of other machines travel with the next step.
  if (record_) return record_->add(std::span<const store::Reading>(rows));
  const std::lock_guard lock(mutex_);
  readings_.insert(readings_.end(), rows.begin(), rows.end());
}

void Recorder::gather_readings() {
  Rows& waiting = stream_.waiting();
  const std::lock_guard lock(mutex_);
  if (readings_.empty()) return;
  waiting.readings.insert(waiting.readings.end(), readings_.begin(), readings_.end());
  readings_.clear();
  waiting.drawings = {{place_.node, own_energy()}};  // only the last one is of use
}

void Recorder::found(std::string_view key, std::string_view value) {
  if (record_) record_->add(store::Setting{std::string(key), std::string(value), "found"});
}

void Recorder::step(store::Step row, const std::vector<Phases::Interval>& phases) {
  stream_.waiting().steps.push_back(row);
  this->phases(phases);
}

void Recorder::phases(const std::vector<Phases::Interval>& phases) {
  merged_.add(phases, stream_.waiting().phases);
  move();
}

void Recorder::move() {
  gather_readings();
  stream_.move(now());
}

void Recorder::evaluated(const std::vector<store::Epoch>& rows) {
  if (!record_) return;
  for (const store::Epoch& row : rows) record_->add(row);
}

void Recorder::damage(const data::Loader::Batch& batch) {
  for (const data::Loader::Bad& bad : batch.bad)
    add_note(store::Severity::warning,
             bad.replaced_by
                 ? fmt::format("{}{}: {}", store::replaced_sample, *bad.replaced_by, bad.why)
                 : fmt::format("{}{}", store::skipped_sample, bad.why));
  if (batch.warnings > 0)
    add_note(store::Severity::warning,
             fmt::format("{}{} times, by the decoders of pictures, in a batch of {} samples",
                         store::mended_damage, batch.warnings, batch.count));
}

void Recorder::note(store::Severity severity, std::string_view text) {
  if (group_.rank() == 0) reporter_.note(text);
  add_note(severity, std::string(text));
}

void Recorder::add_note(store::Severity severity, std::string text) {
  stream_.waiting().notes.push_back({now(), group_.rank(), severity, std::move(text)});
}

void Recorder::write_rows(Rows rows) {
  for (const store::Note& note : rows.notes)
    if (tells_of_a_bad_sample(note)) bad_samples_.add(note.text, now());
  for (const Drawing& drawing : rows.drawings) elsewhere_[drawing.node] = drawing.energy;
  for (auto& row : rows.nodes) record_->add(std::move(row));
  for (auto& row : rows.sources) record_->add(std::move(row));
  for (auto& row : rows.settings) record_->add(std::move(row));
  record_->add(std::span<const store::Reading>(rows.readings));
  record_->add(std::span<const store::Phase>(rows.phases));
  for (const auto& row : rows.steps) record_->add(row);
  for (auto& row : rows.notes) record_->add(std::move(row));
}

void Recorder::write() {
  merged_.flush(stream_.waiting().phases);
  gather_readings();
  stream_.drain();
  if (record_) record_->write();
}

void Recorder::finish(store::State state, std::string_view why) {
  if (sampler_) {
    sampler_->stop();
    say_cost();
  }
  join_wall_meters();
  write();
  bad_samples_.finish();
  if (record_) record_->finish(state, why);
}

void Recorder::fail(std::string_view why) noexcept {
  try {
    if (sampler_) sampler_->stop();
    if (!record_) return;
    merged_.flush(stream_.waiting().phases);
    write_rows(std::exchange(stream_.waiting(), {}));
    bad_samples_.finish();
    record_->finish(store::State::failed, why);
  } catch (const std::exception& error) {
    // What went wrong first is on its way to the user; the record has what it has.
    reporter_.note(error.what());
  }
}

void Recorder::say_cost() {
  const meter::SamplingCost cost = sampler_->cost();
  const std::string node = place_.nodes > 1 ? fmt::format(" of node {}", place_.node) : "";
  add_note(store::Severity::note, measure::cost_text(cost, node));
}

LiveEnergy Recorder::energy() const {
  LiveEnergy sum = own_energy();
  for (const auto& [node, energy] : elsewhere_) sum += energy;
  return sum;
}

LiveEnergy Recorder::own_energy() const {
  LiveEnergy sum;
  if (!sampler_) return sum;
  const auto live = sampler_->snapshot();
  const meter::Span span{.begin = base::Seconds(0), .end = sampler_->now()};
  std::vector<meter::SourceAccount> accounts(live.size());
  for (std::size_t i = 0; i < live.size(); ++i) {
    accounts[i].description = descriptions_[i];
    accounts[i].energy = live[i].energy;
    if (live[i].energy) accounts[i].covered = span.length();
  }
  const meter::NodeAccount node = meter::total(std::move(accounts), span);
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (!node.sources[i].counts) continue;
    const bool measured = descriptions_[i].label == meter::Label::measured;
    add(measured ? sum.measured_energy : sum.modelled_energy, live[i].energy);
    add(measured ? sum.measured_power : sum.modelled_power, live[i].power);
  }
  return sum;
}

}  // namespace parajoule::train
