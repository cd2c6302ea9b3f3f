#pragma once

// From an experiment file and the command line to an experiment with nothing unset.

#include <optional>
#include <string>
#include <vector>

#include "cli/keys.h"
#include "cli/wishes.h"
#include "train/experiment.h"

namespace parajoule::cli {

/// What a person asked for.
struct Request {
  std::string path = {};              ///< of the experiment file
  std::vector<std::string> set = {};  ///< `table.key=value`, or `key=value`: first a key of the top
                                      ///< of the file, else an option of the chosen strategy
  std::optional<int> ranks = {};      ///< --ranks, the same as `ranks` of the file
  std::optional<int> started = {};    ///< by srun or mpirun: holds against the file
  std::optional<std::string> records = {};  ///< PARAJOULE_RECORDS: holds where no file says more
  int cores = 1;                            ///< that this process may use
};

/// Throws Error{usage} in one line: where it was said, the key, the value, and the choices, the
/// range or the nearest key.
train::Experiment read_experiment(const Request& request, const Vocabulary& vocabulary);

/// The same for a file already read, on one node.
train::Experiment resolve(const std::vector<Wish>& file, const Request& request,
                          const Vocabulary& vocabulary);

/// What of the file and of --set is for rehearsals only, as a remark; none: "".
std::string rehearsals_alone(const Request& request);

/// Throws Error{usage} for more ranks that train than there are samples to train on.
void check_samples(const train::Experiment& experiment, std::int64_t samples);

/// Throws Error{usage} for more ranks on one machine than one holds.
void check_ranks_on_node(const train::Experiment& experiment, int on_a_node);

/// Gives each rank its part of `cores` that so many ranks share as threads, unless `threads` was
/// said. False if `threads` is more than that part.
bool share_cores(train::Experiment& experiment, int cores, int sharing);

/// `ranks` as the file or --set has it, if one does.
std::optional<int> asked_ranks(const Request& request, const Vocabulary& vocabulary);

}  // namespace parajoule::cli
