/* Parajoule for programs: the energy of named regions, of every device of this node.
 *
 *     #include <parajoule.h>                                  cc program.c -lparajoule_meter
 *
 *     parajoule_region solve = parajoule_begin("solve");
 *     ...
 *     parajoule_end(solve);
 *
 * Under `parajoule measure` that is all: the regions stand in its table and record, with the energy
 * of each device. Without it the library meters by itself between `parajoule_start` and
 * `parajoule_stop`, and `parajoule_energy_of` tells what a region took.
 *
 * Regions may be nested, may overlap, and may begin in one thread and end in another. Begin and end
 * look at the clock and read no meter: microseconds. All functions may be called from any thread at
 * any time. The library installs no signal handlers, prints nothing and never ends the program. In
 * a process made by fork it begins anew: the parent goes on metering, the child does not.
 *
 * Functions give PARAJOULE_OK or what is wrong; `parajoule_error` says it in words. Measured and
 * modelled energies are never added to each other. Licence: Apache 2.0.
 */
#ifndef PARAJOULE_H
#define PARAJOULE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PARAJOULE_PUBLIC __attribute__((visibility("default")))
#else
#define PARAJOULE_PUBLIC
#endif

/* Of all that is promised here; a program built with a lower one runs with a higher one. */
#define PARAJOULE_API_VERSION 1

enum {
  PARAJOULE_OK = 0,
  PARAJOULE_USAGE = 2,       /* called as it may not be */
  PARAJOULE_ENVIRONMENT = 3, /* this machine does not allow it */
  PARAJOULE_BUG = 5          /* ours */
};

/* `parajoule 0.1.0` */
PARAJOULE_PUBLIC const char* parajoule_version(void);

/* One line on the last call of this thread that did not give PARAJOULE_OK. Valid until its next. */
PARAJOULE_PUBLIC const char* parajoule_error(void);

/* ---- metering without `parajoule measure` ---- */

typedef struct parajoule_options {
  size_t size;  /* sizeof(parajoule_options) */
  double hertz; /* how often the meters are read; 0: ten times a second; at most 1000 */
} parajoule_options;

/* Opens all meters of this node and reads them in a thread of its own. NULL: as usual. One process
 * a node should do so; N that do tell the node's energy N times. Under `parajoule measure` it does
 * nothing: the node has its meter. USAGE if it is metering already. */
PARAJOULE_PUBLIC int parajoule_start(const parajoule_options* options);

/* Reads once more and ends the thread: no meter is read after that. Regions that have ended can
 * still be asked for their energy. May be started again. Does nothing if it is not metering. */
PARAJOULE_PUBLIC int parajoule_stop(void);

/* Whether regions are written down: 0 no, 1 by this library, 2 by `parajoule measure`. */
PARAJOULE_PUBLIC int parajoule_active(void);

/* ---- regions ---- */

/* A region that has begun. 0: none; to end it does nothing, so that a program need not know
 * whether it is metered. */
typedef uint64_t parajoule_region;

/* `name`: any text of at most 1000 bytes, not empty; need not be UTF-8. 0 if nothing is metering,
 * and for a name that cannot be taken: then `parajoule_error` says why. */
PARAJOULE_PUBLIC parajoule_region parajoule_begin(const char* name);

/* The same, and reads the energy counters at once, here and at the end, in the calling thread. That
 * takes milliseconds where drivers are slow, and more for the first such region, which opens the
 * counters: `exact_seconds` of the result says how long. For regions shorter than the time between
 * readings. Under `parajoule measure` as `parajoule_begin`. */
PARAJOULE_PUBLIC parajoule_region parajoule_begin_exact(const char* name);

/* USAGE for a region that has ended already, or never began. */
PARAJOULE_PUBLIC int parajoule_end(parajoule_region region);

/* What waits until devices have done what they were given, such as cudaDeviceSynchronize: called
 * before the clock is looked at, in begin and end, in their thread. NULL: nothing is. It must not
 * call this library. */
PARAJOULE_PUBLIC int parajoule_synchronise_with(void (*synchronise)(void*), void* context);

/* ---- energies, without `parajoule measure` ---- */

typedef struct parajoule_result parajoule_result;

/* What a region that has ended took. May wait for the next reading. None while the region is open.
 * Free it with `parajoule_result_free`. */
PARAJOULE_PUBLIC int parajoule_energy_of(parajoule_region region, parajoule_result** result);
PARAJOULE_PUBLIC void parajoule_result_free(parajoule_result* result);

/* Lets go of an ended region and of the readings that only it needs. Those of a region that is kept
 * are about 2 MB an hour and source. */
PARAJOULE_PUBLIC int parajoule_forget(parajoule_region region);

typedef enum { PARAJOULE_MEASURED = 1, PARAJOULE_MODELLED = 2 } parajoule_label;

/* Of one source. Text lives as long as the result. */
typedef struct parajoule_energy {
  const char* device;      /* `package-0`, `GPU 3` */
  const char* device_kind; /* `cpu`, `memory`, `gpu`, `platform`, `node` */
  const char* covers;      /* what the number sees, word for word */
  const char* remarks;     /* gaps, standstill, shortness; lines; may be empty */
  parajoule_label label;
  int counts;             /* is in the total of its label: parts of what is counted are not */
  double joules;          /* not a number if there is none: never 0 for what was not metered */
  double resolution;      /* half width of a 95 % interval, joules: steps, ends, gaps */
  double bias;            /* the same, of the sensor: common to all of its type */
  double covered_seconds; /* of the region */
} parajoule_energy;

PARAJOULE_PUBLIC double parajoule_result_seconds(const parajoule_result* result);
/* Spent on reading at both ends of an exact region; 0 of others. Not part of its seconds. */
PARAJOULE_PUBLIC double parajoule_result_exact_seconds(const parajoule_result* result);
PARAJOULE_PUBLIC size_t parajoule_result_count(const parajoule_result* result);
/* USAGE if there are not so many. */
PARAJOULE_PUBLIC int parajoule_result_energy(const parajoule_result* result, size_t index,
                                             parajoule_energy* energy);
/* The sum over the sources of a label that count, with the half width of its 95 % interval, in
 * joules. Not a number if no source of that label has one. */
PARAJOULE_PUBLIC int parajoule_result_total(const parajoule_result* result, parajoule_label label,
                                            double* joules, double* half_width);

#ifdef __cplusplus
}
#endif

#endif
