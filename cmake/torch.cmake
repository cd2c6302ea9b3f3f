# libtorch: Debian's, or a newer one by CMAKE_PREFIX_PATH (the folder `torch` of a wheel will do).
# Headers and two libraries are taken directly; the CMake package drags in what we do not need.

find_path(TORCH_INCLUDE torch/csrc/autograd/variable.h PATH_SUFFIXES include REQUIRED)
find_path(TORCH_API_INCLUDE torch/torch.h HINTS ${TORCH_INCLUDE}/torch/csrc/api/include REQUIRED)
find_library(TORCH_CPU torch_cpu REQUIRED)
find_library(TORCH_C10 c10 REQUIRED)

add_library(torch_libraries INTERFACE)
target_include_directories(torch_libraries SYSTEM INTERFACE ${TORCH_INCLUDE} ${TORCH_API_INCLUDE})
target_link_libraries(torch_libraries INTERFACE ${TORCH_CPU} ${TORCH_C10})
get_filename_component(torch_folder ${TORCH_CPU} DIRECTORY)
target_link_options(torch_libraries INTERFACE -Wl,-rpath,${torch_folder})
# clang rejects libtorch 1.13's headers in C++20 unless this one comes first.
target_compile_options(torch_libraries INTERFACE
  $<$<CXX_COMPILER_ID:Clang>:SHELL:-include ATen/core/ivalue.h>)
