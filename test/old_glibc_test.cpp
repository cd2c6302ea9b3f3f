// The functions that stand in for a newer glibc's, in a program that is linked with them.

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace {

using namespace std::chrono_literals;

// Constructors run once, and in order, before main.
int constructed = 0;
const struct Early {
  Early() { ++constructed; }
} early;

TEST(OldGlibc, ConstructorsRanOnce) { EXPECT_EQ(constructed, 1); }

void thrower(int depth) {
  if (depth == 0) throw std::runtime_error("from below");
  const std::string on_the_way(100, 'x');
  thrower(depth - 1);
}

TEST(OldGlibc, ExceptionsFindTheirHandler) {
  for (int i = 0; i < 100; ++i) EXPECT_THROW(thrower(20), std::runtime_error);
  std::thread([] { EXPECT_THROW(thrower(5), std::runtime_error); }).join();
}

TEST(OldGlibc, AWaitEndsByTimeAndByNotice) {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(condition.wait_for(lock, 20ms), std::cv_status::timeout);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 20ms);
  const auto past = std::chrono::steady_clock::now() - 1h;
  EXPECT_EQ(condition.wait_until(lock, past), std::cv_status::timeout);

  bool ready = false;
  std::thread other([&] {
    const std::lock_guard guard(mutex);
    ready = true;
    condition.notify_one();
  });
  EXPECT_TRUE(condition.wait_for(lock, 1min, [&] { return ready; }));
  lock.unlock();
  other.join();
}

TEST(OldGlibc, FilesAreSeen) {
  struct stat seen {};
  EXPECT_EQ(::stat("/", &seen), 0);
  EXPECT_TRUE(S_ISDIR(seen.st_mode));
  EXPECT_EQ(::lstat("/proc/self", &seen), 0);
  EXPECT_TRUE(S_ISLNK(seen.st_mode));
  EXPECT_EQ(::fstat(0, &seen), 0);
  EXPECT_NE(::stat("/no/such/file", &seen), 0);
  EXPECT_GT(std::filesystem::file_size("/proc/self/exe"), 100000U);
}

TEST(OldGlibc, LibrariesOpen) {
  void* library = dlopen("libm.so.6", RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  auto* cosine = reinterpret_cast<double (*)(double)>(dlsym(library, "cos"));
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0), 1);
  EXPECT_EQ(dlclose(library), 0);
  EXPECT_EQ(dlopen("no_such_library.so", RTLD_NOW), nullptr);
  EXPECT_NE(std::string(dlerror()).find("no_such_library"), std::string::npos);
}

TEST(OldGlibc, NumbersAreRight) {
  volatile double two = 2;
  EXPECT_EQ(std::pow(two, 10), 1024);
  EXPECT_EQ(std::exp(two * 0), 1);
  EXPECT_EQ(std::log(two / 2), 0);
  EXPECT_EQ(std::hypot(3 * two, 4 * two), 10);
  std::random_device device;
  EXPECT_FALSE(device() == device() && device() == device() && device() == device());
}

}  // namespace
