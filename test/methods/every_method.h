#pragma once

// Every method of the catalog, with options that let it be itself in a few steps.

#include <algorithm>
#include <vector>

#include "replicas.h"

namespace parajoule::methods {

/// In three layers of 20, 1 and 16.
inline Problem layered(Problem problem) {
  problem.shapes = {{4, 5}, {1}, {2, 8}};
  return problem;
}

/// Sums of parts, each of 64 bytes at most if these make it so: `overlap` is none, layer, merged or
/// lazy.
inline Given overlapped(const std::string& overlap) {
  return {{"overlap", overlap},
          {"merge_bytes", std::int64_t(64)},
          {"threshold_bytes", std::int64_t(64)}};
}

inline constexpr const char* overlaps[] = {"none", "layer", "merged", "lazy"};

/// Methods that any number of ranks can take, each with the weights that it averages if it does.
inline std::vector<Case> methods_of_equals(int ranks) {
  constexpr std::int64_t one = 1, two = 2, three = 3, four = 4;
  std::vector<Case> all;
  for (const char* overlap : overlaps)
    all.push_back({.method = "synchronous", .settings = overlapped(overlap)});
  all.push_back(
      {.method = "coarse_sparse",
       .settings = {{"sparsity", 0.5}, {"chunk", std::int64_t(5)}, {"warmup_steps", two}}});
  all.push_back({.method = "pipe_sgd", .settings = {{"width", three}, {"warmup_steps", two}}});
  all.push_back({.method = "pipe_sgd",
                 .settings = {{"start", std::string("repeat")}, {"warmup_steps", one}}});
  all.push_back({.method = "pipe_sgd", .settings = {{"codec", std::string("scale8")}}});
  all.push_back({.method = "hierarchical_parallel_sgd", .settings = {{"period", three}}});
  all.push_back({.method = "delayed_averaging"});
  all.push_back({.method = "cocod_sgd", .settings = {{"period", three}}});
  all.push_back({.method = "local_sgd", .settings = {{"period", three}}});
  all.push_back({.method = "post_local_sgd", .settings = {{"period", three}, {"from_epoch", one}}});
  all.push_back({.method = "overlap_local_sgd", .settings = {{"period", three}}});
  for (const char* topology : {"ring", "exponential", "complete"})
    all.push_back(
        {.method = "oldsgd", .settings = {{"period", three}, {"topology", std::string(topology)}}});
  all.push_back({.method = "biased_local_sgd",
                 .settings = {{"slow_ranks", std::vector<std::int64_t>{0}},
                              {"slow_steps", ranks == 1 ? three : two},
                              {"fast_steps", ranks == 1 ? three : four},
                              {"biased", false},
                              {"weights", std::string("steps")}}});
  all.push_back({.method = "daso",
                 .settings = {{"global_skip", three},
                              {"local_skip", two},
                              {"wait", two},
                              {"warmup_epochs", std::int64_t(0)},
                              {"cooldown_epochs", one}}});
  return all;
}

/// Eight steps on a problem whose third batches are short. Methods in which some ranks serve are
/// there where there are ranks enough.
inline std::vector<Case> every_method(int ranks) {
  std::vector<Case> all = methods_of_equals(ranks);
  for (Case& each : all) each.problem = layered(uneven(ranks, 37));
  for (const int per_group : {ranks, ranks / 2}) {
    if (per_group < 2 || ranks % per_group != 0) continue;
    all.push_back({.method = "lsgd",
                   .settings = {{"ranks_per_group", std::int64_t(per_group)}},
                   .problem = layered(uneven(ranks - ranks / per_group, 37))});
  }
  for (Case& each : all) {
    each.ranks = ranks;
    each.steps = 8;
    each.problem.steps_per_epoch = 4;
    if (each.method == "hierarchical_parallel_sgd") each.problem.momentum = 0;
    if (each.method == "daso" && ranks % 2 == 0) each.ranks_per_node = 2;
    if (each.method == "daso" && ranks % 2 == 1) each.ranks_per_node = 1;
  }
  return all;
}

}  // namespace parajoule::methods
