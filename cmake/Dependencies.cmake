# Every library that the project depends on, each as an interface target.
find_package(Threads REQUIRED)

# Logging: spdlog header-only, with fmt compiled into the library, which then needs no shared fmt at run time.
find_package(spdlog CONFIG REQUIRED)
find_package(fmt CONFIG REQUIRED)
add_library(tmajit_spdlog INTERFACE)
add_library(tmajit::spdlog ALIAS tmajit_spdlog)
target_compile_definitions(tmajit_spdlog INTERFACE SPDLOG_FMT_EXTERNAL)
set(fmt_dirs)
foreach(lib spdlog::spdlog fmt::fmt)
  get_target_property(dirs ${lib} INTERFACE_INCLUDE_DIRECTORIES)
  if(dirs)
    list(APPEND fmt_dirs ${dirs})
    target_include_directories(tmajit_spdlog SYSTEM INTERFACE $<BUILD_INTERFACE:${dirs}>)
  endif()
endforeach()
# Compile fmt's functions once if format.cpp supports this version of fmt; if not, use fmt header-only.
list(REMOVE_DUPLICATES fmt_dirs)
# try_compile() takes 10 s and does not read its own result from the cache.
if(NOT TMAJIT_FMT_TRIED STREQUAL "${fmt_VERSION} ${fmt_dirs}")
  try_compile(TMAJIT_FMT_COMPILED ${CMAKE_CURRENT_BINARY_DIR}/fmt_check
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/fmt/format.cpp ${CMAKE_CURRENT_LIST_DIR}/fmt/check.cpp
    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${fmt_dirs}"
    COMPILE_DEFINITIONS -DSPDLOG_FMT_EXTERNAL
    LINK_LIBRARIES Threads::Threads
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
  set(TMAJIT_FMT_TRIED "${fmt_VERSION} ${fmt_dirs}" CACHE INTERNAL "The fmt that TMAJIT_FMT_COMPILED is about")
endif()
if(TMAJIT_FMT_COMPILED)
  add_library(tmajit_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt/format.cpp)
  target_include_directories(tmajit_fmt SYSTEM PRIVATE ${fmt_dirs})
  target_compile_features(tmajit_fmt PRIVATE cxx_std_20)
  set_target_properties(tmajit_fmt PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)
  target_link_libraries(tmajit_spdlog INTERFACE $<BUILD_INTERFACE:tmajit_fmt>)
else()
  target_compile_definitions(tmajit_spdlog INTERFACE FMT_HEADER_ONLY=1)
endif()
target_link_libraries(tmajit_spdlog INTERFACE Threads::Threads)

# LLVM Support, linked statically: diagnostics with carets, SHA-256, text utilities. LLVM's CMake package needs C to
# check for the libraries that Support links with.
enable_language(C)
find_package(LLVM CONFIG REQUIRED)
if(LLVM_VERSION_MAJOR LESS 14)
  message(FATAL_ERROR "LLVM ${LLVM_VERSION} in ${LLVM_DIR} is too old: 14 or later is needed, and 14 to 22 are known to "
                      "work. -DLLVM_DIR=/usr/lib/llvm-14/lib/cmake/llvm names another.")
elseif(LLVM_VERSION_MAJOR GREATER 22)
  message(WARNING "LLVM ${LLVM_VERSION} in ${LLVM_DIR} was not tried: 14 to 22 are known to work. "
                  "-DLLVM_DIR=/usr/lib/llvm-22/lib/cmake/llvm names another.")
endif()
add_library(tmajit_llvm INTERFACE)
add_library(tmajit::llvm ALIAS tmajit_llvm)
target_include_directories(tmajit_llvm SYSTEM INTERFACE $<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS}>)
# Link the library's file directly, because the package's target adds z3, zlib, zstd and terminfo. The functions that
# tmajit uses do not need the first three, and llvm/terminfo.cpp replaces terminfo.
add_library(tmajit_terminfo STATIC ${CMAKE_CURRENT_LIST_DIR}/llvm/terminfo.cpp)
set_target_properties(tmajit_terminfo PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)
target_link_libraries(tmajit_llvm INTERFACE
  $<BUILD_INTERFACE:$<TARGET_FILE:LLVMSupport>> $<BUILD_INTERFACE:$<TARGET_FILE:LLVMDemangle>>
  $<BUILD_INTERFACE:tmajit_terminfo> $<BUILD_INTERFACE:Threads::Threads> ${CMAKE_DL_LIBS})

