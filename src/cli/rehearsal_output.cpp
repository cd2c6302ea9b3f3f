#include "cli/rehearsal_output.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "store/record.h"

namespace parajoule::cli {
namespace {

using rehearse::Outcome;

std::string seconds(base::Seconds time) { return fmt::format("{:.4g} s", time.count()); }

std::string amount(double value, std::string_view unit) {
  static constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  for (; std::abs(value) >= 1000 && prefix + 1 < std::size(prefixes); ++prefix) value /= 1000;
  return fmt::format("{:.4g} {}{}", value, prefixes[prefix], unit);
}

double device_hours(const RehearsalPlan& plan, const Outcome& outcome) {
  return plan.rehearsal.ranks * base::hours(outcome.span);
}

class Lines {
 public:
  void add(std::string_view what, const std::string& number, std::string_view remark) {
    text += fmt::format("{:<28}{:>12}   {}\n", what, number, remark);
  }
  std::string text;
};

store::Source source_of(int number, const std::string& device, const std::string& kind,
                        const std::string& covers, const std::string& formula) {
  return {.source = number,
          .node = 0,
          .device = device,
          .device_kind = kind,
          .quantity = store::Quantity::energy,
          .unit = "joules",
          .label = store::Label::simulated,
          .covers = covers,
          .formula = formula};
}

void add_energy(store::Record& record, const RehearsalPlan& plan, const Outcome& outcome) {
  const rehearse::Machine& machine = plan.rehearsal.machine;
  record.add(store::Node{.node = 0,
                         .boot_id = "none: simulated",
                         .host = machine.name,
                         .cpus = machine.cores,
                         .memory_bytes = 0});
  record.add(source_of(
      0, "devices", machine.device_kind,
      fmt::format("all {} devices together, simulated", plan.rehearsal.ranks),
      fmt::format("{} W x time + {} W x computing + {} W x transferring", machine.device.idle.value,
                  (machine.device.compute - machine.device.idle).value,
                  (machine.device.communicate - machine.device.idle).value)));
  record.add(source_of(1, "hosts", "platform", "all nodes beside their devices, simulated",
                       fmt::format("{} W x nodes x time", machine.host.value)));
  const store::Reading readings[] = {
      {.source = 0, .seconds = base::Seconds(0), .value = 0},
      {.source = 1, .seconds = base::Seconds(0), .value = 0},
      {.source = 0, .seconds = outcome.span, .value = outcome.devices.value},
      {.source = 1, .seconds = outcome.span, .value = outcome.hosts.value}};
  record.add(std::span<const store::Reading>(readings));
}

void add_steps(store::Record& record, const RehearsalPlan& plan, const Outcome& outcome) {
  for (std::size_t rank = 0; rank < outcome.steps.size(); ++rank) {
    std::int64_t number = 0;
    for (const rehearse::Step& step : outcome.steps[rank])
      record.add(store::Step{.rank = int(rank),
                             .step = number++,
                             .seconds = step.end,
                             .samples = plan.rehearsal.plan.local_batch_size,
                             .loss = std::numeric_limits<double>::quiet_NaN(),
                             .sent_bytes = std::int64_t(step.sent_bytes),
                             .waited = step.waited});
  }
}

}  // namespace

std::string trust_in(int ranks) {
  return fmt::format(
      "simulated: rehearsals were checked against measurements up to {} ranks; this "
      "one has {}",
      checked_ranks, ranks);
}

std::string rehearsal_text(const RehearsalPlan& plan, const Outcome& outcome) {
  const rehearse::Rehearsal& r = plan.rehearsal;
  const auto steps = double(r.plan.steps);
  const double samples = outcome.samples_per_step / outcome.per_step.count();
  Lines lines;
  lines.text = fmt::format("{} with {} on {} ranks of {}, {} a node, {} steps\n\n", plan.model,
                           r.strategy, r.ranks, r.machine.name, r.ranks_per_node, r.plan.steps);
  lines.add("time per step", seconds(outcome.per_step), "simulated");
  lines.add("  of it one pass", seconds(outcome.pass),
            fmt::format("simulated: forward and backward of {} samples", r.plan.local_batch_size));
  lines.add("exposed communication", seconds(outcome.exposed), "simulated: a step, mean of ranks");
  lines.add("samples per second", amount(samples, ""),
            fmt::format("simulated: of {} ranks that train", outcome.ranks_that_train));
  lines.add("traffic", amount(outcome.bytes_per_step, "B"), "simulated: sent by a rank in a step");
  lines.add("messages", fmt::format("{:.4g}", outcome.messages_per_step),
            "simulated: sent by a rank in a step");
  lines.add("energy per device", amount(outcome.devices.value / r.ranks, "J"),
            fmt::format("simulated: of {} steps", r.plan.steps));
  lines.add("energy per device and step", amount(outcome.devices.value / r.ranks / steps, "J"),
            "simulated");
  lines.add("energy per device hour",
            amount(outcome.devices.value / 3600 / device_hours(plan, outcome), "Wh"), "simulated");
  lines.add("energy of the hosts", amount(outcome.hosts.value, "J"),
            "simulated: all nodes beside their devices");
  lines.text += "\n" + trust_in(r.ranks) + "\n";
  return lines.text;
}

std::filesystem::path write_rehearsal(const RehearsalPlan& plan, const Outcome& outcome,
                                      const std::string& folder, const std::string& command) {
  store::Record record({.folder = folder,
                        .name = plan.name,
                        .kind = store::Kind::rehearsal,
                        .version = PARAJOULE_VERSION,
                        .command = command});
  const rehearse::Rehearsal& r = plan.rehearsal;
  for (const store::Setting& row : plan.settings) record.add(row);
  const auto say = [&](std::string key, std::string value) {
    record.add(
        store::Setting{.key = std::move(key), .value = std::move(value), .origin = "rehearsal"});
  };
  say("model", plan.model);
  say("machine", r.machine.name);
  say("machine.source", r.machine.source);
  say("rehearsal.ranks", fmt::format("{}", r.ranks));
  say("rehearsal.ranks_per_node", fmt::format("{}", r.ranks_per_node));
  say("rehearsal.steps", fmt::format("{}", r.plan.steps));
  say("rehearsal.checked_ranks", fmt::format("{}", checked_ranks));
  say("rehearsal.seconds_per_step", fmt::format("{}", outcome.per_step.count()));
  say("rehearsal.exposed_seconds_per_step", fmt::format("{}", outcome.exposed.count()));
  say("rehearsal.bytes_per_step", fmt::format("{}", outcome.bytes_per_step));
  add_energy(record, plan, outcome);
  add_steps(record, plan, outcome);
  record.add(store::Note{
      .seconds = base::Seconds(0), .severity = store::Severity::note, .text = trust_in(r.ranks)});
  if (r.ranks > Outcome::most_recorded)
    record.add(store::Note{
        .seconds = base::Seconds(0),
        .severity = store::Severity::note,
        .text = fmt::format("steps are kept of the first {} ranks", Outcome::most_recorded)});
  record.finish(store::State::done);
  return record.path();
}

}  // namespace parajoule::cli
