# What we build on, as targets. Debian's package names stand in .ci/packages.

find_package(Threads REQUIRED)

# One set of flags for everything of ours. Contraction to fused multiply-add is off, so that equal
# inputs give equal bits on every processor. Nobody reads errno or the flags of floating-point
# exceptions, and without them roots and choices vectorise; no value changes by that.
add_library(ours INTERFACE)
target_compile_options(ours INTERFACE -Wall -Wextra -Werror -ffp-contract=off
  -fno-math-errno -fno-trapping-math
  # g++ 12 sees an overflow in fmt 9's headers at -O3 that is not there.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
  # And an overlap in its own string concatenation (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
target_compile_definitions(ours INTERFACE TOML_HEADER_ONLY=1
                           "PARAJOULE_VERSION=\"${PROJECT_VERSION}\"")
target_include_directories(ours INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(ours INTERFACE Threads::Threads)

# Text is formatted by headers alone, so that programs run where fmt is not installed. What is built
# for sanitizers runs where it is built: there the library halves the time of compiling.
if(PARAJOULE_SANITIZE)
  find_package(fmt REQUIRED)
  target_link_libraries(ours INTERFACE fmt::fmt)
else()
  target_compile_definitions(ours INTERFACE FMT_HEADER_ONLY)
endif()

# Hot loops are compiled for several instruction sets and chosen at start. The resolver runs before
# a sanitizer is ready, so sanitized builds have one version. So have those of clang: of a function
# whose declaration stands in a header, clang 16 makes one version, for the first set of the list,
# which crashes on processors without it.
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(PARAJOULE_CLONES "")
  message(STATUS "clang: hot loops for the plain instruction set only; g++ makes faster ones")
else()
  set(PARAJOULE_CLONES "__attribute__((target_clones(\"avx512f\",\"avx2\",\"default\")))")
endif()
if(PARAJOULE_SANITIZE)
  string(REPLACE "," ";" sanitizers "${PARAJOULE_SANITIZE}")
  foreach(sanitizer IN LISTS sanitizers)
    target_compile_options(ours INTERFACE -fsanitize=${sanitizer})
    target_link_options(ours INTERFACE -fsanitize=${sanitizer})
  endforeach()
  target_compile_options(ours INTERFACE -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # The address sanitizer stops at null and beyond an object by itself, and nothing here casts down a
  # class without asking. Without these three a test file compiles in two thirds of the time.
  if("undefined" IN_LIST sanitizers)
    target_compile_options(ours INTERFACE -fno-sanitize=null,object-size,vptr)
  endif()
  # With a sanitizer's checks in between, g++ 12 no longer sees that the library's own code (regex,
  # function) sets what it reads. The builds without one still look for what is not set.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(ours INTERFACE -Wno-maybe-uninitialized)
  endif()
  target_compile_definitions(ours INTERFACE PARAJOULE_VECTORISED=)
else()
  target_compile_definitions(ours INTERFACE "PARAJOULE_VECTORISED=${PARAJOULE_CLONES}")
endif()

# Fuzz targets learn which branches an input took.
if(PARAJOULE_FUZZ)
  target_compile_options(ours INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_package(ZLIB REQUIRED)

# SQLite, statically: a record can be read on a machine that has none.
find_path(SQLITE_INCLUDE sqlite3.h REQUIRED)
find_library(SQLITE_ARCHIVE libsqlite3.a REQUIRED)
add_library(sqlite INTERFACE)
target_include_directories(sqlite SYSTEM INTERFACE ${SQLITE_INCLUDE})
target_link_libraries(sqlite INTERFACE ${SQLITE_ARCHIVE} ${CMAKE_DL_LIBS} m)

# Switching between stacks, for virtual ranks; statically, like SQLite.
find_path(BOOST_INCLUDE boost/context/detail/fcontext.hpp REQUIRED)
find_library(BOOST_CONTEXT_ARCHIVE libboost_context.a REQUIRED)
add_library(boost_context INTERFACE)
target_include_directories(boost_context SYSTEM INTERFACE ${BOOST_INCLUDE})
target_link_libraries(boost_context INTERFACE ${BOOST_CONTEXT_ARCHIVE})

# Statistics: headers alone. Long double is what x86 has, quad precision is not wanted.
find_path(BOOST_MATH_INCLUDE boost/math/distributions/non_central_t.hpp REQUIRED)
find_package(Eigen3 3.3 REQUIRED NO_MODULE)
get_target_property(EIGEN_INCLUDE Eigen3::Eigen INTERFACE_INCLUDE_DIRECTORIES)
add_library(statistics INTERFACE)
target_include_directories(statistics SYSTEM INTERFACE ${BOOST_MATH_INCLUDE} ${EIGEN_INCLUDE})
target_compile_definitions(statistics INTERFACE EIGEN_MPL2_ONLY BOOST_MATH_DISABLE_FLOAT128)

# Pictures, for data/.
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)

if(PARAJOULE_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

if(PARAJOULE_TRAIN)
  include(torch)
endif()

# For training, and for what is measured of communication alone.
if(PARAJOULE_TRAIN OR PARAJOULE_BENCH)
  set(PARAJOULE_MPI ON)
  find_package(MPI REQUIRED COMPONENTS C)
  add_library(mpi INTERFACE)
  target_include_directories(mpi SYSTEM INTERFACE ${MPI_C_INCLUDE_DIRS})
  target_compile_definitions(mpi INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_link_libraries(mpi INTERFACE ${MPI_C_LIBRARIES})
endif()
