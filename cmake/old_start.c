// The same for how a program begins: of no use to a library.
#include "old_glibc.h"

// 2.34: runs the program's constructors itself; before, the program brought a function for that.
typedef void constructor(int, char**, char**);
extern constructor* __preinit_array_start[] HERE;
extern constructor* __preinit_array_end[] HERE;
extern constructor* __init_array_start[] HERE;
extern constructor* __init_array_end[] HERE;
extern void _init(void);
static void construct(int count, char** arguments, char** environment) {
  for (constructor** act = __preinit_array_start; act < __preinit_array_end; ++act)
    (*act)(count, arguments, environment);
  _init();
  for (constructor** act = __init_array_start; act < __init_array_end; ++act)
    (*act)(count, arguments, environment);
}
typedef int program(int, char**, char**);
OLD(int, __libc_start_main, program*, int, char**, constructor*, void (*)(void), void (*)(void),
    void*);
HERE int __libc_start_main(program* act, int count, char** arguments, constructor* begin,
                           void (*end)(void), void (*unload)(void), void* stack) {
  (void)begin;
  return old___libc_start_main(act, count, arguments, construct, end, unload, stack);
}
