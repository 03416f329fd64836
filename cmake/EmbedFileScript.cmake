# Writes OUTPUT, a source that defines FUNCTION (declared in HEADER), which returns the text of FILE as a std::string_view.
file(READ ${FILE} content)
cmake_path(GET FILE FILENAME name)
file(WRITE ${OUTPUT}
  "// Generated from ${name} by cmake/EmbedFileScript.cmake.\n#include \"${HEADER}\"\n\nTMAJIT_BEGIN\n\n"
  "std::string_view ${FUNCTION}() noexcept {\n  return R\"~tmajit~(${content})~tmajit~\";\n}\n\nTMAJIT_END\n")
