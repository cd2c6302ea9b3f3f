#include "meter/kernel_file.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"

namespace parajoule::meter {

namespace {

Failure failure(int code) { return {code, std::strerror(code)}; }

/// The number at the front of `text`, which is cut off.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return {};
  text.remove_prefix(std::size_t(end - text.data()));
  return number;
}

}  // namespace

KernelFile::KernelFile(const std::filesystem::path& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
      error_(descriptor_ < 0 ? errno : 0) {}

KernelFile::KernelFile(KernelFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      error_(std::exchange(other.error_, EBADF)) {}

KernelFile& KernelFile::operator=(KernelFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(error_, other.error_);
  return *this;
}

KernelFile::~KernelFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::variant<std::string, Failure> KernelFile::text() const {
  if (descriptor_ < 0) return failure(error_);
  std::string text;
  std::array<char, 16384> piece;
  while (true) {
    const ssize_t count = ::pread(descriptor_, piece.data(), piece.size(), off_t(text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure(errno);
    if (count == 0) return text;
    text.append(piece.data(), std::size_t(count));
  }
}

std::variant<std::uint64_t, Failure> KernelFile::number() const {
  if (descriptor_ < 0) return failure(error_);
  std::array<char, 64> piece;  // more than a number and its newline: one call gives all of it
  ssize_t count = 0;
  do count = ::pread(descriptor_, piece.data(), piece.size(), 0);
  while (count < 0 && errno == EINTR);
  if (count < 0) return failure(errno);
  const std::string_view digits = base::trimmed(std::string_view(piece.data(), std::size_t(count)));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size())
    return Failure{0, fmt::format("'{}' is not a number", digits.substr(0, 40))};
  return number;
}

std::optional<std::string> line_of(const std::filesystem::path& path) {
  const auto read = KernelFile(path).text();
  const auto* text = std::get_if<std::string>(&read);
  if (!text) return {};
  return std::string(base::trimmed(text->substr(0, text->find('\n'))));
}

std::optional<std::uint64_t> number_in(const std::filesystem::path& path) {
  const auto read = KernelFile(path).number();
  const auto* number = std::get_if<std::uint64_t>(&read);
  return number ? std::optional(*number) : std::nullopt;
}

std::string ranges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text +=
        last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return text;
}

std::vector<int> numbers_of(std::string_view ranges) {
  constexpr int most = 8192;  // processors a kernel can be built for
  std::vector<int> numbers;
  while (!ranges.empty()) {
    const auto first = take_number(ranges);
    auto last = first;
    if (ranges.starts_with('-')) {
      ranges.remove_prefix(1);
      last = take_number(ranges);
    }
    const bool in_order = first && last && *first <= *last && *last < most &&
                          (numbers.empty() || *first > numbers.back());
    if (!in_order || !(ranges.empty() || ranges.starts_with(','))) return {};
    for (int number = *first; number <= *last; ++number) numbers.push_back(number);
    if (!ranges.empty()) ranges.remove_prefix(1);
  }
  return numbers;
}

}  // namespace parajoule::meter
