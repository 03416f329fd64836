# An overlay port: it builds the checkout that contains it. LLVM and CUDA's headers are the system's, because vcpkg's port of
# LLVM takes hours to build.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DTMAJIT_BUILD_TESTS=OFF
    -DTMAJIT_BUILD_TOOLS=OFF
    -DTMAJIT_BUILD_EXAMPLES=OFF
    -DTMAJIT_BUILD_PYTHON=OFF
    -DTMAJIT_WERROR=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/tmajit)
vcpkg_fixup_pkgconfig()

# vcpkg rejects a package that has headers or data twice.
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
