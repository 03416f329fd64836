# Every library the project stands on, as one interface target each.
find_package(Threads REQUIRED)

# Logging. Header-only, with fmt's headers too: the library then needs no shared fmt at run time, and the
# host application's own logger crosses the boundary as a plain spdlog::logger.
find_package(spdlog CONFIG REQUIRED)
find_package(fmt CONFIG REQUIRED)
add_library(tmajit_spdlog INTERFACE)
add_library(tmajit::spdlog ALIAS tmajit_spdlog)
target_compile_definitions(tmajit_spdlog INTERFACE SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY=1)
foreach(lib spdlog::spdlog fmt::fmt)
  get_target_property(dirs ${lib} INTERFACE_INCLUDE_DIRECTORIES)
  if(dirs)
    target_include_directories(tmajit_spdlog SYSTEM INTERFACE $<BUILD_INTERFACE:${dirs}>)
  endif()
endforeach()
target_link_libraries(tmajit_spdlog INTERFACE Threads::Threads)

# LLVM Support, statically: diagnostics with carets, SHA-256, text utilities.
find_package(LLVM CONFIG REQUIRED)
add_library(tmajit_llvm INTERFACE)
add_library(tmajit::llvm ALIAS tmajit_llvm)
target_include_directories(tmajit_llvm SYSTEM INTERFACE $<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS}>)
target_link_libraries(tmajit_llvm INTERFACE $<BUILD_INTERFACE:LLVMSupport>)

# cuda.h and nvrtc.h, only for their types: both libraries are loaded at run time.
find_path(TMAJIT_CUDA_INCLUDE cuda.h
  HINTS ${TMAJIT_DEPS}/cuda/include $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include /usr/local/cuda/include)
find_path(TMAJIT_NVRTC_INCLUDE nvrtc.h HINTS ${TMAJIT_DEPS}/cuda/include ${TMAJIT_CUDA_INCLUDE})
if(NOT TMAJIT_CUDA_INCLUDE OR NOT TMAJIT_NVRTC_INCLUDE)
  message(FATAL_ERROR "cuda.h and nvrtc.h not found. Run tools/setup.sh, which fetches them, or set CUDA_HOME.")
endif()
add_library(tmajit_cuda_headers INTERFACE)
add_library(tmajit::cuda_headers ALIAS tmajit_cuda_headers)
target_include_directories(tmajit_cuda_headers SYSTEM INTERFACE ${TMAJIT_CUDA_INCLUDE} ${TMAJIT_NVRTC_INCLUDE})

if(TMAJIT_BUILD_TOOLS)
  find_package(CLI11 CONFIG REQUIRED)
endif()
if(TMAJIT_BUILD_TOOLS OR TMAJIT_BUILD_TESTS)
  find_package(nlohmann_json CONFIG REQUIRED)
endif()
if(TMAJIT_BUILD_TESTS)
  find_package(Catch2 3 CONFIG REQUIRED)
  include(Catch)
endif()
