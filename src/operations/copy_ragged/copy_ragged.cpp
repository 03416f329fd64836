#include "operations/shared/make.hpp"
#include "spec/counted.hpp"

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

Operation operation::copy_ragged(List<Tensor> destinations, List<Tensor> sources) {
  if (destinations.size() != sources.size()) {
    refuse("{} and {}; a batch needs as many of both", counted(destinations.size(), "destination"),
           counted(sources.size(), "source"));
  }
  Operation batch{.moves = {},
                  .destinations = {destinations.begin(), destinations.end()},
                  .sources = {sources.begin(), sources.end()},
                  .one_launch = true};
  for (std::size_t i = 0; i < sources.size(); ++i)
    batch.moves.push_back({.destination = destinations[i], .sources = {sources[i]}});
  return batch;
}

TMAJIT_END
