#include "kernel/parameters.hpp"

#include "spec/saturate.hpp"

#include <tmajit/error.hpp>

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

std::string ParameterType::text(std::string_view scope) const {
  std::string text = fmt::format("{}{}{}", pointer == Pointer::to_const ? "const " : "", scope, name);
  if (first != 0 && second == 0) text += fmt::format("<{}>", first);
  if (second != 0) text += fmt::format("<{}, {}>", first, second);
  return pointer == Pointer::no ? text : text + "*";
}

std::uint32_t ParameterBlock::add_bytes(ParameterType type, std::string_view name,
                                        std::span<const std::byte> value, std::size_t alignment) {
  const auto offset = static_cast<std::uint32_t>(round_up(bytes_.size(), alignment));
  if (entries_.size() == max_parameters || offset + value.size() > max_bytes) {
    throw Error(ErrorCode::internal, "a kernel takes more parameters than a ParameterBlock holds");
  }
  bytes_.resize(offset);
  bytes_.insert(bytes_.end(), value.begin(), value.end());
  entries_.push_back({type, name, offset, static_cast<std::uint32_t>(value.size())});
  return offset;
}

void ParameterBlock::add_address(std::uint32_t offset, std::uint32_t operand) {
  if (patches_.size() == max_patches) {
    throw Error(ErrorCode::internal, "a kernel takes more addresses than a ParameterBlock holds");
  }
  patches_.push_back({offset, operand});
}

void ParameterBlock::add_map(std::string_view name, std::uint32_t operand, const TensorMapSpec& spec,
                             DevicePtr address) {
  const std::uint32_t offset = add({"params::TensorMap"}, name, EncodedTensorMap{});
  add_map_inside(offset, operand, spec, address);
}

void ParameterBlock::add_map_inside(std::uint32_t offset, std::uint32_t operand, const TensorMapSpec& spec,
                                    DevicePtr address) {
  maps_.push_back({.entry = static_cast<std::uint32_t>(entries_.size() - 1),
                   .offset = offset,
                   .operand = operand,
                   .address = address,
                   .spec = spec});
}

TMAJIT_END
