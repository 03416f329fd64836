#include "ops/move_caches.hpp"

TMAJIT_BEGIN
namespace {

std::unique_ptr<Companion> make_move_caches(const Runtime& runtime) {
  return std::make_unique<MoveCaches>(runtime);
}

}  // namespace

MoveCaches& move_caches(const Runtime& runtime) {
  return static_cast<MoveCaches&>(companion_of(runtime, make_move_caches));
}

TuningTable& tuning(const Runtime& runtime) {
  return move_caches(runtime).tuning.table();
}

bool remember(const Runtime& runtime, const TunedChoice& choice) {
  return move_caches(runtime).tuning.remember({&choice, 1});
}

bool remember(const Runtime& runtime, List<TunedChoice> choices) {
  return move_caches(runtime).tuning.remember(choices);
}

TMAJIT_END
