# Writes the device headers as files to build/<preset>/include/tmajit/device/tmajit, the folder that `jitc headers` prints.
# `cmake --install` installs them below include/. A program writes them from the library, so both are always the same.
add_executable(tmajit_write_device_headers ${CMAKE_CURRENT_LIST_DIR}/write_device_headers.cpp)
target_link_libraries(tmajit_write_device_headers PRIVATE tmajit::options tmajit::tmajit)
set(TMAJIT_DEVICE_HEADERS ${PROJECT_BINARY_DIR}/include/tmajit/device)
add_custom_command(OUTPUT ${TMAJIT_DEVICE_HEADERS}.stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${TMAJIT_DEVICE_HEADERS}
  COMMAND tmajit_write_device_headers ${TMAJIT_DEVICE_HEADERS}
  COMMAND ${CMAKE_COMMAND} -E touch ${TMAJIT_DEVICE_HEADERS}.stamp
  DEPENDS tmajit_write_device_headers tmajit
  COMMENT "Writing the device headers" VERBATIM)
add_custom_target(tmajit_device_headers ALL DEPENDS ${TMAJIT_DEVICE_HEADERS}.stamp)
