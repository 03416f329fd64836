#include "codegen/flags.hpp"

#include <tmajit/error.hpp>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// The generator's flags, which device headers may use as well. templates/README.md explains them.
constexpr std::string_view generator_flags[] = {
    "host",            // never set: the host includes parameter structs, and the assertions of their layouts
    "cache_hints",     // bulk copies take a cache policy
    "multicast",       // bulk loads write to several CTAs of a cluster
    "rank1",           // bulk tensor copies of one dimension
    "rank2",           // of two
    "rank3",           // of three
    "rank4",           // of four
    "rank5",           // of five
    "bytes1",          // an element has one byte
    "bytes2",          // two bytes
    "bytes4",          // four bytes
    "bytes8",          // eight bytes
    "words",           // an element has four bytes or more
    "narrow",          // an element is an integer of one or two bytes
    "paired",          // an element is f16, bf16, e4m3 or e5m2: the hardware converts them in pairs
    "integer_result",  // an expression's result, or a padding's value, is converted to an integer
    "reads_g",         // the expression reads g, an element's coordinates
    "epilogue_numbers",  // the epilogue of a reduction reads numbers of the launch
};

}  // namespace

Flags::Flags() {
  for (const std::string_view name : generator_flags) is_set_.emplace(name, false);
}

Flags Flags::everything() {
  Flags all;
  all.keeps_all_ = true;
  return all;
}

void Flags::set(std::string_view name, bool on) {
  is_set_.try_emplace(std::string(name), false).first->second |= on;
}

void Flags::set_size(std::uint32_t bytes) {
  if (bytes <= 8) set(fmt::format("bytes{}", bytes));
  if (bytes >= 4) set("words");
}

void Flags::set_element(ElementType type) {
  const bool paired = type == ElementType::f16 || type == ElementType::bf16 || type == ElementType::e4m3 ||
                      type == ElementType::e5m2;
  const std::uint32_t bytes = size_of(type);
  set_size(bytes);
  if (paired) set("paired");
  if (bytes < 4 && !paired) set("narrow");
}

bool Flags::has(std::string_view name) const {
  if (keeps_all_) return true;
  const auto found = is_set_.find(name);
  if (found != is_set_.end()) return found->second;
  throw Error(ErrorCode::internal,
              fmt::format("the flag \"{}\" is neither the family's nor the generator's", name));
}

TMAJIT_END
