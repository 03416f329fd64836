# The packs of kernels that come with the library (docs/packs.md). tmajit-ship makes them from random problems: with
# TMAJIT_PACKS=small 200 kernels, with TMAJIT_PACKS=full as many as its defaults say.
if(NOT TARGET tmajit-ship)
  add_subdirectory(${PROJECT_SOURCE_DIR}/tools/bench/cases ${PROJECT_BINARY_DIR}/tools/bench/cases)
  add_subdirectory(${PROJECT_SOURCE_DIR}/tools/ship ${PROJECT_BINARY_DIR}/tools/ship)
endif()
set(folder ${PROJECT_BINARY_DIR}/packs)
set(packs ${folder}/sm_90a.pack ${folder}/compute_90a.pack)
set(amount)
if(TMAJIT_PACKS STREQUAL small)
  set(amount --small)
endif()
# A wheel's library does not look for NVRTC in the build's folders, so CUDA_HOME names them.
add_custom_command(OUTPUT ${packs}
  COMMAND ${CMAKE_COMMAND} -E env CUDA_HOME=${TMAJIT_CUDA_ROOT} $<TARGET_FILE:tmajit-ship> ${folder} ${amount}
          --cache-dir ${PROJECT_BINARY_DIR}/pack-kernels
  DEPENDS tmajit-ship USES_TERMINAL VERBATIM COMMENT "Compiling the kernels of the packs")
add_custom_target(tmajit_packs ALL DEPENDS ${packs})
if(SKBUILD)
  install(FILES ${packs} DESTINATION tmajit COMPONENT python)
elseif(TMAJIT_INSTALL)
  install(FILES ${packs} DESTINATION ${CMAKE_INSTALL_DATADIR}/tmajit COMPONENT runtime)
endif()
