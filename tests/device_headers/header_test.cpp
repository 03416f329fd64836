/// Compiles every function of the device headers: its PTX and its machine code have the documented
/// instruction, with each operand in its position.
#include "device_headers/rows.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "ptx/query.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/machine/sass.hpp>

#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

#include <catch2/catch_test_macros.hpp>
#include <spdlog/fmt/fmt.h>

using namespace tmajit;
using namespace tests;

namespace {

/// The headers under test: all that hold instructions.
std::string includes() {
  std::string text;
  for (const auto& [name, header] : device_headers()) {
    if (header.find("asm") != std::string::npos) text += fmt::format("#include \"{}\"\n", name);
  }
  return text;
}

/// One source with a kernel for each row: k0, k1 …
std::string kernels(const std::vector<HeaderRow>& rows) {
  std::string text = includes() + R"(
using namespace tmajit;
template <class T, u32 count> __device__ __forceinline__ void store(volatile u32* out, T (&d)[count]) {
#pragma unroll
  for (u32 i = 0; i < count; ++i) reinterpret_cast<volatile T*>(out)[i] = d[i];
}
)";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += fmt::format(
        "extern \"C\" __global__ void __launch_bounds__(128, 1) k{}(const __grid_constant__ TensorMap map, "
        "u8* "
        "memory, u64 wide, "
        "volatile u32* "
        "out, volatile u64* out64) {{\n"
        "  const u32 words1[1] = {{70}}; const u32 words2[2] = {{70, 71}}; const u32 words4[4] = {{70, 71, "
        "72, 73}};\n"
        "  const u64 wides2[2] = {{80, 81}};\n  const u32 narrow = static_cast<u32>(wide);\n  u32 word[4]; "
        "u32 pair[2];\n  {}\n}}\n",
        i, rows[i].call);
  }
  return text;
}

/// By register of a kernel: the operand that it was loaded or copied from. A register with a result has the
/// destination that the result is stored to.
using Origins = std::map<std::string, ptx::Operand, std::less<>>;

ptx::Operand named(std::string name) {
  ptx::Operand operand;
  operand.name = std::move(name);
  return operand;
}

/// A kernel's parameter by its number at the end of its name.
ptx::Operand parameter(std::string_view name) {
  constexpr std::array names{"map", "memory", "wide", "out", "out64"};
  return named(names.at(static_cast<std::size_t>(name.back() - '0')));
}

ptx::Operand replaced(const ptx::Operand& operand, const Origins& origins) {
  ptx::Operand result = operand;
  for (ptx::Operand& element : result.elements) element = replaced(element, origins);
  if (operand.kind != ptx::Operand::Kind::symbol || !operand.component.empty()) return result;
  if (operand.name.find("_param_") != std::string::npos) return parameter(operand.name);
  const auto found = origins.find(operand.name);
  return found == origins.end() ? result : found->second;
}

/// The instructions of a kernel, with the origin of each operand in place of its register.
std::set<std::string> resolved(const ptx::Function& function) {
  Origins origins;
  ptx::for_each_instruction(function, [&](const ptx::Instruction& instruction) {
    const std::string_view word = instruction.words().front();
    if (instruction.operands.size() < 2 || instruction.has("pred")) return;
    if (word == "mov" || word == "cvt" || word == "cvta" || word == "ld") {
      const ptx::Operand source = replaced(instruction.operands[1], origins);
      origins[instruction.operands[0].name] =
          source.kind == ptx::Operand::Kind::address && !source.elements.empty() ? source.elements[0]
                                                                                 : source;
    }
  });
  std::set<std::string> lines;
  // A stored register is named by its destination, whatever its source.
  ptx::for_each_instruction(function, [&](const ptx::Instruction& instruction) {
    if (instruction.words().front() != "st" || !instruction.has("volatile")) return;
    const ptx::Operand& address = instruction.operands[0];
    const std::string place = replaced(address.elements[0], origins).name;
    const std::int64_t size = place == "out64" ? 8 : 4;
    origins[instruction.operands[1].name] =
        named(fmt::format("{}{}", place == "out64" ? "wide" : place, address.offset / size));
  });
  ptx::for_each_instruction(function, [&](ptx::Instruction instruction) {
    for (ptx::Operand& operand : instruction.operands) operand = replaced(operand, origins);
    lines.insert(ptx::print(instruction));
  });
  return lines;
}

std::string listed(const std::set<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "\n    " + line;
  return text;
}

void check_ptx(const std::vector<HeaderRow>& rows, const Artifact& artifact) {
  const ptx::ParseResult module = ptx::parse(artifact.ptx);
  INFO(module.report);
  REQUIRE(module);
  std::map<std::string, std::set<std::string>> kernels;
  for (const ptx::Directive& directive : module.module->directives) {
    if (const auto* function = std::get_if<ptx::Function>(&directive)) {
      kernels[function->name] = resolved(*function);
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::set<std::string>& lines = kernels[fmt::format("k{}", i)];
    if (lines.contains(rows[i].ptx)) continue;
    FAIL_CHECK(rows[i].call << "\n  must be " << rows[i].ptx << "\n  but is" << listed(lines));
  }
}

void check_sass(const std::vector<HeaderRow>& rows, const std::string& sass) {
  std::map<std::string, std::string> kernels;
  constexpr std::string_view section = ".text.k";
  for (std::size_t at = sass.find(section); at != std::string::npos;) {
    const std::size_t next = sass.find(section, at + 1);
    const std::size_t end = sass.find_first_not_of("0123456789", at + section.size());
    kernels[sass.substr(at + section.size(), end - at - section.size())] += sass.substr(end, next - end);
    at = next;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].sass.empty()) continue;
    const std::string& text = kernels[std::to_string(i)];
    if (text.find(rows[i].sass) != std::string::npos) continue;
    FAIL_CHECK(rows[i].call << "\n  must be " << rows[i].sass << "\n  but is" << text);
  }
}

