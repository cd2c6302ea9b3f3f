// A full disk for one kind of file. Preloaded into a program, it lets the files whose path holds
// FULL_DISK_MATCH grow by FULL_DISK_BYTES bytes in all and then answers as a full disk does.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long long written;

static int matches(int file) {
  const char* match = getenv("FULL_DISK_MATCH");
  char link[64];
  char path[PATH_MAX];
  if (!match) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, match) != NULL;
}

// How many of `count` bytes there is room for; -1 and ENOSPC if for none.
static ssize_t room(int file, size_t count) {
  if (count == 0 || !matches(file)) return (ssize_t)count;
  const long long left = atoll(getenv("FULL_DISK_BYTES")) - written;
  if (left <= 0) {
    errno = ENOSPC;
    return -1;
  }
  const ssize_t some = (long long)count < left ? (ssize_t)count : (ssize_t)left;
  written += some;
  return some;
}

ssize_t write(int file, const void* bytes, size_t count) {
  const ssize_t some = room(file, count);
  return some < 0 ? some : syscall(SYS_write, file, bytes, (size_t)some);
}

ssize_t pwrite(int file, const void* bytes, size_t count, off_t at) {
  const ssize_t some = room(file, count);
  return some < 0 ? some : syscall(SYS_pwrite64, file, bytes, (size_t)some, at);
}

ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t at) {
  return pwrite(file, bytes, count, at);
}
