// Any two files may be given for a pair of pictures and labels: they are refused by an error, or
// become a data set.

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "data/idx.h"

namespace {

using namespace parajoule;

/// A file in memory.
class File {
 public:
  explicit File(std::span<const std::uint8_t> bytes) : number_(memfd_create("fuzz", 0)) {
    if (number_ < 0 || write(number_, bytes.data(), bytes.size()) != ssize_t(bytes.size()))
      throw std::runtime_error("no file in memory");
  }
  ~File() { close(number_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_;
};

}  // namespace

/// The first byte tells how many of the rest are the labels'.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  if (count == 0) return 0;
  const std::span<const std::uint8_t> rest(bytes + 1, count - 1);
  const std::size_t labels = std::min<std::size_t>(bytes[0], rest.size());
  const File label_file(rest.first(labels));
  const File picture_file(rest.subspan(labels));
  try {
    const data::Stored::Content content =
        data::read_idx_pair(picture_file.path(), label_file.path(), {"a", "b", "c"});
    base::ensure(content.pixels.size() == content.labels.size() * content.shape.count(),
                 "each picture has its label");
  } catch (const base::Error& error) {
    if (error.fault != base::Fault::input) throw;
  }
  return 0;
}
