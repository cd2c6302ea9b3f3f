# part(comm FILES threads.cpp USES base TESTS threads_test.cpp): one folder, one library, one test
# program. Files are listed, so a half-added one does not build silently. TORCH gives libtorch and
# its precompiled header; LINKS names what is not ours; SEQUENTIAL says that nothing in the folder
# knows of threads, so its tests are left out of builds for the thread sanitizer, where they could
# find nothing. Tests find files they read in the folder PARAJOULE_SOURCE.
function(part name)
  cmake_parse_arguments(PARSE_ARGV 1 part "TORCH;SEQUENTIAL" "" "FILES;USES;LINKS;TESTS")
  set(links ours ${part_USES} ${part_LINKS})
  if(part_TORCH)
    list(APPEND links torch_libraries)
  endif()
  if(part_FILES)
    add_library(${name} STATIC ${part_FILES})
    target_link_libraries(${name} PUBLIC ${links})
    part_headers(${name} "${part_TORCH}")
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${links})
  endif()
  if(part_SEQUENTIAL AND PARAJOULE_SANITIZE STREQUAL "thread")
    set(part_TESTS "")
  endif()
  if(part_TESTS AND PARAJOULE_TESTS)
    add_executable(${name}_test ${part_TESTS})
    target_link_libraries(${name}_test ${name} GTest::gmock GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE PARAJOULE_SOURCE="${PROJECT_SOURCE_DIR}")
    part_headers(${name}_test "${part_TORCH}")
    gtest_discover_tests(${name}_test DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${name})
  endif()
endfunction()

# Headers that take long to compile are compiled once: torch's for what uses torch, Google Test's for
# other test programs.
function(part_headers target torch)
  get_target_property(type ${target} TYPE)
  if(torch)
    precompiled(${target} torch_header torch_libraries <torch/torch.h>)
  elseif(type STREQUAL EXECUTABLE)
    precompiled(${target} test_header GTest::gmock <gmock/gmock.h> <gtest/gtest.h>)
    # In a precompiled header g++ 12 no longer knows its own headers from ours, and sees in its
    # string concatenation what is not there (GCC bug 105651).
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>)
  endif()
endfunction()

# precompiled(TARGET NAME LINKS HEADER...): TARGET takes the headers from the target NAME.
function(precompiled target name links)
  if(NOT TARGET ${name})
    file(WRITE ${PROJECT_BINARY_DIR}/${name}.cpp "")
    add_library(${name} STATIC ${PROJECT_BINARY_DIR}/${name}.cpp)
    target_link_libraries(${name} PRIVATE ours ${links})
    target_precompile_headers(${name} PRIVATE ${ARGN})
  endif()
  # A program must be compiled as the header was, which is made for libraries.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${name})
endfunction()

# mpi_test(comm_mpi_test RANKS 2 3 4 FILES mpi_test.cpp USES comm_mpi): one test program, which calls
# MPI_Init in a `main` of its own, started under mpirun once for each number of ranks, and once more
# with each of ARGUMENTS. TIMEOUT is in seconds. Labelled with the folder's name, `mpi` and LABELS.
function(mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "TIMEOUT" "RANKS;FILES;USES;ARGUMENTS;LABELS")
  if(NOT PARAJOULE_TESTS OR NOT PARAJOULE_MPI)
    return()
  endif()
  find_program(PARAJOULE_MPIRUN mpirun REQUIRED)
  set(PARAJOULE_MPIRUN_OPTIONS --oversubscribe --bind-to none CACHE STRING
    "how the tests call mpirun; MPICH's does not know --oversubscribe")
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 60)
  endif()
  add_executable(${name} ${test_FILES})
  target_link_libraries(${name} ours mpi ${test_USES} GTest::gmock GTest::gtest)
  part_headers(${name} "")
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(labels ${folder} mpi ${test_LABELS})
  foreach(ranks IN LISTS test_RANKS)
    foreach(argument IN ITEMS "" LISTS test_ARGUMENTS)
      string(MAKE_C_IDENTIFIER "${argument}" words)
      set(test ${name}.${ranks}_ranks${words})
      add_test(NAME ${test} COMMAND ${PARAJOULE_MPIRUN} ${PARAJOULE_MPIRUN_OPTIONS} -n ${ranks}
        $<TARGET_FILE:${name}> ${argument})
      set_tests_properties(${test} PROPERTIES
        PROCESSORS ${ranks} TIMEOUT ${test_TIMEOUT} LABELS "${labels}"
        ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
    endforeach()
  endforeach()
endfunction()

# fuzz(settings FILE settings_fuzz.cpp USES base): a libFuzzer target `fuzz_settings`, built when
# PARAJOULE_FUZZ is on (clang). Its inputs of old are kept in test/corpus/settings; `check` runs
# each from there for ten seconds, `check long` for a minute.
function(fuzz name)
  cmake_parse_arguments(PARSE_ARGV 1 fuzz "" "FILE" "USES")
  if(NOT PARAJOULE_FUZZ)
    return()
  endif()
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "PARAJOULE_FUZZ needs clang: use the preset `fuzz`")
  endif()
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/test/corpus/${name})
    message(FATAL_ERROR "fuzz target ${name} has no corpus: put at least one valid input into "
      "test/corpus/${name}")
  endif()
  add_executable(fuzz_${name} ${fuzz_FILE})
  target_link_libraries(fuzz_${name} ours ${fuzz_USES})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(fuzz_${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  if(NOT TARGET fuzz_targets)
    add_custom_target(fuzz_targets)
  endif()
  add_dependencies(fuzz_targets fuzz_${name})
endfunction()
