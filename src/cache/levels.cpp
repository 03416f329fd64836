#include "cache/levels.hpp"

#include <utility>

TMAJIT_BEGIN

std::optional<Levels::Found> Levels::fetch(std::size_t level, const CacheKey& key,
                                           const CompilerIdentity& compiler,
                                           bool (*suits)(const Artifact&)) const {
  const KernelLevel& at = *levels_[level];
  std::optional<Artifact> artifact = at.fetch(key, /*whole=*/false);
  if (!artifact || !suits(*artifact)) return std::nullopt;
  Found found{.artifact = std::move(*artifact), .key = key, .compiler = compiler, .level = at.kind()};
  found.is_kept = !found.artifact.source.empty();
  if (at.kind() == CacheLevel::fleet) {
    for (std::size_t nearer = 0; nearer < level; ++nearer)
      if (levels_[nearer]->is_writable()) levels_[nearer]->keep(key, found.artifact, compiler);
  }
  return found;
}

template <class Compilers>
std::optional<Levels::Found> Levels::search(const KeyFor& key_for, bool (*suits)(const Artifact&),
                                            Compilers compilers_of) const {
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    for (const CompilerIdentity& compiler : compilers_of(*levels_[level])) {
      if (auto found = fetch(level, key_for(compiler), compiler, suits)) return found;
    }
  }
  return std::nullopt;
}

std::optional<Levels::Found> Levels::find(const KeyFor& key_for, bool (*suits)(const Artifact&)) const {
  return search(key_for, suits, [](const KernelLevel& level) { return level.usable_compilers(); });
}

std::optional<Levels::Found> Levels::find(const CacheKey& key, const CompilerIdentity& compiler,
                                          bool (*suits)(const Artifact&)) const {
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    if (auto found = fetch(level, key, compiler, suits)) return found;
  }
  return std::nullopt;
}

std::optional<Levels::Found> Levels::find_of_any_compiler(const KeyFor& key_for,
                                                          bool (*suits)(const Artifact&)) const {
  return search(key_for, suits, [](const KernelLevel& level) { return level.all_compilers(); });
}

std::optional<Artifact> Levels::whole(const CacheKey& key) const {
  for (const auto& level : levels_) {
    if (auto artifact = level->fetch(key, /*whole=*/true)) return artifact;
  }
  return std::nullopt;
}

bool Levels::keep(const CacheKey& key, const Artifact& artifact, const CompilerIdentity& compiler) const {
  bool kept = false;
  for (const KernelLevel* level : writable()) kept = level->keep(key, artifact, compiler) || kept;
  return kept;
}

std::vector<const KernelLevel*> Levels::writable() const {
  std::vector<const KernelLevel*> result;
  for (const auto& level : levels_)
    if (level->is_writable()) result.push_back(level.get());
  return result;
}

TMAJIT_END
