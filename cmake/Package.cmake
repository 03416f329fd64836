# Debian packages, by `cpack -G DEB` in the build folder: one for each component that Install.cmake installs.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR tmajit)
set(CPACK_PACKAGE_CONTACT "the maintainers of tmajit <tmajit@example.org>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime development sim c tools)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
# dpkg-shlibdeps computes the packages of the C and C++ libraries. It must find the libraries of the build, too.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/bin)

# debian_package(COMPONENT NAME SECTION DESCRIPTION [packages of this build that it needs]…)
function(debian_package component name section description)
  string(TOUPPER ${component} key)
  list(TRANSFORM ARGN APPEND " (= ${PROJECT_VERSION})")
  list(JOIN ARGN ", " needed)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${needed}" PARENT_SCOPE)
  set(CPACK_COMPONENT_${key}_DESCRIPTION "${description}" PARENT_SCOPE)
endfunction()
set(library libtmajit${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
debian_package(runtime ${library} libs
  "The library plans, compiles, caches and launches kernels. It loads NVRTC and the driver when they are needed.")
debian_package(development libtmajit-dev libdevel
  "Headers for C++, device headers, templates of kernels, and files for CMake and pkg-config." ${library})
debian_package(sim libtmajit-sim libdevel
  "Libraries and headers of the simulated device and lint, which run and check kernels without a GPU." libtmajit-dev)
debian_package(c libtmajit-c libdevel "The C interface: a library and headers for C99, and for languages that call C." libtmajit-sim)
# The library works without its packs, and compiles then. They are data for any processor.
if(NOT TMAJIT_PACKS STREQUAL none)
  list(APPEND CPACK_COMPONENTS_ALL packs)
  debian_package(packs ${library}-packs libs "Compiled kernels of ${library}, with which most first calls need no compiler.")
  set(CPACK_DEBIAN_PACKS_PACKAGE_ARCHITECTURE all)
  set(CPACK_DEBIAN_PACKS_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "${library}-packs (= ${PROJECT_VERSION})")
endif()
debian_package(tools tmajit-tools devel
  "The command line jitc prints source, PTX and SASS of kernels, runs and checks them. With completions and a manual page." ${library})
include(CPack)
