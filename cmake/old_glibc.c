// Lets a program that was linked on a newer system run where glibc is 2.28: clusters are old. What
// came into glibc later, or was given a new version there, is defined here, for this program only,
// on top of what 2.28 has. cmake/light.cmake links it; .ci/light checks that nothing is left over.
//
// Names are glibc's. Shared libraries take it too; what only a program needs is in old_start.c.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "old_glibc.h"

// 2.29: other handling of errno.
OLD(double, exp, double);
OLD(double, log, double);
OLD(double, pow, double, double);
HERE double exp(double x) { return old_exp(x); }
HERE double log(double x) { return old_log(x); }
HERE double pow(double x, double y) { return old_pow(x, y); }

// 2.35: the same.
OLD(double, hypot, double, double);
HERE double hypot(double x, double y) { return old_hypot(x, y); }

// 2.33: functions now, calls of these before.
OLD(int, __xstat, int, const char*, struct stat*);
OLD(int, __lxstat, int, const char*, struct stat*);
OLD(int, __fxstat, int, int, struct stat*);
HERE int stat(const char* path, struct stat* to) { return old___xstat(STAT_VERSION, path, to); }
HERE int lstat(const char* path, struct stat* to) { return old___lxstat(STAT_VERSION, path, to); }
HERE int fstat(int file, struct stat* to) { return old___fxstat(STAT_VERSION, file, to); }
OLD(int, __xstat64, int, const char*, struct stat64*);
OLD(int, __lxstat64, int, const char*, struct stat64*);
OLD(int, __fxstat64, int, int, struct stat64*);
HERE int stat64(const char* path, struct stat64* to) {
  return old___xstat64(STAT_VERSION, path, to);
}
HERE int lstat64(const char* path, struct stat64* to) {
  return old___lxstat64(STAT_VERSION, path, to);
}
HERE int fstat64(int file, struct stat64* to) { return old___fxstat64(STAT_VERSION, file, to); }

// 2.34: moved from libdl and libpthread into libc.
OLD(void*, dlopen, const char*, int);
OLD(void*, dlsym, void*, const char*);
OLD(int, dlclose, void*);
OLD(char*, dlerror, void);
HERE void* dlopen(const char* name, int mode) { return old_dlopen(name, mode); }
HERE void* dlsym(void* library, const char* name) { return old_dlsym(library, name); }
HERE int dlclose(void* library) { return old_dlclose(library); }
HERE char* dlerror(void) { return old_dlerror(); }

