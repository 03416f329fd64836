# The packs of kernels that come with the library (docs/packs.md). tmajit-ship makes them from random problems. They are
# made when they are packaged, by cpack, by `cmake --install --component packs`, or in a wheel: they take minutes, and no
# other target needs them.

# A build with tests packages small packs, which take seconds, because its tests make packages, too. A build of the libraries
# alone has no packs, because NVRTC may be missing there. pyproject.toml sets full ones for wheels.
set(default none)
if(TMAJIT_BUILD_TOOLS)
  set(default full)
endif()
if(TMAJIT_BUILD_TESTS)
  set(default small)
endif()
set(TMAJIT_PACKS ${default} CACHE STRING "Packs of kernels in packages: none, small (24 kernels, for tests), full (takes minutes)")
set_property(CACHE TMAJIT_PACKS PROPERTY STRINGS none small full)
if(NOT TMAJIT_PACKS MATCHES "^(none|small|full)$")
  message(FATAL_ERROR "TMAJIT_PACKS is ${TMAJIT_PACKS}; legal are none, small and full.")
endif()

set(TMAJIT_MADE_PACKS ${PROJECT_BINARY_DIR}/packs/${TMAJIT_PACKS})
# Versions that can be installed together have a folder each. A wheel has the packs beside its libraries.
set(TMAJIT_PACK_DESTINATION ${CMAKE_INSTALL_DATADIR}/tmajit/${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
cmake_path(ABSOLUTE_PATH TMAJIT_PACK_DESTINATION BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE folder)
# Relative to the library's folder, so that an installation can be moved.
file(RELATIVE_PATH TMAJIT_PACK_FOLDER ${CMAKE_INSTALL_FULL_LIBDIR} ${folder})
if(SKBUILD)
  set(TMAJIT_PACK_DESTINATION tmajit)
  set(TMAJIT_PACK_FOLDER .)
endif()

# tmajit_package_packs(): adds the target tmajit_packs, and the component that holds its packs.
function(tmajit_package_packs)
  set(component packs EXCLUDE_FROM_ALL)
  if(SKBUILD)
    set(component python)
  endif()
  set(remedy "configure the build with -DTMAJIT_PACKS=full to package those of a release (docs/packs.md)")
  if(TMAJIT_PACKS STREQUAL none)
    if(NOT SKBUILD)
      set(component runtime)
    endif()
    install(CODE "message(NOTICE \"No packs of kernels, so first calls compile: ${remedy}\")" COMPONENT ${component})
    return()
  endif()

  if(NOT TARGET tmajit-ship)
    add_subdirectory(${PROJECT_SOURCE_DIR}/tools/bench/cases ${PROJECT_BINARY_DIR}/tools/bench/cases)
    add_subdirectory(${PROJECT_SOURCE_DIR}/tools/ship ${PROJECT_BINARY_DIR}/tools/ship)
  endif()
  set(packs ${TMAJIT_MADE_PACKS}/sm_90a.pack ${TMAJIT_MADE_PACKS}/compute_90a.pack)
  set(amount)
  if(TMAJIT_PACKS STREQUAL small)
    set(amount --small)
    install(CODE "message(NOTICE \"Small packs of kernels, for tests: ${remedy}\")" COMPONENT ${component})
  endif()
  # A wheel's library does not look for NVRTC in the build's folders, so CUDA_HOME names them.
  # NVRTC writes the working directory into line tables: / keeps the build's folder out of packages.
  add_custom_command(OUTPUT ${packs}
    COMMAND ${CMAKE_COMMAND} -E env CUDA_HOME=${TMAJIT_CUDA_ROOT} $<TARGET_FILE:tmajit-ship> ${TMAJIT_MADE_PACKS} ${amount}
            --cache-dir ${PROJECT_BINARY_DIR}/pack-kernels
    WORKING_DIRECTORY / DEPENDS tmajit-ship USES_TERMINAL VERBATIM COMMENT "Compiling the kernels of the packs")
  add_custom_target(tmajit_packs DEPENDS ${packs})
  install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${PROJECT_BINARY_DIR}\" --config \"\${CMAKE_INSTALL_CONFIG_NAME}\"
    --target tmajit_packs COMMAND_ERROR_IS_FATAL ANY)" COMPONENT ${component})
  install(FILES ${packs} DESTINATION ${TMAJIT_PACK_DESTINATION} COMPONENT ${component})
endfunction()
