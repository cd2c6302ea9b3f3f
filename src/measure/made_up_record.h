#pragma once

// Records of one node for the tests: a package that draws a known power, memory that is modelled.

#include <string>
#include <vector>

#include "measure/spans.h"
#include "store/record.h"
#include "store/test_record.h"

namespace parajoule::measure {

struct MadeUpNode {
  std::string boot_id = "b00t";
  double clock = 1000;        ///< of the record's start, on the node's monotonic clock
  double watts = 100;         ///< of the package, from the record's start on
  double counter_start = 50;  ///< what its counter shows then
  double from = 0;            ///< readings, each half second, in seconds of the record
  double until = 20;
  double begin = 5;  ///< of the command
  double end = 15;
  double idle_watts = 0;  ///< before `begin`, if idleness was metered
  std::vector<store::Setting> settings = {};
  std::vector<store::Phase> phases = {};
};

/// The counter at a moment of the record.
inline double counter_of(const MadeUpNode& node, double at) {
  const double before = node.idle_watts > 0 ? std::min(at, node.begin) : 0;
  return node.counter_start + node.idle_watts * before + node.watts * (at - before);
}

inline std::filesystem::path made_record(const store::TemporaryFolder& folder,
                                         const MadeUpNode& node) {
  store::Record::Options options = store::options_in(folder);
  options.kind = store::Kind::measure;
  store::Record record(options);
  store::Example example;
  example.node.boot_id = node.boot_id;
  example.package.bias_relative = 0.05;
  example.memory.part_of.reset();
  record.add(example.node);
  record.add(example.package);
  record.add(example.memory);
  for (double at = node.from; at <= node.until; at += 0.5)
    record.add(std::vector<store::Reading>{
        {.source = 0, .seconds = base::Seconds(at), .value = counter_of(node, at)},
        {.source = 1, .seconds = base::Seconds(at), .value = 4}});
  for (const auto& setting :
       settings_of(command_span, 0, base::Seconds(node.begin), base::Seconds(node.end)))
    record.add(setting);
  if (node.idle_watts > 0)
    for (const auto& setting :
         settings_of(idle_span, 0, base::Seconds(node.from), base::Seconds(node.begin)))
      record.add(setting);
  record.add(store::Setting{"clock", std::to_string(node.clock), "record"});
  record.add(store::Setting{"status", "3", "found"});
  record.add(store::Setting{"command.0.cpu_seconds", "2.5", "found"});
  for (const store::Setting& setting : node.settings) record.add(setting);
  record.add(std::span<const store::Phase>(node.phases));
  record.finish(store::State::done);
  return record.path();
}

}  // namespace parajoule::measure
