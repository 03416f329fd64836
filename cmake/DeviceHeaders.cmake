# The device headers as files, in build/<preset>/include/tmajit/device/tmajit: what `cmake --install` puts below include/ and
# `jitc headers` names. The library writes them, so that they are what it carries.
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
