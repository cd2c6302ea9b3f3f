#pragma once

// The rows of one node, of one record or of several.

#include <filesystem>
#include <optional>
#include <vector>

#include "meter/account.h"
#include "store/reader.h"

namespace parajoule::measure {

/// A record of one node that is to be merged with others.
struct Part {
  /// Throws as `store::Reader`, and Error{usage} for what is no record of `measure`, or is one of
  /// several nodes.
  explicit Part(const std::filesystem::path& file);

  /// Sets `shift`: moments of this record are so much later on the clock of `first`.
  void join(const Part& first);

  std::filesystem::path file;
  store::Run run;
  store::Node node;
  std::vector<store::Setting> settings;
  std::vector<meter::Series> series;
  std::vector<store::Phase> phases;
  std::vector<store::Note> notes;
  base::Seconds shift{0};
  int place = 0;  ///< of its node among those of the merged record
};

struct MergedNode {
  store::Node node;
  std::vector<meter::Series> series;
  std::optional<meter::Span> command = {};
  std::optional<meter::Span> idle = {};
  std::optional<base::Seconds> cpu = {};

  /// What a record keeps among its settings, with `number` for the node.
  std::vector<store::Setting> settings(int number) const;
};

/// Puts a part's rows among the nodes; the place of its own. Throws Error{usage} if it is of the
/// same start of a machine as another, at another time.
int add_node(const Part& part, std::vector<MergedNode>& nodes);

}  // namespace parajoule::measure