/// Compiles all rows at once, and checks the instructions of each.
void check(const std::vector<HeaderRow>& rows) {
  const Artifact artifact = compile(custom_source(kernels(rows), "k0", "rows"));
  check_ptx(rows, artifact);
  if (!tmajit::find_nvdisasm()) SKIP("machine code not checked: no nvdisasm: " << tmajit::nvdisasm_remedy());
  check_sass(rows, tmajit::disassemble(artifact.cubin));
}

/// A function of the headers, and its header.
struct Function {
  std::string header;
  std::string name;
};

/// All functions with inline PTX, except those of four headers: loads, stores, conversions and shuffles of
/// registers, which the tests of the families' results cover.
std::vector<Function> functions() {
  const std::set<std::string> excluded{"tmajit/convert.cuh", "tmajit/global.cuh", "tmajit/permute.cuh",
                                       "tmajit/shared.cuh"};
  const std::regex declared("__device__ __forceinline__ [^(;]*?(\\w+)\\(");
  std::vector<Function> found;
  for (const auto& [name, text] : device_headers()) {
    if (text.find("asm") == std::string::npos || excluded.contains(name)) continue;
    for (auto at = std::sregex_iterator(text.begin(), text.end(), declared); at != std::sregex_iterator();
         ++at) {
      found.push_back({name, (*at)[1]});
    }
  }
  return found;
}

/// The rows of the documentation's table, by header: the key is the row that begins a header's rows.
std::map<std::string, std::string> documented() {
  std::ifstream file(TMAJIT_DEVICE_DOCUMENTATION);
  REQUIRE(file);
  std::map<std::string, std::string> rows;
  std::string header;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| `")) header = line;
    if (line.starts_with("|")) rows[header] += line;
  }
  return rows;
}

/// Whether the table's rows list a function. They may have its whole name, or its prefix (`tensor_reduce_…`)
/// and the rest of its name. The rest may consist of a prefix and a rest, too: `min_…` and `u32`.
bool lists(const std::string& rows, const std::string& function) {
  const auto has = [&](const std::string& name) {
    return std::regex_search(rows, std::regex("`" + name + "[`(< ]"));
  };
  if (has(function)) return true;
  constexpr std::string_view saturated = "_saturated";
  if (function.ends_with(saturated))
    return has(std::string(saturated)) && has(function.substr(0, function.size() - saturated.size()));
  for (std::size_t at = function.find('_'); at != std::string::npos; at = function.find('_', at + 1)) {
    if (!has(function.substr(0, at + 1) + "…")) continue;
    const std::string word = function.substr(at + 1);
    const std::size_t cut = word.find('_');
    if (has(word)) return true;
    if (cut != std::string::npos && has(word.substr(0, cut + 1) + "…") && has(word.substr(cut + 1)))
      return true;
  }
  return false;
}

}  // namespace

TEST_CASE("every function of the device headers has a row in these tests") {
  std::string calls;
  for (const auto& rows :
       {copy_rows(), reduction_rows(), synchronisation_rows(), other_rows(), wgmma_rows()}) {
    for (const HeaderRow& row : rows) calls += row.call + "\n";
  }
  CHECK(functions().size() > 500);
  for (const Function& function : functions()) {
    if (function.name == "keep_in_order") continue;  // no instruction
    INFO(function.header << ": " << function.name);
    CHECK((calls.find("::" + function.name + "(") != std::string::npos ||
           calls.find("::" + function.name + "<") != std::string::npos));
  }
}

TEST_CASE("the documentation's table lists every function of the device headers") {
  const auto table = documented();
  std::set<std::string> seen;
  for (const Function& function : functions()) {
    if (!seen.insert(function.header + function.name).second) continue;
    std::string rows;
    for (const auto& [headers, text] : table) {
      if (headers.find("`" + function.header.substr(7) + "`") != std::string::npos) rows += text;
    }
    INFO(function.header << ": " << function.name);
    CHECK(lists(rows, function.name));
  }
}

TEST_CASE("the documentation's kernel compiles") {
  std::ifstream file(TMAJIT_DEVICE_DOCUMENTATION);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = text.find("```cpp\n") + 7;
  REQUIRE(begin > 7);
  const Artifact artifact =
      compile(custom_source(text.substr(begin, text.find("```", begin) - begin), "scale"));
  CHECK(ptx::count(artifact.ptx, "cp.async.bulk.tensor.2d") == 1);
}

TEST_CASE("functions of the device headers that copy compile to the documented instructions") {
  check(copy_rows());
}
TEST_CASE("functions of the device headers that reduce compile to the documented instructions") {
  check(reduction_rows());
}
TEST_CASE("functions of the device headers for barriers compile to the documented instructions") {
  check(synchronisation_rows());
}
TEST_CASE("functions of the device headers for matrices and maps compile to the documented instructions") {
  check(other_rows());
}
TEST_CASE("functions of the device headers for wgmma compile to the documented instructions") {
  check(wgmma_rows());
}
