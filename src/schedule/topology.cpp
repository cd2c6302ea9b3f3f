#include "schedule/topology.h"

#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "base/error.h"
#include "base/nearest.h"

namespace parajoule::schedule {
namespace {

constexpr double tolerance = 1e-9;

Mixing equal_weights(const std::set<int>& neighbours) {
  const double weight = 1.0 / double(neighbours.size() + 1);
  Mixing row{.self = weight};
  for (const int neighbour : neighbours) row.neighbours.push_back({neighbour, weight});
  return row;
}

std::optional<double> plain_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// `0.25` or `1/3`.
std::optional<double> weight_in(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return plain_number(text);
  const auto above = plain_number(text.substr(0, slash));
  const auto below = plain_number(text.substr(slash + 1));
  if (!above || !below || *below == 0) return std::nullopt;
  return *above / *below;
}

Mixing row_in(const std::string& line, int rank, int ranks, const std::string& where) {
  const auto refuse = [&](const std::string& why) {
    throw base::Error(base::Fault::input, fmt::format("{}: {}", where, why));
  };
  std::istringstream words(line);
  std::string word;
  Mixing row{.self = 0};
  int column = 0;
  for (; words >> word; ++column) {
    const auto weight = weight_in(word);
    if (!weight || !std::isfinite(*weight))
      refuse(fmt::format("'{}' is no weight; write 0.25 or 1/3", word));
    if (column == rank)
      row.self = *weight;
    else if (*weight != 0)
      row.neighbours.push_back({column, *weight});
  }
  if (column != ranks)
    refuse(fmt::format("{} weights for {} ranks; a row has one for each", column, ranks));
  return row;
}

bool connected(std::span<const Mixing> rows) {
  std::vector<bool> reached(rows.size());
  std::vector<int> open{0};
  reached[0] = true;
  std::size_t count = 0;
  while (!open.empty()) {
    const int rank = open.back();
    open.pop_back();
    ++count;
    for (const auto& [neighbour, weight] : rows[std::size_t(rank)].neighbours) {
      if (weight == 0 || reached[std::size_t(neighbour)]) continue;
      reached[std::size_t(neighbour)] = true;
      open.push_back(neighbour);
    }
  }
  return count == rows.size();
}

}  // namespace

Mixing ring(int rank, int ranks) {
  std::map<int, int> times;  // a third for each way to a neighbour, and for staying
  for (const int step : {-1, 0, 1}) ++times[(rank + step + ranks) % ranks];
  Mixing row{.self = times[rank] / 3.0};
  for (const auto& [neighbour, ways] : times)
    if (neighbour != rank) row.neighbours.push_back({neighbour, ways / 3.0});
  return row;
}

Mixing exponential(int rank, int ranks) {
  std::set<int> neighbours;
  for (int distance = 1; distance < ranks; distance *= 2) {
    neighbours.insert((rank + distance) % ranks);
    neighbours.insert((rank - distance + ranks) % ranks);
  }
  return equal_weights(neighbours);
}

Mixing complete(int rank, int ranks) {
  std::set<int> neighbours;
  for (int other = 0; other < ranks; ++other)
    if (other != rank) neighbours.insert(other);
  return equal_weights(neighbours);
}

Mixing mixing(std::string_view topology, int rank, int ranks) {
  if (topology == "ring") return ring(rank, ranks);
  if (topology == "exponential") return exponential(rank, ranks);
  if (topology == "complete") return complete(rank, ranks);
  if (topology.find_first_of("./") == std::string_view::npos)
    throw base::Error(
        base::Fault::usage,
        fmt::format("topology = {}: no such graph{}, or the path of a file with a mixing matrix",
                    topology,
                    base::hint(topology,
                               std::vector<std::string_view>{"ring", "exponential", "complete"})));
  return read_mixing(topology, ranks)[std::size_t(rank)];
}

std::vector<Mixing> read_mixing(const std::filesystem::path& file, int ranks) {
  std::error_code unknown;
  const auto status = std::filesystem::status(file, unknown);
  const bool odd = exists(status) && !is_regular_file(status);
  std::ifstream stream;
  if (!odd) stream.open(file);
  if (odd || !stream)
    throw base::Error(base::Fault::input,
                      fmt::format("{}: {}; it should hold a mixing matrix, a line a rank",
                                  file.string(), odd ? "not a plain file" : "cannot be read"));
  std::vector<Mixing> rows;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    rows.push_back(
        row_in(line, int(rows.size()), ranks, fmt::format("{} line {}", file.string(), number)));
  }
  std::string fault;
  if (int(rows.size()) != ranks)
    fault = fmt::format("{} rows for {} ranks; give --ranks {}", rows.size(), ranks, rows.size());
  else
    fault = fault_of(rows);
  if (!fault.empty())
    throw base::Error(base::Fault::input, fmt::format("{}: {}", file.string(), fault));
  return rows;
}

std::string fault_of(std::span<const Mixing> rows) {
  std::map<std::pair<int, int>, double> weights;
  for (int i = 0; i < int(rows.size()); ++i) {
    double sum = rows[std::size_t(i)].self;
    double least = sum;
    for (const auto& [j, weight] : rows[std::size_t(i)].neighbours) {
      sum += weight;
      least = std::min(least, weight);
      weights[{i, j}] = weight;
    }
    if (least < 0) return fmt::format("row {} has the weight {}; none may be negative", i, least);
    if (std::abs(sum - 1) > tolerance)
      return fmt::format("row {} adds up to {:.12g}, not to 1", i, sum);
  }
  for (const auto& [place, weight] : weights) {
    const auto [i, j] = place;
    const auto back = weights.find({j, i});
    const double other = back == weights.end() ? 0 : back->second;
    if (std::abs(weight - other) > tolerance)
      return fmt::format("rank {} gives {} to rank {} and takes {}; the matrix must be symmetric",
                         j, weight, i, other);
  }
  if (!connected(rows)) return "it falls apart: no way leads from rank 0 to every other";
  return "";
}

}  // namespace parajoule::schedule
