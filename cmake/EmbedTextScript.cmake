# Writes OUTPUT, a source with a table of FILES: (path below FOLDER, text). The literals have the suffix sv, so that the
# compiler knows their lengths without counting characters in a constant expression, which Clang limits.
set(text "// Generated from templates/ by cmake/EmbedTextScript.cmake.\n#include \"codegen/templates.hpp\"\n\n")
string(APPEND text "TMAJIT_BEGIN\n\nstd::span<const EmbeddedFile> embedded_templates() noexcept {\n")
string(APPEND text "  using namespace std::string_view_literals;\n")
string(APPEND text "  static constexpr EmbeddedFile files[] = {\n")
foreach(file IN LISTS FILES)
  file(RELATIVE_PATH name ${FOLDER} ${file})
  file(READ ${file} content)
  string(APPEND text "      {\"${name}\"sv, R\"~tmajit~(${content})~tmajit~\"sv},\n")
endforeach()
string(APPEND text "  };\n  return files;\n}\n\nTMAJIT_END\n")
file(WRITE ${OUTPUT} "${text}")
