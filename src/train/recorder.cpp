#include "train/recorder.h"

#include <utility>

#include <fmt/format.h>

#include "meter/account.h"
#include "meter/open.h"
#include "train/place.h"

namespace parajoule::train {
namespace {

store::Source row_of(const meter::Description& description, int source, int node) {
  return {.source = source,
          .node = node,
          .device = description.device,
          .device_kind = description.device_kind,
          .quantity = store::Quantity(int(description.quantity)),
          .unit = description.unit,
          .label = store::Label(int(description.label)),
          .covers = description.covers,
          .part_of = description.part_of,
          .resolution = description.resolution,
          .update_period = description.update_period,
          .window = description.window,
          .bias_relative = description.bias_relative,
          .formula = description.formula};
}

store::Reading row_of(const meter::Row& row, int first_source) {
  store::Reading reading{.source = first_source + int(row.source), .seconds = row.at};
  if (const auto* value = std::get_if<double>(&row.reading))
    reading.value = *value;
  else
    reading.gap = meter::written(std::get<meter::Gap>(row.reading));
  return reading;
}

/// The words of the record for a phase.
std::string_view recorded_name(Phase phase) { return store::phases[std::size_t(phase)]; }

}  // namespace

Recorder::Recorder(const Experiment& experiment, comm::Communicator& group, Reporter& reporter)
    : group_(group), reporter_(reporter) {
  if (group.rank() == 0) open_record(experiment);
  agree_on_origin();
  stream_.emplace(group, [this](Rows rows) { write_rows(std::move(rows)); });
  start_meter(experiment);
}

Recorder::~Recorder() = default;

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
}

void Recorder::agree_on_origin() {
  // Ranks of rank 0's machine share its monotonic clock; on others the moment all leave a barrier
  // is the same, as far as a barrier is.
  double start = 0;
  if (record_) start = std::chrono::duration<double>(record_->start().time_since_epoch()).count();
  group_.broadcast(base::Vector(std::span(&start, 1)), 0);
  group_.barrier();
  const double left = monotonic_now().count();
  double left_by_first = left;
  group_.broadcast(base::Vector(std::span(&left_by_first, 1)), 0);
  const Place place = find_place(group_, this_machine(), meter::own_cores());
  origin_ = base::Seconds(place.first_machine ? start : start + left - left_by_first);
}

void Recorder::start_meter(const Experiment& experiment) {
  const Machine machine = this_machine();
  const Place place = find_place(group_, machine, meter::own_cores());
  meter::Opened opened;
  if (place.owner) {
    meter::Options options;
    options.cores = place.cores;
    opened = meter::open_sources(options);
  }
  std::vector<double> counts(std::size_t(group_.size()));
  counts[group_.rank()] = double(opened.sources.size());
  group_.sum(base::Vector(std::span(counts)));
  for (int r = 0; r < group_.rank(); ++r) first_source_ += int(counts[r]);

  Rows& rows = stream_->waiting();
  if (place.owner)
    rows.nodes.push_back(
        {place.node, machine.boot_id, machine.host, machine.cpus, machine.memory_bytes});
  for (const auto& source : opened.sources) {
    const int number = first_source_ + int(descriptions_.size());
    descriptions_.push_back(source->description());
    rows.sources.push_back(row_of(descriptions_.back(), number, place.node));
  }
  for (const meter::Unavailable& missing : opened.unavailable)
    rows.notes.push_back(
        {now(), group_.rank(), store::Severity::note,
         fmt::format("not metered: {}: {}; {}", missing.what, missing.reason, missing.remedy)});
  // Nobody's readings may come before the rows that say what they are of.
  stream_->drain();
  group_.barrier();
  if (!place.owner) return;
  const auto since_boot = std::chrono::duration_cast<std::chrono::steady_clock::duration>(origin_);
  sampler_ = std::make_unique<meter::Sampler>(
      std::move(opened.sources),
      meter::Sampler::Options{.hertz = experiment.sampling_hertz,
                              .sink = [this](auto rows) { take_readings(rows); },
                              .start = std::chrono::steady_clock::time_point(since_boot)});
}