# hiredis, Redis's client in C, linked statically: it writes commands and reads replies for the store of a fleet.
# Without it, there is no Redis store.
find_path(TMAJIT_HIREDIS_INCLUDE hiredis/hiredis.h)
find_library(TMAJIT_HIREDIS_LIBRARY libhiredis.a libhiredisd.a)
mark_as_advanced(TMAJIT_HIREDIS_INCLUDE TMAJIT_HIREDIS_LIBRARY)
if(TMAJIT_HIREDIS_INCLUDE AND TMAJIT_HIREDIS_LIBRARY)
  add_library(tmajit_hiredis INTERFACE)
  add_library(tmajit::hiredis ALIAS tmajit_hiredis)
  target_include_directories(tmajit_hiredis SYSTEM INTERFACE $<BUILD_INTERFACE:${TMAJIT_HIREDIS_INCLUDE}>)
  target_compile_definitions(tmajit_hiredis INTERFACE TMAJIT_HAS_REDIS=1)
  target_link_libraries(tmajit_hiredis INTERFACE $<BUILD_INTERFACE:${TMAJIT_HIREDIS_LIBRARY}>)
else()
  message(STATUS "No hiredis/hiredis.h with libhiredis.a: the store of a fleet cannot be a Redis server")
  set(TMAJIT_HIREDIS_LIBRARY)
endif()
# Zstandard, which compresses packs of kernels. Linked statically if its archive is there.
find_package(zstd MODULE REQUIRED)
if(NOT BUILD_SHARED_LIBS AND NOT zstd_LIBRARY MATCHES "\\.a$")
  message(FATAL_ERROR "tmajit's static libraries contain Zstandard, but only ${zstd_LIBRARY} was found. "
                      "-Dzstd_LIBRARY=/usr/lib/libzstd.a names its archive.")
endif()
add_library(tmajit_zstd INTERFACE)
add_library(tmajit::zstd ALIAS tmajit_zstd)
target_include_directories(tmajit_zstd SYSTEM INTERFACE $<BUILD_INTERFACE:${zstd_INCLUDE_DIR}>)
target_link_libraries(tmajit_zstd INTERFACE $<BUILD_INTERFACE:${zstd_LIBRARY}>)

# JSON, header-only: for tuning files and the output of jitc.
find_package(nlohmann_json CONFIG REQUIRED)

# cuda.h and nvrtc.h, only for their types: both libraries are loaded at run time.
set(TMAJIT_CUDA_HOME "" CACHE PATH "The only CUDA toolkit to use; empty: search the usual folders")
include(FindCudaParts)
if(NOT TMAJIT_CUDA_INCLUDE)
  message(FATAL_ERROR "No CUDA 12.4 or later with cuda.h, nvrtc.h and libnvrtc found. Run tools/setup.sh, "
                      "which fetches them, or set CUDA_HOME.")
endif()
# A wheel runs on other machines, on which these paths mean nothing.
if(SKBUILD)
  set(TMAJIT_NVRTC_HINT "")
  set(TMAJIT_NVDISASM_HINT "")
endif()
message(STATUS "CUDA headers and NVRTC: ${TMAJIT_CUDA_ROOT}; nvdisasm: ${TMAJIT_NVDISASM_HINT}")
add_library(tmajit_cuda_headers INTERFACE)
add_library(tmajit::cuda_headers ALIAS tmajit_cuda_headers)
target_include_directories(tmajit_cuda_headers SYSTEM INTERFACE ${TMAJIT_CUDA_INCLUDE})
# A folder in which the library searches NVRTC at run time.
target_compile_definitions(tmajit_cuda_headers INTERFACE TMAJIT_NVRTC_HINT="${TMAJIT_NVRTC_HINT}")

if(TMAJIT_BUILD_TOOLS OR NOT TMAJIT_PACKS STREQUAL none)
  find_package(CLI11 CONFIG REQUIRED)
endif()
if(TMAJIT_BUILD_TESTS)
  find_package(Catch2 3 CONFIG REQUIRED)
  include(Catch)
endif()
