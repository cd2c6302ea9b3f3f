#include "cli/notes.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "cli/fields.h"
#include "store/process.h"

namespace parajoule::cli {
namespace {

constexpr std::size_t page = 4096;

constexpr std::array<std::pair<Note::State, std::string_view>, 4> states = {{
    {Note::State::started, "started"},
    {Note::State::failed, "failed"},
    {Note::State::stopped, "stopped"},
    {Note::State::ended, "ended"},
}};

constexpr std::array<std::pair<base::Fault, std::string_view>, 6> faults = {{
    {base::Fault::usage, "usage"},
    {base::Fault::input, "input"},
    {base::Fault::environment, "environment"},
    {base::Fault::peer, "peer"},
    {base::Fault::bug, "bug"},
    {base::Fault::not_a_number, "not_a_number"},
}};

template <class Table>
auto named(const Table& table, const std::optional<std::string>& name)
    -> std::optional<typename Table::value_type::first_type> {
  for (const auto& [value, known] : table) {
    if (name == known) return value;
  }
  return {};
}

std::filesystem::path file_of(const std::filesystem::path& folder, int rank) {
  return folder / fmt::format("rank{}", rank);
}

double utc_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string on_one_page(Fields fields) {
  std::string text = fields.written();
  if (text.size() > page) {
    const std::string words = fields.text("text").value_or("");
    fields.put("text", std::string_view(words).substr(0, words.size() / 2));
    return on_one_page(fields);
  }
  text.resize(page, '\n');
  return text;
}

std::string page_of(const Note& note) {
  Fields fields;
  fields.put("state", name_of(note.state));
  if (note.fault) fields.put("fault", name_of(*note.fault));
  fields.put("utc_seconds", note.utc_seconds);
  fields.put("host", store::host_name());
  fields.put("process", long(getpid()));
  fields.put("text", note.text);
  return on_one_page(fields);
}

constexpr std::array crash_signals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

/// What the handler needs, made ready: it can neither allocate nor format.
struct Crashes {
  volatile sig_atomic_t file = -1;
  std::array<std::string, crash_signals.size()> pages;
} crashes;

void note_crash(int signal) {
  for (std::size_t i = 0; i < crash_signals.size(); ++i) {
    if (crash_signals[i] != signal || crashes.file < 0) continue;
    [[maybe_unused]] const ssize_t written =
        pwrite(crashes.file, crashes.pages[i].data(), crashes.pages[i].size(), 0);
  }
  raise(signal);
}

std::optional<Note> read_note(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const Fields fields = Fields::parse(text.str());
  const auto state = named(states, fields.text("state"));
  if (!state) return {};
  return Note{.state = *state,
              .fault = named(faults, fields.text("fault")),
              .text = fields.text("text").value_or(""),
              .utc_seconds = fields.number("utc_seconds").value_or(0),
              .host = fields.text("host").value_or(""),
              .process = pid_t(fields.whole("process").value_or(0))};
}

}  // namespace

std::string_view name_of(Note::State state) { return states[std::size_t(state)].second; }

std::string_view name_of(base::Fault fault) { return faults[std::size_t(fault)].second; }

OwnNote::OwnNote(const std::filesystem::path& folder, int rank) {
  const auto path = file_of(folder, rank);
  file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0 || !write({.state = Note::State::started})) {
    throw base::Error(base::Fault::environment,
                      fmt::format("cannot write the rank's note {}: {}; name another folder with "
                                  "the key `checkpoints`",
                                  path.string(), std::strerror(errno)));
  }
}

OwnNote::~OwnNote() {
  if (file_ >= 0) close(file_);
}

bool OwnNote::failed(base::Fault fault, std::string_view cause) {
  return write({.state = Note::State::failed, .fault = fault, .text = std::string(cause)});
}

bool OwnNote::stopped(std::string_view where) {
  return write({.state = Note::State::stopped, .text = std::string(where)});
}

bool OwnNote::ended(std::string_view record) {
  return write({.state = Note::State::ended, .text = std::string(record)});
}

bool OwnNote::write(Note note) {
  if (last_word_) return true;
  last_word_ = note.state != Note::State::started;
  if (last_word_) crashes.file = -1;
  note.utc_seconds = utc_now();
  const std::string text = page_of(note);
  return pwrite(file_, text.data(), text.size(), 0) == ssize_t(text.size());
}

void OwnNote::listen_for_crashes() {
  for (std::size_t i = 0; i < crash_signals.size(); ++i) {
    const int signal = crash_signals[i];
    crashes.pages[i] =
        page_of({.state = Note::State::failed,
                 .text = fmt::format("crashed: signal {}, {}", signal, strsignal(signal)),
                 .utc_seconds = std::numeric_limits<double>::infinity()});
  }
  crashes.file = file_;
  // A stack that has overflowed cannot run a handler.
  static std::array<char, 65536> stack;
  const stack_t other{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = note_crash;
  action.sa_flags = SA_ONSTACK | int(SA_RESETHAND);
  for (const int signal : crash_signals) sigaction(signal, &action, nullptr);
}

void clear_notes(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) {
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      std::filesystem::remove(entry.path(), error);
    }
  }
  if (!error) return;
  throw base::Error(base::Fault::environment,
                    fmt::format("cannot write {}: {}; name another folder with the key "
                                "`checkpoints`",
                                folder.string(), error.message()));
}

std::vector<std::optional<Note>> read_notes(const std::filesystem::path& folder, int ranks) {
  std::vector<std::optional<Note>> notes;
  for (int rank = 0; rank < ranks; ++rank) notes.push_back(read_note(file_of(folder, rank)));
  return notes;
}

}  // namespace parajoule::cli
