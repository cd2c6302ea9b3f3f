// problem.json: one function a key.

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <string>

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"
#include "exact/fields.h"
#include "exact/problem.h"

namespace parajoule::exact {
namespace {

using nlohmann::json;

constexpr std::int64_t known_version = 1;

// Longer nothing that is meant takes, and sums of such times stay numbers.
constexpr double most_seconds = 1e9;
constexpr double least_bytes_per_second = 1e-3;

[[noreturn]] void fail(std::string_view where, std::string_view why) {
  throw base::Error(base::Fault::input, fmt::format("{}: {}", base::escaped(where), why));
}

/// The keys of an object, of which each must be read or refused.
class Object {
 public:
  Object(const json& value, std::string name) : value_(value), name_(std::move(name)) {}

  std::optional<Field> find(std::string_view key) {
    known_.push_back(key);
    const auto found = value_.find(key);
    if (found == value_.end()) return {};
    return Field{*found, fmt::format("{}: {}", name_, key)};
  }

  Field at(std::string_view key, std::string_view wanted) {
    if (const auto field = find(key)) return *field;
    fail(name_, fmt::format("no \"{}\"; it must be {}", key, wanted));
  }

  /// Once all that are meant have been asked for.
  void refuse_others() const {
    for (const auto& [key, value] : value_.items())
      if (std::ranges::find(known_, key) == known_.end())
        fail(name_, fmt::format("no key \"{}\" here{}", base::shown(key), base::hint(key, known_)));
  }

  const std::string& name() const { return name_; }