typedef void* body(void*);
typedef void end(void*);
OLD(int, pthread_create, pthread_t*, const pthread_attr_t*, body*, void*);
OLD(int, pthread_join, pthread_t, void**);
OLD(int, pthread_detach, pthread_t);
OLD(int, pthread_once, pthread_once_t*, void (*)(void));
OLD(int, pthread_key_create, pthread_key_t*, end*);
OLD(int, pthread_key_delete, pthread_key_t);
OLD(void*, pthread_getspecific, pthread_key_t);
OLD(int, pthread_setspecific, pthread_key_t, const void*);
OLD(int, pthread_sigmask, int, const sigset_t*, sigset_t*);
OLD(int, pthread_mutex_trylock, pthread_mutex_t*);
OLD(int, pthread_mutexattr_init, pthread_mutexattr_t*);
OLD(int, pthread_mutexattr_destroy, pthread_mutexattr_t*);
OLD(int, pthread_mutexattr_settype, pthread_mutexattr_t*, int);
OLD(int, pthread_rwlock_rdlock, pthread_rwlock_t*);
OLD(int, pthread_rwlock_wrlock, pthread_rwlock_t*);
OLD(int, pthread_rwlock_unlock, pthread_rwlock_t*);
HERE int pthread_create(pthread_t* made, const pthread_attr_t* with, body* act, void* on) {
  return old_pthread_create(made, with, act, on);
}
HERE int pthread_join(pthread_t thread, void** result) { return old_pthread_join(thread, result); }
HERE int pthread_detach(pthread_t thread) { return old_pthread_detach(thread); }
HERE int pthread_once(pthread_once_t* once, void (*act)(void)) {
  return old_pthread_once(once, act);
}
HERE int pthread_key_create(pthread_key_t* key, end* act) {
  return old_pthread_key_create(key, act);
}
HERE int __pthread_key_create(pthread_key_t* key, end* act) {
  return old_pthread_key_create(key, act);
}
HERE int pthread_key_delete(pthread_key_t key) { return old_pthread_key_delete(key); }
HERE void* pthread_getspecific(pthread_key_t key) { return old_pthread_getspecific(key); }
#pragma GCC diagnostic push
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // the pointer is kept, not followed
#endif
HERE int pthread_setspecific(pthread_key_t key, const void* to) {
  return old_pthread_setspecific(key, to);
}
#pragma GCC diagnostic pop
HERE int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) {
  return old_pthread_sigmask(how, set, before);
}
HERE int pthread_mutex_trylock(pthread_mutex_t* mutex) { return old_pthread_mutex_trylock(mutex); }
HERE int pthread_mutexattr_init(pthread_mutexattr_t* kind) {
  return old_pthread_mutexattr_init(kind);
}
HERE int pthread_mutexattr_destroy(pthread_mutexattr_t* kind) {
  return old_pthread_mutexattr_destroy(kind);
}
HERE int pthread_mutexattr_settype(pthread_mutexattr_t* kind, int type) {
  return old_pthread_mutexattr_settype(kind, type);
}
HERE int pthread_rwlock_rdlock(pthread_rwlock_t* lock) { return old_pthread_rwlock_rdlock(lock); }
HERE int pthread_rwlock_wrlock(pthread_rwlock_t* lock) { return old_pthread_rwlock_wrlock(lock); }
HERE int pthread_rwlock_unlock(pthread_rwlock_t* lock) { return old_pthread_rwlock_unlock(lock); }

// 2.30: waiting by another clock than the condition's. glibc's own, where it has one: setting the
// wall clock must not change how long is waited. Else the wait is as long, by the wall clock.
HERE int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                const struct timespec* until) {
  typedef int Wait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
  Wait* const newer = (Wait*)old_dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
  if (newer) return newer(condition, mutex, clock, until);
  struct timespec now, real;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  const int64_t second = 1000000000;
  int64_t nanoseconds = real.tv_nsec + until->tv_nsec - now.tv_nsec;
  real.tv_sec += until->tv_sec - now.tv_sec + nanoseconds / second;
  nanoseconds %= second;
  if (nanoseconds < 0) {
    nanoseconds += second;
    --real.tv_sec;
  }
  if (real.tv_sec < 0) return ETIMEDOUT;
  real.tv_nsec = nanoseconds;
  return pthread_cond_timedwait(condition, mutex, &real);
}

// 2.32: a hint that atomic operations may be spared. Never spared here.
HERE char __libc_single_threaded = 0;

// 2.36.
HERE uint32_t arc4random(void) {
  uint32_t number;
  if (getrandom(&number, sizeof number, 0) != sizeof number) abort();
  return number;
}

// 2.35: where an exception's tables are found. The same by the loop that compilers used before.
struct search {
  uintptr_t at;
  struct dl_find_object* found;
};
static int look_in(struct dl_phdr_info* object, size_t size, void* search_) {
  (void)size;
  struct search* search = search_;
  uintptr_t tables = 0, begin = UINTPTR_MAX, end = 0;
  int inside = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    const uintptr_t from = object->dlpi_addr + part->p_vaddr, to = from + part->p_memsz;
    if (part->p_type == PT_GNU_EH_FRAME) tables = from;
    if (part->p_type != PT_LOAD) continue;
    if (from < begin) begin = from;
    if (to > end) end = to;
    inside |= from <= search->at && search->at < to;
  }
  if (!inside || !tables) return 0;
  search->found->dlfo_map_start = (void*)begin;
  search->found->dlfo_map_end = (void*)end;
  search->found->dlfo_eh_frame = (void*)tables;
  return 1;
}
HERE int _dl_find_object(void* at, struct dl_find_object* found) {
  *found = (struct dl_find_object){0};
  struct search search = {(uintptr_t)at, found};
  return dl_iterate_phdr(look_in, &search) ? 0 : -1;
}
