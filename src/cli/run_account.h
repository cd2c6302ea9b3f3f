#pragma once

// What a run did and what energy it took, from its record alone: the work of the summary joined
// with the meter's accounting.

#include <optional>
#include <string>
#include <vector>

#include "meter/account.h"
#include "meter/figures.h"
#include "meter/study.h"
#include "meter/total.h"
#include "store/reader.h"
#include "store/summary.h"

namespace parajoule::cli {

/// Work and energy between two moments of a run.
struct StretchAccount {
  store::Stretch work;
  std::vector<meter::NodeAccount> nodes;
  meter::Totals totals;                        ///< of all nodes
  std::optional<meter::Figures> figures = {};  ///< none without ranks that train
};

/// How often the run met what it could not read as it should.
struct BadSamples {
  std::int64_t skipped = 0;
  std::int64_t replaced = 0;
  std::int64_t mended = 0;              ///< damage that decoders of pictures mended
  std::vector<store::Note> notes = {};  ///< one each
};

struct RunAccount {
  store::Summary summary;
  StretchAccount whole;
  std::optional<StretchAccount> settled;     ///< without the settling steps, if there are any
  std::optional<meter::StudyAccount> study;  ///< if the run asked for that profile
  std::vector<std::string> unmetered;        ///< what nobody metered, and why
  std::vector<std::string> metering_cost;    ///< of each node; none if the run was killed
  BadSamples bad_samples;
  std::vector<store::Note> notes;  ///< all others
};

/// Throws Error{input} as `store::Reader` does.
RunAccount account_of(const store::Reader& record);

}  // namespace parajoule::cli
