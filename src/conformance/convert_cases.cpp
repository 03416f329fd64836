/// Conversions of numbers, in every form that sm_90 has.
#include "conformance/conversions.hpp"
#include "conformance/groups.hpp"
#include "conformance/kernel_text.hpp"

#include <cstring>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace conformance {

using namespace tmajit;
using reference::Random;

namespace {

constexpr std::uint32_t convert_threads = 256;
constexpr std::uint32_t ctas = 3;

/// One kernel has all forms of a target; a parameter selects the form.
std::string conversion_text(const std::vector<CvtForm>& forms) {
  std::string text = R"(
using namespace tmajit;

extern "C" __global__ void convert(u64* values, u32 form) {
  u64 value = values[blockIdx.x * blockDim.x + threadIdx.x];
  switch (form) {
)";
  for (std::size_t i = 0; i < forms.size(); ++i)
    text += fmt::format("    case {}: {} break;\n", i, forms[i].statement());
  return text + R"(  }
  values[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
)";
}

/// Draws a register's sources for every thread: one value, or a pair if the form is packed.
std::vector<std::uint64_t> sources(const CvtForm& form, Random& random) {
  constexpr std::size_t count = std::size_t{convert_threads} * ctas;
  std::vector<std::uint64_t> values = cvt_values(random, form.how.from, count);
  if (!form.packed) return values;
  // Each value is the low part of one pair, and the high part of another.
  const auto bits = 8 * size_of(form.how.from);
  std::vector<std::uint64_t> pairs(count);
  for (std::size_t i = 0; i < count; ++i) {
    // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): packed values have at most 32 bits
    pairs[i] = (values[i] & ((std::uint64_t{1} << bits) - 1)) | values[(i * 5 + 1) % count] << bits;
  }
  return pairs;
}

std::vector<std::byte> bytes_of(const std::vector<std::uint64_t>& values) {
  std::vector<std::byte> bytes(8 * values.size());
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<Trial> trials(const std::vector<CvtForm>& forms, Random& random) {
  const OwnKernel kernel = kernel_of(conversion_text(forms), "convert");
  std::vector<Trial> trials;
  for (std::uint32_t i = 0; i < forms.size(); ++i) {
    std::vector<std::uint64_t> values = sources(forms[i], random);
    Memory memory{"values", ElementType::u64, bytes_of(values), {}};
    for (std::uint64_t& value : values) value = forms[i].result(value);
    memory.after = bytes_of(values);
    trials.push_back({.what = forms[i].name(),
                      .kernel = kernel,
                      .memories = {std::move(memory)},
                      .arguments = {AddressArgument{0}, ValueArgument::of(i)},
                      .shape = {.grid = {ctas, 1, 1}, .block = {convert_threads, 1, 1}}});
  }
  return trials;
}

}  // namespace

void add_conversions(std::vector<Case>& cases) {
  for (const CvtTarget& target : cvt_targets()) {
    const std::vector<CvtForm> forms = cvt_forms(target);
    cases.push_back(
        {.name = "convert." + target.name(),
         .instructions = {"cvt"},
         .what = fmt::format("numbers of every type to {}, in {} forms", target.name(), forms.size()),
         .trials = [forms](Random& random) { return trials(forms, random); }});
  }
}

}  // namespace conformance
