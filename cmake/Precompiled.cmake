# Precompiled headers: those of the standard library and fmt; for tests also those of Catch2; for programs that only use the
# library also the library's own. CLI11 and nlohmann::json are not precompiled, because every file would then compile their
# inline functions.
# Files must still include all headers that they use: a build with -D CMAKE_DISABLE_PRECOMPILE_HEADERS=ON shows missing ones.
set(TMAJIT_STANDARD_HEADERS
  <algorithm> <array> <bit> <chrono> <cmath> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <numeric>
  <optional> <set> <span> <sstream> <string> <string_view> <unordered_map> <utility> <variant> <vector>
  <spdlog/fmt/fmt.h> <spdlog/fmt/ranges.h>)

# tmajit_precompile(<name> [HEADERS <header>…] [USES <target>…]): precompiles a set of headers for tmajit_use_precompiled().
function(tmajit_precompile name)
  cmake_parse_arguments(arg "" "" "HEADERS;USES" ${ARGN})
  add_library(tmajit_${name} OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
  target_link_libraries(tmajit_${name} PRIVATE tmajit::options tmajit::spdlog ${arg_USES})
  target_precompile_headers(tmajit_${name} PRIVATE ${TMAJIT_STANDARD_HEADERS} ${arg_HEADERS})
endfunction()

# tmajit_use_precompiled(<target> <name>): <name> is room_headers for libraries, test_headers for test programs, program_headers for
# other programs.
function(tmajit_use_precompiled target name)
  # The compiler accepts precompiled headers only if the target has the same macro definitions.
  target_link_libraries(${target} PRIVATE tmajit::spdlog)
  target_precompile_headers(${target} REUSE_FROM tmajit_${name})
endfunction()

# tmajit_precompile_for_program(<name> <option>…): precompiles a set of headers with these options and those of programs,
# because the compiler accepts precompiled headers only with equal options.
function(tmajit_precompile_for_program name)
  set_target_properties(tmajit_${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(tmajit_${name} PRIVATE -fPIE ${ARGN})
endfunction()

tmajit_precompile(room_headers)
tmajit_precompile(program_headers HEADERS <cstdio> <stdexcept> <tmajit/sim.hpp> <tmajit/tmajit.hpp>)
target_include_directories(tmajit_program_headers PRIVATE ${PROJECT_SOURCE_DIR}/include)
tmajit_precompile_for_program(program_headers ${TMAJIT_QUICK_COMPILE})
if(TMAJIT_BUILD_TESTS)
  tmajit_precompile(test_headers USES Catch2::Catch2 HEADERS
    <catch2/catch_test_macros.hpp> <catch2/generators/catch_generators_all.hpp> <catch2/matchers/catch_matchers_all.hpp>)
  tmajit_precompile_for_program(test_headers ${TMAJIT_TEST_OPTIONS})
endif()
