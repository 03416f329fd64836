// A program with kernel launches as CUDA's compilers generate them for the host. It needs no CUDA
// installation: the library tmajit::cudart_sim replaces the CUDA runtime.
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

extern "C" {
struct Dim3 {
  unsigned x, y, z;
};
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int);
unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared_bytes, void* stream);
int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared_bytes, void* stream);
int cudaLaunchKernel(const void*, Dim3 grid, Dim3 block, void** arguments, std::size_t shared_bytes,
                     void* stream);
int cudaMalloc(void**, std::size_t);
int cudaFree(void*);
int cudaMemcpy(void*, const void*, std::size_t, int kind);
int cudaMemcpyToSymbol(const void*, const void*, std::size_t, std::size_t offset, int kind);
int cudaMemcpyFromSymbol(void*, const void*, std::size_t, std::size_t offset, int kind);
int cudaDeviceSynchronize();
int cudaCreateTextureObject(void*, const void*, const void*, const void*);
}

namespace {

constexpr int not_supported = 801;
constexpr int copy_by_address = 4;  // cudaMemcpyDefault

unsigned launches = 0;  // the shadows of the device's variables
unsigned factor = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("not so: %s\n", what);
  std::exit(1);
}

void launch_configured(const void* stub, unsigned* values) {
  Dim3 grid{}, block{};
  std::size_t shared_bytes = 0;
  void* stream = nullptr;
  expect(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, static_cast<void*>(&stream)) == 0,
         "configured");
  std::array<void*, 1> arguments{&values};
  expect(cudaLaunchKernel(stub, grid, block, arguments.data(), shared_bytes, stream) == 0, "a launch works");
}
void scale(unsigned* values) {
  launch_configured(reinterpret_cast<const void*>(&scale), values);
}
void past(unsigned* values) {
  launch_configured(reinterpret_cast<const void*>(&past), values);
}

/// Registers the kernels before main(), as code that a CUDA compiler generates does.
const bool registered = [] {
  void** const module = __cudaRegisterFatBinary(nullptr);
  const auto function = [&](void (*stub)(unsigned*), char* name) {
    __cudaRegisterFunction(module, reinterpret_cast<const char*>(stub), name, name, -1, nullptr, nullptr,
                           nullptr, nullptr, nullptr);
  };
  static char names[][9] = {"scale", "past", "launches", "factor"};
  function(&scale, names[0]);
  function(&past, names[1]);
  __cudaRegisterVar(module, reinterpret_cast<char*>(&launches), names[2], names[2], 0, sizeof launches, 0, 0);
  __cudaRegisterVar(module, reinterpret_cast<char*>(&factor), names[3], names[3], 0, sizeof factor, 1, 0);
  __cudaRegisterFatBinaryEnd(module);
  return true;
}();

}  // namespace

int main() {
  std::array<unsigned, 32> values{};
  for (unsigned i = 0; i < values.size(); ++i) values[i] = i;
  void* memory = nullptr;
  expect(registered && cudaMalloc(&memory, sizeof values) == 0, "memory is allocated");
  expect(cudaMemcpy(memory, values.data(), sizeof values, copy_by_address) == 0, "values are copied in");
  const unsigned three = 3;
  expect(cudaMemcpyToSymbol(&factor, &three, sizeof three, 0, copy_by_address) == 0, "a constant is set");
  for (int i = 0; i < 2; ++i) {
    if (__cudaPushCallConfiguration({1, 1, 1}, {32, 1, 1}, 0, nullptr) == 0)
      scale(static_cast<unsigned*>(memory));
  }
  unsigned count = 0;
  expect(cudaMemcpyFromSymbol(&count, &launches, sizeof count, 0, copy_by_address) == 0 && count == 2,
         "a variable of the device counts launches");
  expect(cudaMemcpy(values.data(), memory, sizeof values, copy_by_address) == 0 && values[31] == 31 * 9,
         "values are scaled twice");
  expect(cudaCreateTextureObject(nullptr, nullptr, nullptr, nullptr) == not_supported,
         "there are no textures");

  if (__cudaPushCallConfiguration({1, 1, 1}, {1, 1, 1}, 0, nullptr) == 0)
    past(static_cast<unsigned*>(memory));
  expect(cudaDeviceSynchronize() == 0 && cudaFree(memory) == 0, "a program goes on after a report");
  std::ifstream file(std::getenv("TMAJIT_REPORTS"));
  std::string report;
  std::getline(file, report);
  expect(report.find("\"rule\":\"global.out-of-bounds\"") != std::string::npos &&
             report.find("\"source_file\":\"whole_program.cu\"") != std::string::npos &&
             report.find("\"source_line\":4") != std::string::npos,
         "the report names the line of the source");
  std::printf("a whole program runs\n");
}
