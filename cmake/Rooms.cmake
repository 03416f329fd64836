# tmajit_compile_together(<target> [AT_ONCE <n>] [ALONE <file>…]): compiles several files of a target, 8 or AT_ONCE, as one
# translation unit, which parses shared headers once. ALONE lists files whose names clash with another file's.
option(TMAJIT_COMPILE_TOGETHER "Compile several files as one" ON)
function(tmajit_compile_together target)
  cmake_parse_arguments(arg "" "AT_ONCE" "ALONE" ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TMAJIT_COMPILE_TOGETHER})
  if(arg_AT_ONCE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${arg_AT_ONCE})
  endif()
  set_source_files_properties(${arg_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# A room is a folder of src/ that is built as one object library, tmajit_<room>, and can include only the rooms that it
# names. The include path enforces this: each room has a folder (in TMAJIT_WALLS) with a link to that room only, and a
# room's sources are compiled with the folders of the rooms in MAY_INCLUDE.
#   tmajit_add_room(<room> [AT_ONCE <n>] SOURCES <file>… [ALONE <file>…] [MAY_INCLUDE <room>…] [USES <target>…])
# 8 or AT_ONCE files of SOURCES form one translation unit; each file of ALONE is one.
set(TMAJIT_WALLS ${CMAKE_CURRENT_BINARY_DIR}/walls)
function(tmajit_add_room room)
  cmake_parse_arguments(arg "" "AT_ONCE" "SOURCES;ALONE;MAY_INCLUDE;USES" ${ARGN})
  file(MAKE_DIRECTORY ${TMAJIT_WALLS}/${room})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${room} ${TMAJIT_WALLS}/${room}/${room} SYMBOLIC)
  add_library(tmajit_${room} OBJECT ${arg_SOURCES} ${arg_ALONE})
  tmajit_compile_together(tmajit_${room} AT_ONCE ${arg_AT_ONCE} ALONE ${arg_ALONE})
  tmajit_use_precompiled(tmajit_${room} room_headers)
  target_include_directories(tmajit_${room} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  foreach(seen ${room} ${arg_MAY_INCLUDE})
    target_include_directories(tmajit_${room} PRIVATE ${TMAJIT_WALLS}/${seen})
  endforeach()
  target_link_libraries(tmajit_${room} PRIVATE tmajit::options ${arg_USES})
endfunction()

# A Catch2 program. ctest runs its cases one by one, with the label <name>. Cases of names that begin with gpu do not run in
# parallel, because they share one device and its memory.
#   tmajit_add_test(<name> [AT_ONCE <n>] SOURCES <file>… [ALONE <file>…] USES <target>… [ENVIRONMENT <name=value>])
# 16 or AT_ONCE files of SOURCES form one translation unit; each file of ALONE is one.
function(tmajit_add_test name)
  cmake_parse_arguments(arg "" "AT_ONCE;ENVIRONMENT" "SOURCES;ALONE;USES" ${ARGN})
  if(NOT arg_AT_ONCE)
    set(arg_AT_ONCE 16)
  endif()
  add_executable(test_${name} ${arg_SOURCES} ${arg_ALONE})
  target_link_libraries(test_${name} PRIVATE tmajit::options Catch2::Catch2WithMain ${arg_USES})
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_options(test_${name} PRIVATE ${TMAJIT_TEST_OPTIONS})
  target_link_options(test_${name} PRIVATE ${TMAJIT_TEST_LINKER})
  tmajit_compile_together(test_${name} AT_ONCE ${arg_AT_ONCE} ALONE ${arg_ALONE})
  tmajit_use_precompiled(test_${name} test_headers)
  set(properties LABELS ${name} SKIP_RETURN_CODE 4 TIMEOUT 900)
  # In a fresh clone ctest does not know the cases' times: start rooms with long cases first, so that no long case runs alone
  # at the end.
  if(name MATCHES "^(codegen_instructions|conformance|ops|scan|sim)$")
    list(APPEND properties COST 10)
  endif()
  if(name MATCHES "^(c|families|ops|scan|sim)$")
    list(APPEND properties FIXTURES_REQUIRED kernels ENVIRONMENT "TMAJIT_TEST_KERNELS=${TMAJIT_TEST_KERNELS}")
  endif()
  if(arg_ENVIRONMENT)
    list(APPEND properties ENVIRONMENT ${arg_ENVIRONMENT})
  endif()
  if(name MATCHES "^gpu")
    list(APPEND properties RESOURCE_LOCK gpu)
  endif()
  # List the cases when ctest starts, not after each link.
  catch_discover_tests(test_${name} TEST_PREFIX "${name}: " DISCOVERY_MODE PRE_TEST PROPERTIES ${properties})
endfunction()
