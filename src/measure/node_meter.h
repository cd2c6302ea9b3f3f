#pragma once

// The meter of one node: its sources, the thread that reads them, and the record they go to.

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "measure/spans.h"
#include "meter/open.h"
#include "meter/sampler.h"
#include "store/record.h"

namespace parajoule::measure {

/// One at a time. Sources are opened while the record is made, and read once before the constructor
/// returns: what comes after it is metered.
class NodeMeter {
 public:
  struct Options {
    meter::Options sources = {};
    double hertz = 10;
    store::Record::Options record = {};
    std::vector<store::Setting> settings = {};
    std::vector<std::filesystem::path> wall = {};  ///< files of wall meters, read at the end
  };

  /// Where the folder of records cannot be written, the record is made in the folder of temporary
  /// files, and `troubles` says so. Throws Error{environment} if there is no place at all.
  explicit NodeMeter(Options options);
  ~NodeMeter();

  /// On the clock of the record's rows.
  base::Seconds now() const { return record_->now(); }
  std::chrono::steady_clock::time_point start() const { return record_->start(); }

  /// A span of the node that the record shall name: `command`, `idle`. One that has only begun is
  /// for a reader of the record of a meter that was killed.
  void begin(std::string_view name, base::Seconds at);
  void add(std::string_view name, meter::Span span);
  void add(store::Setting setting);
  void add(std::span<const store::Phase> phases);
  void note(store::Severity severity, std::string text);

  /// Reads all sources once more and keeps it. Under Slurm, asks it for its own count.
  void stop();
  /// The last call. Takes in the files of wall meters.
  void finish(store::State state, std::string_view why);

  /// The last call instead: there was nothing to measure, so no record is left.
  void discard();

  const std::filesystem::path& path() const { return record_->path(); }
  const std::string& id() const { return record_->id(); }

  /// What a person must be told of this record, a line each.
  const std::vector<std::string>& troubles() const { return troubles_; }

 private:
  void open_record(store::Record::Options options);
  template <class Attempt>
  void in_spare_folders(std::string why, Attempt&& attempt);
  void tell(const meter::Opened& opened);
  void join(const std::filesystem::path& file);
  template <class Call>
  void attempt(Call&& call);

  std::vector<std::filesystem::path> wall_;
  int sources_ = 0;  ///< in the record

  std::unique_ptr<store::Record> record_;
  std::vector<std::string> troubles_;
  std::unique_ptr<meter::Sampler> sampler_;  ///< last, so it stops first
};

}  // namespace parajoule::measure
