#include "ops/given_tensors.hpp"

#include <tmajit/error.hpp>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

void require_count(std::size_t count, std::size_t needed, std::string_view what) {
  if (count == needed) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} addresses of {}; the plan has {}, and needs one of each", count, what, needed));
}

}  // namespace

GivenTensors GivenTensors::of(std::span<const Move> moves) {
  GivenTensors given;
  given.destinations_ = moves.size();
  for (std::uint32_t i = 0; i < moves.size(); ++i) {
    given.destination_of_.push_back({i, 0});
    for (std::size_t k = 0; k < moves[i].sources.size(); ++k) {
      given.source_of_.push_back({static_cast<std::uint32_t>(given.sources_++), 0});
    }
  }
  return given;
}

GivenTensors GivenTensors::of(std::span<const Move> moves, std::span<const Tensor> destinations,
                              std::span<const Tensor> sources) {
  GivenTensors given;
  given.destinations_ = destinations.size();
  given.sources_ = sources.size();
  const bool one_move = moves.size() == 1;
  for (std::uint32_t i = 0; i < moves.size(); ++i) {
    const std::uint32_t destination = destinations.size() == 1 ? 0 : i;
    given.destination_of_.push_back(
        {destination, moves[i].destination.address - destinations[destination].address});
    for (std::uint32_t k = 0; k < moves[i].sources.size(); ++k) {
      const std::uint32_t source = sources.size() == 1 ? 0 : one_move ? k : i;
      given.source_of_.push_back({source, moves[i].sources[k].address - sources[source].address});
    }
  }
  return given;
}

GivenTensors::Addresses GivenTensors::at(std::span<const DevicePtr> destinations,
                                         std::span<const DevicePtr> sources) const {
  require_count(destinations.size(), destinations_, "destinations");
  require_count(sources.size(), sources_, "sources");
  Addresses addresses;
  addresses.destinations.reserve(destination_of_.size());
  addresses.sources.reserve(source_of_.size());
  for (const auto& [tensor, offset] : destination_of_) {
    addresses.destinations.push_back(destinations[tensor] + offset);
  }
  for (const auto& [tensor, offset] : source_of_) addresses.sources.push_back(sources[tensor] + offset);
  return addresses;
}

TMAJIT_END
