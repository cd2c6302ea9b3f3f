#include "train/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <exception>
#include <system_error>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::train {
namespace {

namespace fs = std::filesystem;
using base::Archive;
using base::Error;
using base::Fault;

constexpr std::string_view extension = ".ckpt";
constexpr std::string_view list_name = "checkpoint.parts";  // (ranks, 2): bytes, checksum
constexpr std::size_t kept = 2;
constexpr std::size_t told_length = 3;

/// The number of `120.ckpt`, `120.rank3.ckpt` and their temporary files.
std::optional<std::int64_t> number_of(const fs::path& file) {
  const std::string name = file.filename().string();
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), number);
  const std::string_view rest(end, name.data() + name.size());
  if (failure != std::errc() || !rest.starts_with('.')) return std::nullopt;
  return number;
}

bool is_shared(const fs::path& file) {
  const auto number = number_of(file);
  return number && file.filename() == fmt::format("{}{}", *number, extension);
}

/// Numbers of the checkpoints of which the file that makes them count is there, newest first.
std::vector<std::int64_t> checkpoints_in(const fs::path& folder) {
  std::vector<std::int64_t> existing;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (is_shared(entry.path())) existing.push_back(*number_of(entry.path()));
  }
  std::ranges::sort(existing, std::greater());
  return existing;
}

/// The numbers of a part, as they stand in the list of the file that makes it count.
std::array<std::int64_t, 2> numbers_of(const Written& part) {
  return {std::int64_t(part.bytes), std::int64_t(part.checksum)};
}

/// Takes the list of the parts out of the archive.
std::vector<std::array<std::int64_t, 2>> take_list(Archive& shared, const fs::path& file) {
  const auto entry = shared.entries().find(list_name);
  if (entry == shared.entries().end() || entry->second.element != base::Element::int64 ||
      entry->second.shape.size() != 2 || entry->second.shape[1] != 2) {
    throw Error(Fault::input, fmt::format("{} does not list the parts of the ranks, so it is no "
                                          "checkpoint of a run",
                                          file.string()));
  }
  std::vector<std::array<std::int64_t, 2>> list(std::size_t(entry->second.shape[0]));
  if (!list.empty())
    std::memcpy(list.data(), entry->second.bytes.data(), entry->second.bytes.size());
  shared.entries().erase(entry);
  return list;
}

}  // namespace

Checkpoints::Checkpoints(fs::path folder, comm::Communicator& group)
    : folder_(std::move(folder)),
      group_(group),
      told_(group.allocate(base::Element::int64, told_length * std::size_t(group.size()))) {
  std::error_code failure;
  fs::create_directories(folder_, failure);
  if (!failure) return;
  throw Error(Fault::environment,
              fmt::format("cannot make the folder of the checkpoints {}: {}; name another one with "
                          "the key `checkpoints`",
                          folder_.string(), failure.message()));
}

fs::path Checkpoints::shared_file(std::int64_t number) const {
  return folder_ / fmt::format("{}{}", number, extension);
}

fs::path Checkpoints::own_file(std::int64_t number, int rank) const {
  return folder_ / fmt::format("{}.rank{}{}", number, rank, extension);
}

/// Each rank does its work, then all learn whether all have done it, and go on or throw together.
std::vector<Checkpoints::Numbers> Checkpoints::together(const std::function<Numbers()>& work) {
  const auto told = told_.as<std::int64_t>();
  const auto mine = told.subspan(told_length * std::size_t(group_.rank()), told_length);
  std::ranges::fill(mine, 0);
  std::exception_ptr failure;
  try {
    const Numbers numbers = work();
    mine[0] = 1;
    std::ranges::copy(numbers, mine.begin() + 1);
  } catch (...) {
    failure = std::current_exception();
  }
  group_.all_gather(told_);
  if (failure) std::rethrow_exception(failure);
  std::vector<Numbers> all;
  for (std::size_t at = 0; at < told.size(); at += told_length) {
    if (told[at] == 1) {
      all.push_back({told[at + 1], told[at + 2]});
      continue;
    }
    throw Error(Fault::peer, fmt::format("rank {} failed at a checkpoint in {}; its own line says "
                                         "why",
                                         at / told_length, folder_.string()));
  }
  return all;
}

void Checkpoints::save(Checkpoint checkpoint) {
  if (last_ == checkpoint.number) return;
  try {
    write(checkpoint);
  } catch (...) {
    std::error_code ignored;  // there may be no such file, and the first failure counts
    fs::remove(own_file(checkpoint.number, group_.rank()), ignored);
    throw;
  }
  last_ = checkpoint.number;
}

