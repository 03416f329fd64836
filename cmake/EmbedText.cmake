# tmajit_embed_text(<target> <folder>): adds a source with every .cuh and .cu file below the folder as a C++ string.
function(tmajit_embed_text target folder)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_text.cpp)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${folder}/*.cuh ${folder}/*.cu)
  list(SORT files)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFOLDER=${folder} "-DFILES=${files}"
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedTextScript.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/EmbedTextScript.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()

# tmajit_embed_files(<target> <header> {<file> <function>}…): adds sources that define the functions, which the header declares.
# Each returns the text of its file.
function(tmajit_embed_files target header)
  while(ARGN)
    list(POP_FRONT ARGN file function)
    cmake_path(ABSOLUTE_PATH file)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
    add_custom_command(
      OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFILE=${file} -DFUNCTION=${function} -DHEADER=${header}
              -P ${PROJECT_SOURCE_DIR}/cmake/EmbedFileScript.cmake
      DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/EmbedFileScript.cmake
      VERBATIM)
    target_sources(${target} PRIVATE ${output})
  endwhile()
endfunction()

# tmajit_embed_generator_id(<target> <folder>…): adds a source with a hash of all files in the folders, from which kernels' sources
# follow.
function(tmajit_embed_generator_id target)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_generator_id.cpp)
  set(files)
  foreach(folder IN LISTS ARGN)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${folder}/*.cuh ${folder}/*.cu ${folder}/*.cpp ${folder}/*.hpp)
    list(APPEND files ${found})
  endforeach()
  list(SORT files)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFOLDER=${PROJECT_SOURCE_DIR} "-DFILES=${files}"
            -P ${PROJECT_SOURCE_DIR}/cmake/GeneratorIdScript.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/GeneratorIdScript.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
