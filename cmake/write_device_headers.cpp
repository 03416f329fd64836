// write_device_headers FOLDER: writes the device headers as files, FOLDER/tmajit/mbarrier.cuh …
#include <tmajit/codegen.hpp>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  try {
    for (const auto& [name, text] : tmajit::device_headers()) {
      const std::filesystem::path file = std::filesystem::path(argv[1]) / name;
      std::filesystem::create_directories(file.parent_path());
      std::ofstream out(file, std::ios::binary);
      out.exceptions(std::ios::failbit | std::ios::badbit);
      out << text;
      out.close();
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
  return 0;
}
