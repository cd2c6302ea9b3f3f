# light(parajoule): an executable or a library of one file that needs nothing newer than glibc 2.28 and no library
# that a cluster's login node may lack: everything else is linked statically or opened by dlopen. A
# test, light.parajoule, holds it to that.
function(light target)
  if(PARAJOULE_SANITIZE)
    return()
  endif()
  if(NOT TARGET old_glibc)
    add_library(old_glibc OBJECT ${PROJECT_SOURCE_DIR}/cmake/old_glibc.c)
    add_library(old_start OBJECT ${PROJECT_SOURCE_DIR}/cmake/old_start.c)
    foreach(old old_glibc old_start)
      target_compile_options(${old} PRIVATE -Wall -Wextra -Werror -fPIC)
    endforeach()
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)
    target_link_libraries(${target} old_start)
  endif()
  # Before 2.34 threads and dlopen lay in libraries of their own; newer systems keep empty ones.
  target_link_libraries(${target} old_glibc -Wl,--push-state,--no-as-needed
    -l:libpthread.so.0 -l:libdl.so.2 -Wl,--pop-state)
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  if(PARAJOULE_TESTS)
    add_test(NAME light.${target}
      COMMAND ${PROJECT_SOURCE_DIR}/.ci/light $<TARGET_FILE:${target}>)
  endif()
endfunction()
