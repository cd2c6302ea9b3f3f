#pragma once

// The samples of a problem one by one, for methods that choose theirs.

#include <cstdint>
#include <span>

#include "exact/problem.h"

namespace parajoule::exact {

/// The samples of all ranks that train, numbered in the order of the ranks and of their rows; 0 if
/// the objective has none that can be told apart.
std::int64_t count_samples(const Problem& problem);

/// Those of one rank, and the number of its first.
std::int64_t count_samples_of(const Problem& problem, int trainer);
std::int64_t first_sample(const Problem& problem, int trainer);

/// The same objective on these samples only, which belong to its one rank.
Problem::Objective on_samples(const Problem& problem, std::span<const std::int64_t> samples);

/// The loss of one sample.
double loss_of(const Problem& problem, std::int64_t sample, std::span<const double> weights);

}  // namespace parajoule::exact
