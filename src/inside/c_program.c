/* A program in C99 over the library as it is installed: prints what a region of it took, and fails
 * if a call does. */

#include <parajoule.h>
#include <stdio.h>

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, parajoule_error());
  return 1;
}

static int show(const parajoule_result* result) {
  size_t count = parajoule_result_count(result);
  if (count == 0) {
    fprintf(stderr, "not one source\n");
    return 1;
  }
  for (size_t i = 0; i < count; ++i) {
    parajoule_energy energy;
    if (parajoule_result_energy(result, i, &energy) != PARAJOULE_OK) return failed("energy");
    printf("%s %s: %g J; %s\n", energy.device,
           energy.label == PARAJOULE_MEASURED ? "measured" : "modelled", energy.joules,
           energy.covers);
  }
  return 0;
}

int main(void) {
  parajoule_options options = {sizeof options, 1000};
  if (parajoule_start(&options) != PARAJOULE_OK) return failed("start");
  parajoule_region region = parajoule_begin("a region");
  volatile double sum = 0;
  for (int i = 0; i < 1000000; ++i) sum += 1.0 / (1 + i);
  if (parajoule_end(region) != PARAJOULE_OK) return failed("end");
  parajoule_result* result = NULL;
  if (parajoule_energy_of(region, &result) != PARAJOULE_OK) return failed("energy_of");
  int status = show(result);
  parajoule_result_free(result);
  if (parajoule_stop() != PARAJOULE_OK) return failed("stop");
  return status;
}
