#include <tmajit/tuning.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <tuple>

TMAJIT_BEGIN

struct TuningTable::State {
  using Key = std::tuple<std::string, std::string, std::string>;  // chip, class, version
  mutable std::shared_mutex mutex;
  std::map<Key, TunedChoice> choices;
};

TuningTable::TuningTable() : state_(std::make_unique<State>()) {}
TuningTable::~TuningTable() = default;
TuningTable::TuningTable(TuningTable&&) noexcept = default;
TuningTable& TuningTable::operator=(TuningTable&&) noexcept = default;

std::optional<TunedChoice> TuningTable::find(std::string_view chip, std::string_view shape_class) const {
  const std::shared_lock lock(state_->mutex);
  const auto found = state_->choices.find(
      State::Key(std::string(chip), std::string(shape_class), std::string(TMAJIT_VERSION_STRING)));
  if (found == state_->choices.end()) return std::nullopt;
  return found->second;
}

void TuningTable::add(const TunedChoice& choice) {
  const std::unique_lock lock(state_->mutex);
  state_->choices.insert_or_assign(State::Key(choice.chip, choice.shape_class, choice.version), choice);
}

std::vector<TunedChoice> TuningTable::all() const {
  const std::shared_lock lock(state_->mutex);
  std::vector<TunedChoice> result;
  for (const auto& [key, choice] : state_->choices) result.push_back(choice);
  return result;
}

TMAJIT_END
