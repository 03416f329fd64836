# tmajit_compile_together(<target> [AT_ONCE <n>]): compiles several files of a target, 8 or AT_ONCE, as one translation unit,
# which parses shared headers once. So no two files of a target may define the same name in an anonymous namespace.
option(TMAJIT_COMPILE_TOGETHER "Compile several files as one" ON)
function(tmajit_compile_together target)
  cmake_parse_arguments(arg "" "AT_ONCE" "" ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TMAJIT_COMPILE_TOGETHER})
  if(arg_AT_ONCE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${arg_AT_ONCE})
  endif()
endfunction()

# tmajit_compile_folder(<target> OBJECT|STATIC <folder> [AT_ONCE <n>] [QUICK] [EXACT] [ONLY <regex>] [EXCEPT <regex>]): a library
# of the files *.cpp in src/<folder> and in the folders below it whose paths match ONLY and do not match EXCEPT.
function(tmajit_compile_folder target kind folder)
  cmake_parse_arguments(arg "QUICK;EXACT" "AT_ONCE;ONLY;EXCEPT" "" ${ARGN})
  file(GLOB_RECURSE sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS ${folder}/*.cpp)
  if(arg_ONLY)
    list(FILTER sources INCLUDE REGEX ${arg_ONLY})
  endif()
  if(arg_EXCEPT)
    list(FILTER sources EXCLUDE REGEX ${arg_EXCEPT})
  endif()
  add_library(${target} ${kind} EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(${target} PRIVATE tmajit::options)
  tmajit_compile_together(${target} AT_ONCE ${arg_AT_ONCE})
  tmajit_use_precompiled(${target} room_headers)
  if(arg_QUICK)
    target_compile_options(${target} PRIVATE ${TMAJIT_QUICK_COMPILE})
  endif()
  if(arg_EXACT)
    target_compile_options(${target} PRIVATE -fno-fast-math -ffp-contract=off)
  endif()
endfunction()

# tmajit_add_room(<room> IN <library> [MAY_INCLUDE <room>…] [USES <target>…] <options of tmajit_compile_folder>): the objects of
# src/<room>, tmajit_<room>, for the library. A room is compiled with include paths of the rooms in MAY_INCLUDE and of no
# others: each room has a folder in TMAJIT_WALLS with a link to the room.
set(TMAJIT_WALLS ${CMAKE_CURRENT_BINARY_DIR}/walls)
function(tmajit_add_room room)
  cmake_parse_arguments(arg "" "IN" "MAY_INCLUDE;USES" ${ARGN})
  set_property(GLOBAL APPEND PROPERTY TMAJIT_ROOMS_${arg_IN} ${room})
  tmajit_compile_folder(tmajit_${room} OBJECT ${room} ${arg_UNPARSED_ARGUMENTS})
  file(MAKE_DIRECTORY ${TMAJIT_WALLS}/${room})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${room} ${TMAJIT_WALLS}/${room}/${room} SYMBOLIC)
  target_include_directories(tmajit_${room} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  foreach(seen ${room} ${arg_MAY_INCLUDE})
    target_include_directories(tmajit_${room} PRIVATE ${TMAJIT_WALLS}/${seen})
  endforeach()
  target_link_libraries(tmajit_${room} PRIVATE ${arg_USES})
endfunction()

# tmajit_add_part(<target> FROM <folder> [USES <target>…] <options of tmajit_compile_folder>): a static library of src/<folder>
# for the tools and tests.
function(tmajit_add_part target)
  cmake_parse_arguments(arg "" "FROM" "USES" ${ARGN})
  tmajit_compile_folder(${target} STATIC ${arg_FROM} ${arg_UNPARSED_ARGUMENTS})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} PUBLIC ${arg_USES})
endfunction()

# A Catch2 program. ctest runs its cases one by one, with the label <name>. Cases of names that begin with gpu do not run in
# parallel, because they share one device and its memory.
#   tmajit_add_test(<name> [AT_ONCE <n>] [SOURCES <file>…] [AND <file>…] USES <target>… [ENVIRONMENT <name=value>])
# Without SOURCES it has all files *.cpp of the folder. AND adds files of other folders.
# 16 or AT_ONCE files form one translation unit.
function(tmajit_add_test name)
  cmake_parse_arguments(arg "" "AT_ONCE;ENVIRONMENT" "SOURCES;AND;USES" ${ARGN})
  if(NOT arg_AT_ONCE)
    set(arg_AT_ONCE 16)
  endif()
  if(NOT arg_SOURCES)
    file(GLOB arg_SOURCES CONFIGURE_DEPENDS *.cpp)
  endif()
  add_executable(test_${name} ${arg_SOURCES} ${arg_AND})
  target_link_libraries(test_${name} PRIVATE tmajit::options Catch2::Catch2WithMain ${arg_USES})
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_options(test_${name} PRIVATE ${TMAJIT_TEST_OPTIONS})
  target_link_options(test_${name} PRIVATE ${TMAJIT_TEST_LINKER})
  tmajit_compile_together(test_${name} AT_ONCE ${arg_AT_ONCE})
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
