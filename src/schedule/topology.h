#pragma once

// Graphs of ranks for methods that exchange weights with neighbours: each is a doubly stochastic
// mixing matrix W, given row by row as a pure function of rank and ranks.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parajoule::schedule {

/// Row i of W: what rank i takes of its own and of its neighbours' values. The weights add up to 1.
struct Mixing {
  struct Neighbour {
    int rank = 0;
    double weight = 0;
    bool operator==(const Neighbour&) const = default;
  };
  double self = 1;
  std::vector<Neighbour> neighbours = {};  ///< in the order of their ranks, without rank i
  bool operator==(const Mixing&) const = default;
};

/// A third of each neighbour in a ring and of the rank's own (X. Lian et al., arXiv:1705.09056). Of
/// two ranks each is the other's left and right neighbour, so the weights are 1/3 and 2/3.
Mixing ring(int rank, int ranks);

/// Neighbours at the distances 1, 2, 4 ... in a ring, both ways, all weights equal.
Mixing exponential(int rank, int ranks);

/// Everyone's neighbour: W has 1 / ranks everywhere.
Mixing complete(int rank, int ranks);

/// Row `rank` of "ring", "exponential", "complete", or of the matrix in a file of that path. Throws
/// Error{usage} for a word that is none of these, and as `read_mixing`.
Mixing mixing(std::string_view topology, int rank, int ranks);

/// A mixing matrix in a file of text: a line a rank with one number for each rank, such as 0.25 or
/// 1/3; lines that begin with # do not count. Throws Error{input} that names the file, the line and
/// the reason unless it has `ranks` rows, is symmetric and doubly stochastic to 1e-9, has no
/// negative weight, and leads from every rank to every other.
std::vector<Mixing> read_mixing(const std::filesystem::path& file, int ranks);

/// The first reason why `rows` are no symmetric, doubly stochastic matrix that connects all ranks;
/// empty if they are. `rows` are in the order of the ranks.
std::string fault_of(std::span<const Mixing> rows);

}  // namespace parajoule::schedule
