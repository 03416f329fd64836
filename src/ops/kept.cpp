#include "ops/kept.hpp"

TMAJIT_BEGIN
namespace {

std::unique_ptr<Companion> make_kept(const Runtime& runtime) {
  return std::make_unique<MoveCaches>(runtime);
}

}  // namespace

MoveCaches& kept_of(const Runtime& runtime) {
  return static_cast<MoveCaches&>(companion_of(runtime, make_kept));
}

TuningTable& tuning(const Runtime& runtime) {
  return kept_of(runtime).tuning.table();
}

bool remember(const Runtime& runtime, const TunedChoice& choice) {
  return kept_of(runtime).tuning.remember(choice);
}

TMAJIT_END
