// How what a newer glibc brings is defined on top of an old one. A reference `old_NAME` is bound to
// the version of the processor's first release.
#pragma once

#if defined(__x86_64__)
#define FIRST "GLIBC_2.2.5"
#define STAT_VERSION 1
#elif defined(__aarch64__)
#define FIRST "GLIBC_2.17"
#define STAT_VERSION 0
#else
#error "say here which version of glibc was this processor's first"
#endif

#define HERE __attribute__((visibility("hidden")))
#define OLD(type, name, ...)           \
  extern type old_##name(__VA_ARGS__); \
  __asm__(".symver old_" #name "," #name "@" FIRST)
