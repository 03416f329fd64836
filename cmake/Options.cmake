# tmajit::options: the language level, warnings and sanitizers of everything this project compiles.
set(TMAJIT_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=: address,undefined or thread")
option(TMAJIT_WERROR "Warnings are errors" ${PROJECT_IS_TOP_LEVEL})

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# Tests are compiled more often than they are waited for; what they test is compiled as always.
if(TMAJIT_SANITIZE)
  set(TMAJIT_TEST_OPTIONS -O0)
else()
  set(TMAJIT_TEST_OPTIONS $<$<CONFIG:Release>:-O1>)
endif()

add_library(tmajit_options INTERFACE)
add_library(tmajit::options ALIAS tmajit_options)
target_compile_options(tmajit_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wnon-virtual-dtor -Woverloaded-virtual -ffunction-sections -fdata-sections $<$<BOOL:${TMAJIT_WERROR}>:-Werror>)
# GCC 12 reports overlaps and overflows in std::string that do not exist (its bugs 105651 and 105329).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(tmajit_options INTERFACE -Wno-restrict -Wno-array-bounds
    -Wno-stringop-overflow -Wno-stringop-overread)
endif()
target_link_options(tmajit_options INTERFACE -Wl,--gc-sections)
if(TMAJIT_SANITIZE)
  add_compile_options(-fsanitize=${TMAJIT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TMAJIT_SANITIZE})
endif()