 private:
  const json& value_;
  std::string name_;
  std::vector<std::string_view> known_;
};

std::vector<Row> rows_of_rank(const Field& field) {
  return field.list("a list of rows", [](const Field& row) { return row.numbers(); });
}

std::vector<std::vector<Row>> rows_of_ranks(const Field& field) {
  auto ranks = field.list("a list with a list of rows for each rank", rows_of_rank);
  if (ranks.empty()) field.refuse("a list with a list of rows for each rank");
  return ranks;
}

void need_as_many(const Field& field, std::size_t count, std::string_view of, std::size_t wanted) {
  if (count == wanted) return;
  fail(field.where, fmt::format("for {} ranks, but {} is for {}", count, of, wanted));
}

Quadratic read_quadratic(Object& file) {
  const Field curvature = file.at("curvature", "a list with a row for each rank");
  const Field target = file.at("target", "a list with a row for each rank");
  Quadratic objective{curvature.rows(), target.rows()};
  need_as_many(target, objective.target.size(), "curvature", objective.curvature.size());
  return objective;
}

LeastSquares read_least_squares(Object& file) {
  const Field inputs = file.at("inputs", "a list with a list of rows for each rank");
  const Field outputs = file.at("outputs", "a list with a list of numbers for each rank");
  LeastSquares objective{rows_of_ranks(inputs), {}};
  objective.outputs =
      outputs.list("a list with a list of numbers for each rank", [](const Field& f) {
        return f.list("a list of numbers", [](const Field& y) { return y.number(); });
      });
  need_as_many(outputs, objective.outputs.size(), "inputs", objective.inputs.size());
  for (std::size_t rank = 0; rank < objective.inputs.size(); ++rank)
    if (objective.inputs[rank].size() != objective.outputs[rank].size())
      fail(fmt::format("{}[{}]", outputs.where, rank),
           fmt::format("{} numbers, but inputs has {} rows there", objective.outputs[rank].size(),
                       objective.inputs[rank].size()));
  return objective;
}

Gradients read_gradients(Object& file) {
  const std::string wanted = "a list of steps, each with a row for each rank";
  const Field field = file.at("gradients", wanted);
  Gradients objective{field.list(wanted, [](const Field& step) { return step.rows(); })};
  if (objective.gradients.empty()) field.refuse(wanted);
  for (std::size_t step = 0; step < objective.gradients.size(); ++step)
    need_as_many({field.value, fmt::format("{}[{}]", field.where, step)},
                 objective.gradients[step].size(), "the first step",
                 objective.gradients.front().size());
  return objective;
}

std::vector<LinearNetwork::Layer> read_layers(const Field& field) {
  auto layers = field.list("a list of [outputs, inputs]", [](const Field& layer) {
    const auto sizes =
        layer.list("[outputs, inputs]", [](const Field& f) { return f.whole_from(1); });
    if (sizes.size() != 2) layer.refuse("[outputs, inputs]");
    return LinearNetwork::Layer{sizes[0], sizes[1]};
  });
  if (layers.empty()) field.refuse("a list of at least one [outputs, inputs]");
  for (std::size_t i = 1; i < layers.size(); ++i)
    if (layers[i].inputs != layers[i - 1].outputs)
      fail(fmt::format("{}[{}]", field.where, i),
           fmt::format("takes {} inputs, but the layer before gives {}", layers[i].inputs,
                       layers[i - 1].outputs));
  return layers;
}

void need_width(const Field& field, const std::vector<std::vector<Row>>& rows, std::int64_t width) {
  for (std::size_t rank = 0; rank < rows.size(); ++rank)
    for (std::size_t row = 0; row < rows[rank].size(); ++row)
      if (std::int64_t(rows[rank][row].size()) != width)
        fail(fmt::format("{}[{}][{}]", field.where, rank, row),
             fmt::format("{} numbers, but {} are needed", rows[rank][row].size(), width));
}

LinearNetwork read_linear_network(Object& file) {
  const Field layers = file.at("layers", "a list of [outputs, inputs], from the first layer");
  const Field inputs = file.at("inputs", "a list with a list of rows for each rank");
  const Field outputs = file.at("outputs", "a list with a list of rows for each rank");
  LinearNetwork objective{read_layers(layers), rows_of_ranks(inputs), rows_of_ranks(outputs)};
  need_as_many(outputs, objective.outputs.size(), "inputs", objective.inputs.size());
  need_width(inputs, objective.inputs, objective.layers.front().inputs);
  need_width(outputs, objective.outputs, objective.layers.back().outputs);
  for (std::size_t rank = 0; rank < objective.inputs.size(); ++rank)
    if (objective.inputs[rank].size() != objective.outputs[rank].size())
      fail(fmt::format("{}[{}]", outputs.where, rank),
           fmt::format("{} rows, but inputs has {} there", objective.outputs[rank].size(),
                       objective.inputs[rank].size()));
  return objective;
}

Problem::Objective read_objective(Object& file) {
  const std::array<std::string_view, 5> kinds{"quadratic", "least_squares", "gradients",
                                              "linear_network", "none"};
  const Field field = file.at("kind", fmt::format("one of {}", fmt::join(kinds, ", ")));
  if (!field.value.is_string()) field.refuse(fmt::format("one of {}", fmt::join(kinds, ", ")));
  const std::string kind = field.value.get<std::string>();
  if (kind == "quadratic") return read_quadratic(file);
  if (kind == "least_squares") return read_least_squares(file);
  if (kind == "gradients") return read_gradients(file);
  if (kind == "linear_network") return read_linear_network(file);
  if (kind == "none") return None();
  fail(field.where, fmt::format("no kind \"{}\"{}", base::shown(kind), base::hint(kind, kinds)));
}

/// One row for all, or a list of rows.
std::vector<Row> read_start(const Field& field) {
  if (!field.is_list() || field.value.empty())
    field.refuse("a row, or a list with a row for each rank");
  if (field.value.front().is_array()) return field.rows();
  return {field.numbers()};
}

std::vector<std::vector<std::int64_t>> read_shapes(const Field& field) {
  auto shapes = field.list("a list of shapes, such as [[2, 2], [3]]", [](const Field& shape) {
    auto sizes =
        shape.list("a shape, such as [2, 2]", [](const Field& f) { return f.whole_from(1); });
    if (sizes.empty()) shape.refuse("a shape, such as [2, 2]");
    return sizes;
  });
  if (shapes.empty()) field.refuse("a list of at least one shape");
  return shapes;
}

/// A number, or a list of which the last entry repeats.
std::vector<double> read_series(const Field& field, double least, std::optional<double> most = {}) {
  const auto read = [=](const Field& f) {
    return most ? f.number_in(least, *most) : f.number_from(least);
  };
  if (!field.is_list()) return {read(field)};
  auto series = field.list("", read);
  if (series.empty()) field.refuse("a number, or a list of at least one");
  return series;
}

std::vector<std::vector<double>> read_durations(const Field& field) {
  if (!field.is_list()) return {{field.number_in(0, most_seconds)}};
  auto durations = field.list("", [](const Field& f) { return read_series(f, 0, most_seconds); });
  if (durations.empty())
    field.refuse("seconds, a list with those of each rank, or a list of lists");
  return durations;
}

Problem::Link read_link(const Field& field) {
  if (!field.value.is_object()) field.refuse(R"({"latency_seconds": 0, "bytes_per_second": null})");
  Object link(field.value, field.where);
  Problem::Link read;
  if (const auto latency = link.find("latency_seconds"))
    read.latency = base::Seconds(latency->number_in(0, most_seconds));
  if (const auto bandwidth = link.find("bytes_per_second");
      bandwidth && !bandwidth->value.is_null()) {
    read.bytes_per_second = bandwidth->number();
    if (*read.bytes_per_second < least_bytes_per_second)
      bandwidth->refuse(
          fmt::format("a number from {}, or null for no time at all", least_bytes_per_second));
  }
  link.refuse_others();
  return read;
}

std::vector<std::vector<int>> read_events(const Field& field) {
  return field.list("a list of lists of ranks", [](const Field& event) {
    const auto ranks =
        event.list("a list of ranks", [](const Field& f) { return int(f.whole_from(0)); });
    if (ranks.empty()) event.refuse("a list of at least one rank");
    if (std::set(ranks.begin(), ranks.end()).size() != ranks.size())
      event.refuse("a list of different ranks");
    return ranks;
  });
}

void read_rest(Object& file, Problem& problem) {
  problem.start = read_start(file.at("start", "the weights at the start, a row"));
  if (const auto shapes = file.find("shapes")) {
    problem.shapes = read_shapes(*shapes);
    if (std::holds_alternative<LinearNetwork>(problem.objective))
      fail(shapes->where, "the layers of a linear network are its shapes; take the key out");
  }
  problem.learning_rate = read_series(file.at("learning_rate", "a number, or a list of them"), 0);
  if (const auto momentum = file.find("momentum")) {
    problem.momentum = momentum->number();
    if (problem.momentum < 0 || problem.momentum > 1) momentum->refuse("a number from 0 to 1");
  }
  if (const auto steps = file.find("steps_per_epoch"))
    problem.steps_per_epoch = steps->whole_from(1);
  if (const auto loss = file.find("loss"))
    problem.loss = read_series(*loss, std::numeric_limits<double>::lowest());
  if (const auto durations = file.find("durations")) problem.durations = read_durations(*durations);
  if (const auto link = file.find("link")) problem.link = read_link(*link);
  if (const auto events = file.find("events")) problem.events = read_events(*events);
}

/// The number of parameters that the shapes have, if it is no more than `most`.
std::optional<std::size_t> count_of(const std::vector<std::vector<std::int64_t>>& shapes,
                                    std::size_t most) {
  std::size_t sum = 0;
  for (const auto& shape : shapes) {
    std::size_t product = 1;
    for (const std::int64_t size : shape) {
      if (std::size_t(size) > most / product) return {};
      product *= std::size_t(size);
    }
    sum += product;
    if (sum > most) return {};
  }
  return sum;
}

/// Every row has a number for each parameter.
class Widths {
 public:
  Widths(std::string name, std::size_t parameters)
      : name_(std::move(name)), parameters_(parameters) {}