void Checkpoints::write(Checkpoint& checkpoint) {
  const bool ranks_differ = group_.maximum(checkpoint.own ? 1.0 : 0.0) > 0;
  std::vector<Numbers> parts = together([&] {
    if (!ranks_differ) return Numbers{};
    const Archive nothing;
    return numbers_of(write_archive(own_file(checkpoint.number, group_.rank()),
                                    checkpoint.own ? *checkpoint.own : nothing));
  });
  if (!ranks_differ) parts.clear();
  before_commit_();
  together([&] {
    if (group_.rank() == 0) commit(checkpoint, parts);
    return Numbers{};
  });
}

void Checkpoints::commit(Checkpoint& checkpoint, const std::vector<Numbers>& parts) const {
  const auto existing = checkpoints_in(folder_);
  if (!existing.empty() && existing.front() > checkpoint.number) {
    throw Error(Fault::input,
                fmt::format("{} holds the checkpoint {}, later than this one, {}, so it is "
                            "another run's: name another folder with the key `checkpoints`",
                            folder_.string(), existing.front(), checkpoint.number));
  }
  std::vector<std::int64_t> numbers;
  for (const Numbers& part : parts) numbers.insert(numbers.end(), part.begin(), part.end());
  checkpoint.shared.put(list_name, base::Vector(std::span(numbers)),
                        {std::int64_t(parts.size()), 2});
  write_archive(shared_file(checkpoint.number), checkpoint.shared);
  remove_old();
}

void Checkpoints::remove_old() const {
  const std::vector<std::int64_t> existing = checkpoints_in(folder_);
  const auto keep = std::span(existing).first(std::min(existing.size(), kept));
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const auto number = number_of(entry.path());
    const fs::path last_name = entry.path().extension();
    if (!number || (last_name != extension && last_name != ".part")) continue;
    if (std::ranges::find(keep, *number) == keep.end()) old.push_back(entry.path());
  }
  // What makes a set count goes first: a set is complete or does not count at every moment.
  std::ranges::stable_partition(old, is_shared);
  std::error_code ignored;  // the next time will do
  for (const fs::path& file : old) fs::remove(file, ignored);
}

Checkpoints::Restored Checkpoints::read(std::int64_t number) const {
  Restored restored;
  restored.checkpoint.number = number;
  restored.checkpoint.shared = read_archive(shared_file(number));
  const auto parts = take_list(restored.checkpoint.shared, shared_file(number));
  restored.ranks_with_own = int(parts.size());
  if (group_.rank() < restored.ranks_with_own) {
    restored.checkpoint.own = read_archive(own_file(number, group_.rank()));
  }
  return restored;
}

void Checkpoints::check(std::int64_t number) const {
  Archive shared = read_archive(shared_file(number));
  const auto parts = take_list(shared, shared_file(number));
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    const fs::path file = own_file(number, int(rank));
    if (numbers_of(verify_archive(file)) == parts[rank]) continue;
    throw Error(Fault::input, fmt::format("{} is not the file that {} lists", file.string(),
                                          shared_file(number).string()));
  }
}

std::optional<std::int64_t> Checkpoints::newest_whole(std::vector<std::string>& skipped) const {
  std::vector<fs::path> broken;
  for (std::int64_t number : checkpoints_in(folder_)) {
    try {
      check(number);
    } catch (const Error& failure) {
      if (failure.fault != Fault::input) throw;
      skipped.push_back(failure.what());
      broken.push_back(shared_file(number));
      continue;
    }
    for (const fs::path& file : broken) fs::rename(file, file.string() + ".broken");
    return number;
  }
  if (broken.empty()) return std::nullopt;
  throw Error(Fault::input,
              fmt::format("none of the checkpoints in {} is whole ({}): move the folder away to "
                          "start anew",
                          folder_.string(), skipped.front()));
}

std::optional<Checkpoints::Restored> Checkpoints::restore() {
  std::vector<std::string> skipped;
  const auto found = together([&] {
    const auto number = group_.rank() == 0 ? newest_whole(skipped) : std::nullopt;
    return number ? Numbers{1, *number} : Numbers{};
  });
  if (found.front()[0] == 0) return std::nullopt;
  Restored restored;
  together([&] {
    restored = read(found.front()[1]);
    return Numbers{};
  });
  restored.skipped = std::move(skipped);
  last_ = restored.checkpoint.number;
  return restored;
}

}  // namespace parajoule::train
