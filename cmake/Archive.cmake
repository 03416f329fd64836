# tmajit_add_archive(<target> <exports.map> <room>…): a static library of the rooms, LLVM Support, fmt, hiredis and Zstandard. All of them are linked
# into one object, in which every symbol that a shared library would hide is local. So a program needs neither LLVM nor fmt to
# link the archive, can have other versions of both, and libtmajit.a and libtmajit_sim.a may define the same private functions.
#
# TMAJIT_CXX_LIBRARIES has the libraries that a program in C must link beside an archive.
set(TMAJIT_CXX_LIBRARIES ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER TMAJIT_CXX_LIBRARIES INCLUDE REGEX "^(m|(std)?c\\+\\+)$")
function(tmajit_add_archive target exports)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${target}.o)
  set(inputs)
  foreach(room ${ARGN})
    list(APPEND inputs $<TARGET_OBJECTS:tmajit_${room}>)
  endforeach()
  foreach(library LLVMSupport LLVMDemangle tmajit_terminfo tmajit_fmt)
    if(TARGET ${library})
      list(APPEND inputs $<TARGET_FILE:${library}>)
    endif()
  endforeach()
  list(APPEND inputs ${TMAJIT_HIREDIS_LIBRARY})
  if(zstd_LIBRARY MATCHES "\\.a$")
    list(APPEND inputs ${zstd_LIBRARY})
  endif()
  # objcopy reads patterns of symbols from a file with one in each line.
  file(STRINGS ${exports} patterns REGEX "^    [^*]")
  string(REGEX REPLACE "[ \\\\;]+" "\n" patterns "${patterns}")
  string(STRIP "${patterns}" patterns)
  file(CONFIGURE OUTPUT ${target}.symbols CONTENT "${patterns}\n")
  # COMDAT groups of inline functions must be resolved here: a group whose symbol is local could not be merged with another
  # one later. Every GNU ld of current distributions can do this, and lld from version 18 on.
  # Unique symbols, those of inline variables, become weak: objcopy makes no unique symbol local, and a program may define some of
  # them, too.
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_CXX_COMPILER} -fuse-ld=bfd -r -nostdlib -Wl,--force-group-allocation -o ${object} ${inputs}
    COMMAND sh -c "'${CMAKE_NM}' --defined-only ${target}.o | sed -n 's/.* u //p' >${target}.unique"
    COMMAND ${CMAKE_OBJCOPY} --weaken-symbols=${target}.unique ${object}
    COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbols=${target}.symbols --localize-hidden ${object}
    DEPENDS ${inputs} ${exports} WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} COMMENT "Linking ${target}.o"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_library(${target} STATIC ${object})
  # Makefiles have rules for an object only in its own target, so the rooms' targets must be built before.
  list(TRANSFORM ARGN PREPEND tmajit_)
  add_dependencies(${target} ${ARGN})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()