  void operator()(const Quadratic& q) const {
    need("curvature", q.curvature);
    need("target", q.target);
  }
  void operator()(const LeastSquares& s) const {
    for (std::size_t rank = 0; rank < s.inputs.size(); ++rank)
      need(fmt::format("inputs[{}]", rank), s.inputs[rank]);
  }
  void operator()(const Gradients& g) const {
    for (std::size_t step = 0; step < g.gradients.size(); ++step)
      need(fmt::format("gradients[{}]", step), g.gradients[step]);
  }
  void operator()(const LinearNetwork& network) const {
    std::vector<std::vector<std::int64_t>> shapes;
    for (const auto& layer : network.layers) shapes.push_back({layer.outputs, layer.inputs});
    need_count("layers", shapes);
  }
  void operator()(const None&) const {}

  void need(std::string_view key, const std::vector<Row>& rows) const {
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i].size() != parameters_)
        fail(name_, fmt::format("{}[{}]: {} numbers, but start has {}", key, i, rows[i].size(),
                                parameters_));
  }

  void need_count(std::string_view key,
                  const std::vector<std::vector<std::int64_t>>& shapes) const {
    const auto count = count_of(shapes, parameters_);
    if (count == parameters_) return;
    fail(name_, fmt::format("{}: {} than the {} of start; they must be as many", key,
                            count ? "fewer parameters" : "more parameters", parameters_));
  }

 private:
  std::string name_;
  std::size_t parameters_;
};

void check_version(Object& file) {
  const Field version = file.at("version", fmt::format("{}", known_version));
  const std::int64_t found = version.whole_from(1);
  if (found > known_version)
    fail(version.where,
         fmt::format("{} is newer than the {} that this parajoule reads; use a newer one", found,
                     known_version));
}

}  // namespace

Problem problem_in(std::string_view text, std::string_view name) {
  const json value = json_in(text, name);
  if (!value.is_object())
    fail(name, "not an object; `parajoule trace --example` prints a file to begin with");
  Object file(value, std::string(name));
  check_version(file);
  Problem problem;
  problem.objective = read_objective(file);
  read_rest(file, problem);
  file.refuse_others();
  const Widths widths(file.name(), parameters(problem));
  widths.need("start", problem.start);
  std::visit(widths, problem.objective);
  if (!problem.shapes.empty()) widths.need_count("shapes", problem.shapes);
  return problem;
}

Problem read_problem(const std::filesystem::path& path) {
  constexpr std::string_view remedy = "`parajoule trace --example` prints a file to begin with";
  if (std::error_code error; std::filesystem::is_directory(path, error))
    fail(path.string(), fmt::format("a folder, not a problem file; {}", remedy));
  std::ifstream file(path);
  if (!file) fail(path.string(), fmt::format("{}; {}", std::strerror(errno), remedy));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) fail(path.string(), fmt::format("cannot be read: {}", std::strerror(errno)));
  return problem_in(text, path.string());
}

}  // namespace parajoule::exact
