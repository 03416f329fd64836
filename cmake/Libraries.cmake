# The libraries for applications. A library consists of the objects of its rooms. A room is a folder of src/
# that src/CMakeLists.txt adds to the library by tmajit_add_room(); its objects are the target tmajit_<room>.
# The target of libtmajit_sim is tmajit_simulator, because tmajit_sim is that of the room sim. For the same
# reason, the targets of libtmajit_cudart and libtmajit_c are tmajit_cudart_sim and tmajit_c_interface.

# tmajit_add_library(<target> <library> [EXPORTS <file>]): adds lib<library>, which BUILD_SHARED_LIBS makes
# shared or static. <file> is the linker's version script, which lists the exported symbols. The default is
# cmake/exports.map.
function(tmajit_add_library target library)
  cmake_parse_arguments(arg "" "EXPORTS" "" ${ARGN})
  get_property(rooms GLOBAL PROPERTY TMAJIT_ROOMS_${library})
  set(exports ${PROJECT_SOURCE_DIR}/cmake/exports.map)
  if(arg_EXPORTS)
    set(exports ${arg_EXPORTS})
  endif()
  if(BUILD_SHARED_LIBS)
    add_library(${target} SHARED)
    foreach(room ${rooms})
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:tmajit_${room}>)
    endforeach()
    # tests/consumer also links programs with a static library of the same objects.
    if(TMAJIT_BUILD_TESTS AND NOT TMAJIT_SANITIZE)
      tmajit_add_archive(${target}_archive ${exports} ${rooms})
    endif()
  else()
    tmajit_add_archive(${target} ${exports} ${rooms})
  endif()
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${library})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  if(NOT BUILD_SHARED_LIBS)
    # Plain flags instead of Threads::Threads: every folder that links the static library would have to call
    # find_package(Threads) to see that target.
    target_link_libraries(${target} PRIVATE ${CMAKE_THREAD_LIBS_INIT} ${CMAKE_DL_LIBS})
    return()
  endif()
  target_link_libraries(${target} PRIVATE tmajit::llvm tmajit::spdlog ${CMAKE_DL_LIBS})
  if(TARGET tmajit::hiredis)
    target_link_libraries(${target} PRIVATE tmajit::hiredis)
  endif()
  # The library contains LLVM, fmt, spdlog and Zstandard, but exports none of their symbols.
  target_link_options(${target} PRIVATE -Wl,--gc-sections -Wl,--version-script=${exports})
  # Clang links a sanitizer's run-time library only into programs, so a shared library has undefined symbols.
  if(NOT (TMAJIT_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES Clang))
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
  # The soname has the minor version, too, because before 1.0 a minor version may change the interface.
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${exports} VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endfunction()

tmajit_add_library(tmajit tmajit)
add_library(tmajit::tmajit ALIAS tmajit)
if(BUILD_SHARED_LIBS)
  target_link_libraries(tmajit PRIVATE tmajit::zstd)
endif()
tmajit_add_library(tmajit_simulator tmajit_sim)
add_library(tmajit::sim ALIAS tmajit_simulator)
set_target_properties(tmajit_simulator PROPERTIES EXPORT_NAME sim)
target_link_libraries(tmajit_simulator PUBLIC tmajit)

# A CUDA program that is linked with libtmajit_cudart in place of libcudart and libcuda runs on the simulated
# device. src/CMakeLists.txt adds the room cudart only if CUDA's headers are complete.
if(TARGET tmajit_cudart)
  tmajit_add_library(tmajit_cudart_sim tmajit_cudart EXPORTS ${PROJECT_SOURCE_DIR}/src/cudart/exports.map)
  add_library(tmajit::cudart_sim ALIAS tmajit_cudart_sim)
  set_target_properties(tmajit_cudart_sim PROPERTIES EXPORT_NAME cudart_sim)
  target_link_libraries(tmajit_cudart_sim PRIVATE tmajit_simulator)
endif()

# Functions of the C interface never change, so the soname has the major version alone. Each symbol has the
# version of tmajit that added it (src/c/exports.map).
tmajit_add_library(tmajit_c_interface tmajit_c EXPORTS ${PROJECT_SOURCE_DIR}/src/c/exports.map)
add_library(tmajit::c ALIAS tmajit_c_interface)
set_target_properties(tmajit_c_interface PROPERTIES EXPORT_NAME c SOVERSION ${PROJECT_VERSION_MAJOR})
target_link_libraries(tmajit_c_interface PRIVATE tmajit tmajit_simulator)
if(NOT BUILD_SHARED_LIBS)
  # The linker of a C program does not add the C++ standard library by itself.
  target_link_libraries(tmajit_c_interface PRIVATE ${TMAJIT_CXX_LIBRARIES})
endif()
# Clears the requirement of C++20, since callers compile C.
set_property(TARGET tmajit_c_interface PROPERTY INTERFACE_COMPILE_FEATURES)

# Static libraries of the same objects, for tests and tools that call functions which libtmajit and
# libtmajit_sim do not export:
#   tmajit_planning  libtmajit without the rooms fleet, fusion, runtime and ops
#   tmajit_internal  these four rooms; linking it also links tmajit_planning
#   tmajit_tools     all of libtmajit_sim; jitc uses its PTX parser
# Tests that need none of the four link only tmajit_planning, so that a build with sanitizers does not compile
# them.
add_library(tmajit_planning STATIC)
add_library(tmajit_internal STATIC)
get_property(rooms GLOBAL PROPERTY TMAJIT_ROOMS_tmajit)
foreach(room ${rooms})
  set(library tmajit_planning)
  if(room MATCHES "^(fleet|fusion|runtime|ops)$")
    set(library tmajit_internal)
  endif()
  target_sources(${library} PRIVATE $<TARGET_OBJECTS:tmajit_${room}>)
endforeach()
target_link_libraries(tmajit_internal PUBLIC tmajit_planning)
add_library(tmajit_tools STATIC)
add_library(tmajit::tools ALIAS tmajit_tools)
get_property(rooms GLOBAL PROPERTY TMAJIT_ROOMS_tmajit_sim)
foreach(room ${rooms})
  target_sources(tmajit_tools PRIVATE $<TARGET_OBJECTS:tmajit_${room}>)
endforeach()
foreach(library tmajit_planning tmajit_internal tmajit_tools)
  target_include_directories(${library} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(${library} PUBLIC cxx_std_20)
  target_link_libraries(${library} PUBLIC tmajit::llvm tmajit::spdlog Threads::Threads ${CMAKE_DL_LIBS})
endforeach()
target_link_libraries(tmajit_planning PUBLIC tmajit::cuda_headers tmajit::zstd)
if(TARGET tmajit::hiredis)
  target_link_libraries(tmajit_planning PUBLIC tmajit::hiredis)
endif()
