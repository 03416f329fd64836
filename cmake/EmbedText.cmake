# tmajit_embed_text(<output.cpp> <folder>): makes a source with every .cuh and .cu file below the folder as a C++ string.
function(tmajit_embed_text output folder)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${folder}/*.cuh ${folder}/*.cu)
  list(SORT files)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFOLDER=${folder} "-DFILES=${files}"
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedTextScript.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/EmbedTextScript.cmake
    VERBATIM)
endfunction()

# tmajit_embed_file(<output.cpp> <file> <function> <header>): makes a source that defines the function (declared in the
# header), which returns the text of the file.
function(tmajit_embed_file output file function header)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFILE=${file} -DFUNCTION=${function} -DHEADER=${header}
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedFileScript.cmake
    DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/EmbedFileScript.cmake
    VERBATIM)
endfunction()
