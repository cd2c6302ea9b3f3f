#pragma once

// Which table and which columns hold a row: written once, used to write, read and export.

#include <array>
#include <concepts>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "store/rows.h"

namespace parajoule::store {

template <class Word>
inline constexpr std::array<std::string_view, 0> words = {};
template <>
inline constexpr std::array<std::string_view, 4> words<Kind> = {"run", "measure", "rehearsal",
                                                                "import"};
template <>
inline constexpr std::array<std::string_view, 4> words<State> = {"running", "done", "stopped",
                                                                 "failed"};
template <>
inline constexpr std::array<std::string_view, 6> words<Quantity> = {
    "energy", "power", "temperature", "clock", "utilisation", "memory"};
template <>
inline constexpr std::array<std::string_view, 3> words<Label> = {"measured", "modelled",
                                                                 "simulated"};
template <>
inline constexpr std::array<std::string_view, 3> words<Severity> = {"note", "warning", "error"};

/// As it stands in the record; empty for a number that is no word.
template <class Word>
  requires std::is_enum_v<Word>
constexpr std::string_view text_of(Word word) {
  const auto place = std::size_t(word) - 1;
  return place < words<Word>.size() ? words<Word>[place] : std::string_view();
}

template <class Row>
struct Table;

template <>
struct Table<Run> {
  static constexpr std::string_view name = "run";
  static constexpr std::array columns = {"id",          "name",    "kind",   "state",
                                         "started_utc", "version", "command"};
  static auto fields(auto& row) {
    return std::tie(row.id, row.name, row.kind, row.state, row.started_utc, row.version,
                    row.command);
  }
};

template <>
struct Table<Setting> {
  static constexpr std::string_view name = "setting";
  static constexpr std::array columns = {"key", "value", "origin"};
  static auto fields(auto& row) { return std::tie(row.key, row.value, row.origin); }
};

template <>
struct Table<Node> {
  static constexpr std::string_view name = "node";
  static constexpr std::array columns = {"node", "boot_id", "host", "cpus", "memory_bytes"};
  static auto fields(auto& row) {
    return std::tie(row.node, row.boot_id, row.host, row.cpus, row.memory_bytes);
  }
};

template <>
struct Table<Source> {
  static constexpr std::string_view name = "source";
  static constexpr std::array columns = {"source",
                                         "node",
                                         "device",
                                         "device_kind",
                                         "quantity",
                                         "unit",
                                         "label",
                                         "covers",
                                         "part_of",
                                         "resolution",
                                         "update_period_seconds",
                                         "window_seconds",
                                         "bias_relative",
                                         "formula"};
  static auto fields(auto& row) {
    return std::tie(row.source, row.node, row.device, row.device_kind, row.quantity, row.unit,
                    row.label, row.covers, row.part_of, row.resolution, row.update_period,
                    row.window, row.bias_relative, row.formula);
  }
};

template <>
struct Table<Reading> {
  static constexpr std::string_view name = "reading";
  static constexpr std::array columns = {"source", "seconds", "value", "gap"};
  static auto fields(auto& row) { return std::tie(row.source, row.seconds, row.value, row.gap); }
};

template <>
struct Table<Phase> {
  static constexpr std::string_view name = "phase";
  static constexpr std::array columns = {"rank", "name", "begin_seconds", "end_seconds"};
  static auto fields(auto& row) { return std::tie(row.rank, row.name, row.begin, row.end); }
};

template <>
struct Table<Step> {
  static constexpr std::string_view name = "step";
  static constexpr std::array columns = {"rank", "step",       "seconds",       "samples",
                                         "loss", "sent_bytes", "waited_seconds"};
  static auto fields(auto& row) {
    return std::tie(row.rank, row.step, row.seconds, row.samples, row.loss, row.sent_bytes,
                    row.waited);
  }
};

template <>
struct Table<Epoch> {
  static constexpr std::string_view name = "epoch";
  static constexpr std::array columns = {"epoch",  "seconds",   "set",
                                         "metric", "numerator", "denominator"};
  static auto fields(auto& row) {
    return std::tie(row.epoch, row.seconds, row.set, row.metric, row.numerator, row.denominator);
  }
};

template <>
struct Table<Note> {
  static constexpr std::string_view name = "note";
  static constexpr std::array columns = {"seconds", "rank", "severity", "text"};
  static auto fields(auto& row) { return std::tie(row.seconds, row.rank, row.severity, row.text); }
};

/// All tables but `run`, in an order in which rows come after those they speak of.
template <template <class...> class Of>
using EachTable = Of<Setting, Node, Source, Reading, Phase, Step, Epoch, Note>;

}  // namespace parajoule::store
