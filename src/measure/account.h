#pragma once

// What a record of `parajoule measure` says: the energies of a command on each of its nodes.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "measure/region_account.h"
#include "meter/account.h"
#include "meter/figures.h"
#include "store/reader.h"

namespace parajoule::measure {

struct NodeEnergy {
  store::Node node;
  meter::NodeAccount command;                    ///< while the command ran
  std::optional<meter::Span> idle = {};          ///< measured before it
  std::optional<meter::NodeAccount> above = {};  ///< what the command took beyond that
  std::optional<base::Seconds> cpu = {};         ///< of all processes of the command on this node
};

struct Account {
  store::Run run;
  store::Standing standing;
  std::vector<NodeEnergy> nodes;
  int expected_nodes = 1;                   ///< of the job
  base::Seconds wall{0};                    ///< the longest of the nodes' spans
  std::optional<base::Seconds> cpu = {};    ///< of all nodes
  std::optional<int> status = {};           ///< of the command; none if the meter was killed
  meter::Totals totals = {};                ///< of all nodes
  std::optional<meter::Totals> above = {};  ///< the same beyond idleness; none unless of all nodes
  int accelerators = 0;                     ///< devices of kind `gpu` with a number
  std::optional<meter::Figures> figures = {};  ///< per device hour; none without accelerators
  std::vector<Region> regions = {};
  std::vector<store::Setting> settings = {};
  std::vector<std::string> unmetered = {};      ///< what nobody metered, and why
  std::vector<std::string> metering_cost = {};  ///< of each node; none if it was killed
  std::vector<store::Note> notes = {};          ///< all others

  /// The value of a setting, if it is there.
  std::optional<std::string> setting(std::string_view key) const;
};

/// Throws Error{input} as `store::Reader` does.
Account account_of(const store::Reader& record);

/// What `command` has beyond as much of `idle` as fits its time: source by source, and in total.
/// The idle power is only known as well as `idle` could be measured, and the bias of a sensor holds
/// for the difference. None for the devices in `used`, which were not idle, and no total of a label
/// one of whose devices has none.
meter::NodeAccount above_idle(const meter::NodeAccount& command, const meter::NodeAccount& idle,
                              const std::map<std::string, std::string>& used = {});

}  // namespace parajoule::measure
