#include "conformance/word_kernel.hpp"

#include "conformance/kernel_text.hpp"
#include "conformance/values.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace conformance {

using namespace tmajit;
using reference::Random;

Trial trial_of(const WordKernel& kernel, Random& random) {
  // At least one word, because empty memory has no address.
  std::vector<std::byte> in = random_bytes(random, std::size_t{4} * std::max(kernel.in, 1U));
  std::vector<std::uint32_t> values(in.size() / 4);
  std::memcpy(values.data(), in.data(), in.size());
  std::vector<std::uint32_t> results(kernel.out);
  kernel.expect(results, values);
  Memory out{"results", ElementType::u32, std::vector<std::byte>(std::size_t{4} * kernel.out), {}};
  out.after.resize(out.before.size());
  std::memcpy(out.after.data(), results.data(), out.after.size());
  return {.what = kernel.what,
          .kernel = kernel_of(kernel.text, "words"),
          .memories = {std::move(out), {"input", ElementType::u32, in, in}},
          .arguments = {AddressArgument{0}, AddressArgument{1}},
          .shape = {.grid = {kernel.ctas, 1, 1},
                    .block = {kernel.threads, 1, 1},
                    .shared_bytes = kernel.shared_bytes,
                    .cluster = {kernel.ctas, 1, 1}}};
}

Case case_of(std::string name, std::vector<std::string> instructions, const WordKernel& kernel) {
  constexpr std::size_t trials_per_case = 3;
  return {.name = std::move(name),
          .instructions = std::move(instructions),
          .what = kernel.what,
          .trials = [kernel](Random& random) {
            std::vector<Trial> trials;
            while (trials.size() < trials_per_case) trials.push_back(trial_of(kernel, random));
            return trials;
          }};
}

}  // namespace conformance
