#include "train/fault.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "base/error.h"

namespace parajoule::train {
namespace {

constexpr std::string_view variable = "PARAJOULE_FAULT";
constexpr std::array<std::string_view, 5> places = {"data", "forward", "communication",
                                                    "evaluation", "checkpoint"};

[[noreturn]] void refuse(std::string_view word) {
  throw base::Error(
      base::Fault::usage,
      fmt::format("{}: '{}' is not understood; it is like \"rank=1 step=3 kind=throw_forward\", "
                  "kind: nan, or throw|kill|hang|slow and _data, _forward, _communication, "
                  "_evaluation or _checkpoint; slow has seconds=5; mark=FILE is made",
                  variable, word));
}

template <class Number>
Number number(std::string_view text) {
  Number value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || value < 0) refuse(text);
  return value;
}

}  // namespace

InjectedFault InjectedFault::of_environment(int rank) {
  const char* text = std::getenv(std::string(variable).c_str());
  return {text ? text : "", rank};
}

InjectedFault::InjectedFault(std::string_view text, int rank) {
  bool meant = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const std::size_t equals = word.find('=');
    if (equals == word.npos) refuse(word);
    const std::string_view value = word.substr(equals + 1);
    if (word.starts_with("rank=")) {
      meant = value == "all" || number<int>(value) == rank;
    } else {
      read(word.substr(0, equals), value);
    }
  }
  if (meant) return;
  act_.reset();
  place_.reset();
}

void InjectedFault::read(std::string_view key, std::string_view value) {
  if (key == "step") {
    step_ = number<std::int64_t>(value);
  } else if (key == "seconds") {
    seconds_ = base::Seconds(number<double>(value));
  } else if (key == "mark") {
    mark_ = value;
  } else if (key != "kind") {
    refuse(key);
  } else if (value == "nan") {
    act_ = Act::spoil;
  } else {
    read_kind(value);
  }
}

void InjectedFault::read_kind(std::string_view kind) {
  constexpr std::array<std::string_view, 4> acts = {"throw", "kill", "hang", "slow"};
  constexpr std::array kinds = {Act::raise, Act::kill, Act::hang, Act::slow};
  for (std::size_t act = 0; act < acts.size(); ++act) {
    for (std::size_t place = 0; place < places.size(); ++place) {
      if (kind != fmt::format("{}_{}", acts[act], places[place])) continue;
      act_ = kinds[act];
      place_ = FaultPlace(place);
      return;
    }
  }
  refuse(kind);
}

void InjectedFault::strike() {
  const std::string_view place = places[std::size_t(*place_)];
  place_.reset();  // once
  if (!mark_.empty()) std::ofstream(mark_).flush();
  switch (*act_) {
    case Act::spoil:
      return;
    case Act::raise:
      throw base::Error(base::Fault::bug,
                        fmt::format("thrown in {} because {} asks for it", place, variable));
    case Act::kill:
      ::kill(::getpid(), SIGKILL);
      return;
    case Act::hang:
      for (;;) ::pause();
    case Act::slow:
      std::this_thread::sleep_for(seconds_);
  }
}

}  // namespace parajoule::train
