# Every test/*.run is a test; adding one needs no more than the file.
file(GLOB runs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/*.run)
foreach(run IN LISTS runs)
  get_filename_component(name ${run} NAME_WE)
  add_test(NAME golden.${name}
    COMMAND ${PROJECT_SOURCE_DIR}/test/golden ${PROJECT_BINARY_DIR}/bin ${run})
  set_tests_properties(golden.${name} PROPERTIES LABELS golden TIMEOUT 180)
endforeach()
