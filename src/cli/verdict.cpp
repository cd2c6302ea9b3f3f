#include "cli/verdict.h"

#include <algorithm>
#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace parajoule::cli {
namespace {

using Notes = std::vector<std::optional<Note>>;

/// The rank that failed first: for a cause of its own if there is one, else the first to notice
/// that another had died or stalled.
std::optional<int> first_failed(const Notes& notes) {
  std::optional<int> first;
  const auto before = [](const Note& a, const Note& b) {
    const bool a_echoes = a.fault == base::Fault::peer;
    const bool b_echoes = b.fault == base::Fault::peer;
    if (a_echoes != b_echoes) return b_echoes;
    return a.utc_seconds < b.utc_seconds;
  };
  for (int rank = 0; rank < int(notes.size()); ++rank) {
    const auto& note = notes[rank];
    if (!note || note->state != Note::State::failed) continue;
    if (!first || before(*note, *notes[*first])) first = rank;
  }
  return first;
}

std::vector<int> ranks_in(const Notes& notes, Note::State state) {
  std::vector<int> ranks;
  for (int rank = 0; rank < int(notes.size()); ++rank) {
    if (notes[rank] && notes[rank]->state == state) ranks.push_back(rank);
  }
  return ranks;
}

/// Those that started, or were to, and said no last word.
std::vector<int> silent(const Notes& notes) {
  std::vector<int> ranks = ranks_in(notes, Note::State::started);
  for (int rank = 0; rank < int(notes.size()); ++rank) {
    if (!notes[rank]) ranks.push_back(rank);
  }
  std::ranges::sort(ranks);
  return ranks;
}

std::string names(const std::vector<int>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

/// A rank that could not leave a note has said why itself, and its status went through.
bool told_by_itself(const Exit& exit) {
  return !exit.signal && exit.code >= wrong_usage && exit.code <= not_a_number;
}

/// A shell, and mpirun, report a death by signal n as status 128 + n.
std::string how(const Exit& exit) {
  const int signal = exit.signal.value_or(exit.code > 128 ? exit.code - 128 : 0);
  if (signal > 0 && signal < NSIG) return fmt::format("signal {}, {}", signal, strsignal(signal));
  return fmt::format("status {}", exit.code);
}

Verdict failure(const Notes& notes, int rank) {
  const Note& note = *notes[rank];
  const Status status = note.fault ? status_of(*note.fault) : rank_died;
  const std::vector<int> dead = silent(notes);
  if (note.fault == base::Fault::peer && dead.size() == 1) {
    return {status, fmt::format("{} died without a last word: killed from outside, or out of "
                                "memory (rank {}: {})",
                                names(dead), rank, note.text)};
  }
  return {status, fmt::format("rank {}: {}", rank, note.text)};
}

}  // namespace

bool none_started(const Notes& notes) {
  return std::ranges::none_of(notes, [](const auto& note) { return note.has_value(); });
}

Verdict judge(const Notes& notes, const Exit& exit) {
  if (const auto rank = first_failed(notes)) return failure(notes, *rank);
  const std::vector<int> dead = silent(notes);
  if (!dead.empty() && told_by_itself(exit)) return {Status(exit.code), ""};
  if (!dead.empty()) {
    return {rank_died, fmt::format("{} died without a last word ({}): killed from outside, or out "
                                   "of memory",
                                   names(dead), how(exit))};
  }
  const std::vector<int> halted = ranks_in(notes, Note::State::stopped);
  if (!halted.empty()) {
    return {stopped, fmt::format("stopped {}; start the same command again to go on",
                                 notes[halted.front()]->text)};
  }
  if (exit.code != 0 || exit.signal) {
    return {our_bug, fmt::format("all ranks had ended well when the run ended with {}", how(exit))};
  }
  return {done, ""};
}

}  // namespace parajoule::cli