void Recorder::take_readings(std::span<const meter::Row> sampled) {
  std::vector<store::Reading> rows;
  for (const meter::Row& row : sampled) rows.push_back(row_of(row, first_source_));
  // The record takes rows from any thread; those of other machines travel with the next step.
  if (record_) return record_->add(std::span<const store::Reading>(rows));
  const std::lock_guard lock(mutex_);
  readings_.insert(readings_.end(), rows.begin(), rows.end());
}

void Recorder::send_readings() {
  const std::lock_guard lock(mutex_);
  auto& waiting = stream_->waiting().readings;
  waiting.insert(waiting.end(), readings_.begin(), readings_.end());
  readings_.clear();
}

void Recorder::step(store::Step row, const std::vector<Phases::Interval>& phases) {
  stream_->waiting().steps.push_back(row);
  this->phases(phases);
}

void Recorder::phases(const std::vector<Phases::Interval>& phases) {
  Rows& rows = stream_->waiting();
  for (const Phases::Interval& interval : phases)
    rows.phases.push_back({group_.rank(), std::string(recorded_name(interval.phase)),
                           interval.begin - origin_, interval.end - origin_});
  send_readings();
  stream_->move(now());
}

void Recorder::metrics(std::int64_t epoch, std::string_view set,
                       const std::vector<nn::Metric>& metrics,
                       const std::vector<nn::Score>& scores) {
  if (!record_) return;
  for (std::size_t i = 0; i < metrics.size(); ++i)
    record_->add(store::Epoch{epoch, now(), std::string(set), metrics[i].name, scores[i].numerator,
                              scores[i].denominator});
}

void Recorder::note(store::Severity severity, std::string_view text) {
  if (group_.rank() == 0) reporter_.note(text);
  stream_->waiting().notes.push_back({now(), group_.rank(), severity, std::string(text)});
}

void Recorder::write_rows(Rows rows) {
  for (auto& row : rows.nodes) record_->add(std::move(row));
  for (auto& row : rows.sources) record_->add(std::move(row));
  record_->add(std::span<const store::Reading>(rows.readings));
  record_->add(std::span<const store::Phase>(rows.phases));
  for (const auto& row : rows.steps) record_->add(row);
  for (auto& row : rows.notes) record_->add(std::move(row));
}

void Recorder::write() {
  send_readings();
  stream_->drain();
  if (record_) record_->write();
}

void Recorder::finish(store::State state, std::string_view why) {
  if (sampler_) {
    sampler_->stop();
    say_cost();
  }
  write();
  if (record_) record_->finish(state, why);
}

void Recorder::fail(std::string_view why) noexcept {
  try {
    if (sampler_) sampler_->stop();
    if (!record_) return;
    write_rows(std::exchange(stream_->waiting(), {}));
    record_->finish(store::State::failed, why);
  } catch (const std::exception& error) {
    // What went wrong first is on its way to the user; the record has what it has.
    reporter_.note(error.what());
  }
}

void Recorder::say_cost() {
  const meter::SamplingCost cost = sampler_->cost();
  stream_->waiting().notes.push_back(
      {now(), group_.rank(), store::Severity::note,
       fmt::format("metering took {:.3f} s of one core, {:.3f} % of it: {} rounds over the "
                   "sources, {} left out",
                   cost.cpu.count(), 100 * cost.cpu / cost.wall, cost.rounds, cost.left_out)});
}

LiveEnergy Recorder::energy() const {
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
    auto& energy = measured ? sum.measured_energy : sum.modelled_energy;
    auto& power = measured ? sum.measured_power : sum.modelled_power;
    if (live[i].energy) energy = energy.value_or(base::Joules{}) + *live[i].energy;
    if (live[i].power) power = power.value_or(base::Watts{}) + *live[i].power;
  }
  return sum;
}

}  // namespace parajoule::train
