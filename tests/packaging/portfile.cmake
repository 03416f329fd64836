# Runs vcpkg's portfile without vcpkg: its functions print their arguments instead.
foreach(name vcpkg_cmake_configure vcpkg_cmake_install vcpkg_cmake_config_fixup vcpkg_fixup_pkgconfig vcpkg_install_copyright)
  cmake_language(EVAL CODE "function(${name})\n  message(\"${name} \${ARGN}\")\nendfunction()")
endforeach()
# Do not write files.
function(file)
  message("file ${ARGN}")
endfunction()
set(PORT tmajit)
set(CURRENT_PACKAGES_DIR /packages)
cmake_path(GET PORTFILE PARENT_PATH CURRENT_PORT_DIR)
include(${PORTFILE})
