# tmajit::options: the language level, warnings and sanitizers of all code of this project.
set(TMAJIT_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=: address,undefined or thread")
option(TMAJIT_WERROR "Warnings are errors" ${PROJECT_IS_TOP_LEVEL})

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# Options for code that takes longer to compile than to run: option handling, reports, test sources. GCC's
# -Wmaybe-uninitialized has false positives in the standard library under -Og.
set(TMAJIT_QUICK_COMPILE $<$<CONFIG:Release>:-Og> $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized>)
if(TMAJIT_SANITIZE)
  set(TMAJIT_TEST_OPTIONS -O0)
else()
  set(TMAJIT_TEST_OPTIONS ${TMAJIT_QUICK_COMPILE})
endif()
# CATCH_CONFIG_FAST_COMPILE lets an exception inside an assertion end the test case, which fails anyway.
list(APPEND TMAJIT_TEST_OPTIONS -DCATCH_CONFIG_FAST_COMPILE)

# Link test programs by a fast linker, since they are linked often. The libraries use the toolchain's default linker.
include(CheckLinkerFlag)
set(TMAJIT_TEST_LINKER)
foreach(linker lld gold)
  check_linker_flag(CXX -fuse-ld=${linker} TMAJIT_LINKS_WITH_${linker})
  if(TMAJIT_LINKS_WITH_${linker})
    set(TMAJIT_TEST_LINKER -fuse-ld=${linker})
    break()
  endif()
endforeach()

add_library(tmajit_options INTERFACE)
add_library(tmajit::options ALIAS tmajit_options)
target_compile_options(tmajit_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wnon-virtual-dtor -Woverloaded-virtual -ffunction-sections -fdata-sections $<$<BOOL:${TMAJIT_WERROR}>:-Werror>)
# GCC 12 reports overlaps and overflows in std::string that do not exist (its bugs 105651 and 105329).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(tmajit_options INTERFACE -Wno-restrict -Wno-array-bounds
    -Wno-stringop-overflow -Wno-stringop-overread)
endif()
# By default GCC collects garbage already below 128 MiB of memory, which takes 5 % of a compile.
target_compile_options(tmajit_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)
target_link_options(tmajit_options INTERFACE -Wl,--gc-sections)
if(TMAJIT_SANITIZE)
  add_compile_options(-fsanitize=${TMAJIT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TMAJIT_SANITIZE})
endif()
