#include "fusion/rules.hpp"
#include "operations/list.hpp"
#include "spec/overlap.hpp"
#include "spec/saturate.hpp"

#include <tmajit/fusion.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// The moves of one kernel of a chain.
struct ChainKernel {
  std::vector<Move> moves;
  std::size_t operation = 0;  ///< its number in the given chain
  bool is_fused = false;
  bool is_border = false;  ///< fills a part of the border of a pad, which is fused into another kernel

  [[nodiscard]] std::string text() const {
    return fmt::format("operation {} ({})", operation, operation_name(moves.front()));
  }
  [[nodiscard]] bool reads(const Tensor& tensor) const {
    return std::ranges::any_of(moves.front().sources,
                               [&](const Tensor& source) { return may_overlap(source, tensor); });
  }
  [[nodiscard]] bool writes(const Tensor& tensor) const {
    return std::ranges::any_of(moves,
                               [&](const Move& move) { return may_overlap(move.destination, tensor); });
  }
};

/// Bytes of a tensor's elements. Elements that a stride of 0 repeats count once.
std::uint64_t bytes_of(const Tensor& tensor) {
  if (tensor.view.is_number) return 0;
  std::uint64_t bytes = size_of(tensor.view.type);
  for (std::uint32_t d = 0; d < tensor.view.rank; ++d)
    if (tensor.view.strides[d] != 0) bytes = sat_mul(bytes, tensor.view.shape[d]);
  return bytes;
}

/// Whether a move is known to overwrite all elements of its destination without reading them.
bool replaces_all(const Move& move) {
  return is_any_of<Copy, Padding, Map, Stencil, Reduction, Scan, Rowwise>(move);
}

/// Whether all bytes of `part` belong to elements of `whole`.
bool covers(const Tensor& whole, const Tensor& part) {
  if (whole == part) return true;
  const std::optional<ByteRange> outer = byte_range({whole.view, whole.address});
  const std::optional<ByteRange> inner = byte_range({part.view, part.address});
  return outer && inner && outer->first <= inner->first && inner->last <= outer->last &&
         bytes_of(whole) == outer->last - outer->first + 1;
}

/// The kernels that read an intermediate tensor before a later kernel replaces all of it.
struct Readers {
  std::vector<std::size_t> kernels;
  bool is_overwritten = false;  ///< a later kernel writes parts of it, or overwrites it in place
};

/// Fuses one chain. In all functions, move k of kernel p (producer) writes an intermediate tensor, and kernel
/// c (consumer) reads it.
class ChainFusion {
 public:
  ChainFusion(List<Operation> chain, List<Tensor> unused)
      : chain_(chain.begin(), chain.end()), unused_(unused.begin(), unused.end()) {
    for (std::size_t i = 0; i < chain_.size(); ++i) {
      check_operation(chain_[i].moves);
      for (const std::span<const Move> moves : kernels_of(chain_[i].moves))
        kernels_.push_back({{moves.begin(), moves.end()}, i});
    }
  }

  Fusion run() {
    for (bool has_fused = true; has_fused;) {
      obstacles_.clear();
      has_fused = fuse_any();
    }
    Fusion fusion{.operations = operations(), .sentences = std::move(sentences_)};
    fusion.sentences.insert(fusion.sentences.end(), obstacles_.begin(), obstacles_.end());
    return fusion;
  }

 private:
  [[nodiscard]] bool fuse_any() {
    for (std::size_t p = 0; p < kernels_.size(); ++p) {
      if (kernels_[p].is_border) continue;
      for (std::size_t k = 0; k < kernels_[p].moves.size(); ++k)
        if (fuse_destination(p, k)) return true;
    }
    return false;
  }

  [[nodiscard]] Readers readers_of(std::size_t p, const Tensor& tensor) const {
    Readers readers;
    for (std::size_t c = p + 1; c < kernels_.size(); ++c) {
      if (kernels_[c].reads(tensor)) readers.kernels.push_back(c);
      if (!kernels_[c].writes(tensor)) continue;
      const bool writes_all = std::ranges::any_of(kernels_[c].moves, [&](const Move& move) {
        return replaces_all(move) && covers(move.destination, tensor);
      });
      readers.is_overwritten = readers.is_overwritten || !writes_all || kernels_[c].reads(tensor);
      if (writes_all) break;
    }
    return readers;
  }

  [[nodiscard]] bool is_unused(const Tensor& tensor) const {
    return std::ranges::any_of(unused_, [&](const Tensor& whole) { return covers(whole, tensor); });
  }

  void refuse_fusion(std::size_t p, std::size_t c, std::string_view reason) {
    std::string sentence =
        fmt::format("{} is not fused into {}, {}.", kernels_[p].text(), kernels_[c].text(), reason);
    // A reader of several results is refused once.
    if (std::ranges::count(obstacles_, sentence) == 0) obstacles_.push_back(std::move(sentence));
  }

  /// Fuses the kernel that writes a destination with kernels that read it. Returns whether any was fused.
  bool fuse_destination(std::size_t p, std::size_t k) {
    const Tensor intermediate = kernels_[p].moves[k].destination;
    const Readers readers = readers_of(p, intermediate);
    if (readers.kernels.empty()) return false;
    const std::size_t first = readers.kernels.front();
    if (readers.is_overwritten) {
      refuse_fusion(p, first, "as a later operation overwrites the intermediate tensor, or parts of it");
      return false;
    }
    if (kernels_[p].reads(intermediate)) {
      refuse_fusion(p, first, "as it works in place");
      return false;
    }
    const bool is_map = is_any_of<Map>(kernels_[p].moves.front());
    const bool is_padded = readers.kernels.size() == 1 && is_unused(intermediate) &&
                           is_any_of<Padding>(kernels_[first].moves.front());
    const bool stores = is_map ? is_padded : !is_any_of<Copy>(kernels_[p].moves.front());
    if (!stores) return fuse_into_readers(p, readers.kernels);
    return std::ranges::any_of(readers.kernels, [&](std::size_t c) { return fuse_reader(p, k, c); });
  }

  /// Whether the condition holds for a kernel between p and c, or for another kernel of c's operation.
  template <class Condition>
  [[nodiscard]] bool any_between(std::size_t p, std::size_t c, const Condition& condition) const {
    for (std::size_t b = p + 1; b < kernels_.size(); ++b) {
      const bool is_between = b < c || kernels_[b].operation == kernels_[c].operation;
      if (b != c && is_between && condition(kernels_[b])) return true;
    }
    return false;
  }
  [[nodiscard]] bool writes_sources(std::size_t p, std::size_t c, std::span<const Tensor> sources) const {
    return any_between(p, c, [&](const ChainKernel& kernel) {
      return std::ranges::any_of(sources, [&](const Tensor& source) { return kernel.writes(source); });
    });
  }

  /// Whether the fused readers together load no more bytes than the unfused kernels move: the kernel loads
  /// its sources and stores the intermediate tensor, and each reader loads that tensor.
  [[nodiscard]] bool saves_bytes(std::size_t p, std::size_t readers) const {
    const Move& move = kernels_[p].moves.front();
    std::uint64_t read = 0;
    for (const Tensor& source : move.sources) read += bytes_of(source);
    const std::uint64_t intermediate = bytes_of(move.destination);
    return readers == 1 || sat_mul(readers, read) <= read + sat_mul(readers + 1, intermediate);
  }

  /// Computes a map or a copy where its readers load elements, and removes it.
  bool fuse_into_readers(std::size_t p, const std::vector<std::size_t>& readers) {
    const Move producer = kernels_[p].moves.front();
    if (!is_unused(producer.destination)) {
      refuse_fusion(p, readers.front(), "as the intermediate tensor is not listed as unused");
      return false;
    }
    if (!saves_bytes(p, readers.size())) {
      refuse_fusion(
          p, readers.front(),
          fmt::format("as {} operations read the result, and together would load more bytes than this saves",
                      readers.size()));
      return false;
    }
    std::vector<FusedMoves> fused;
    for (const std::size_t c : readers) {
      if (writes_sources(p, c, producer.sources)) {
        refuse_fusion(p, c, "as a source of the first is overwritten before the second reads it");
        return false;
      }
      fused.push_back(fuse_into_loads(producer, kernels_[c].moves));
      if (fused.back().is_fused()) continue;
      refuse_fusion(p, c, fused.back().sentence);
      return false;
    }
    for (std::size_t r = 0; r < readers.size(); ++r) {
      ChainKernel& reader = kernels_[readers[r]];
      sentences_.push_back(
          fmt::format("{} is fused into {}, {}.", kernels_[p].text(), reader.text(), fused[r].sentence));
      reader.moves = std::move(fused[r].moves);
      reader.is_fused = true;
    }
    kernels_.erase(kernels_.begin() + static_cast<std::ptrdiff_t>(p));
    return true;
  }

  /// The destinations of kernel p that the fused kernel stores, if kernel c reads its results there; nothing
  /// if c does not read what p writes.
  [[nodiscard]] std::optional<std::vector<bool>> kept_destinations(std::size_t p, std::size_t c) const {
    std::vector<bool> keeps;
    for (const Move& move : kernels_[p].moves) {
      const Tensor& destination = move.destination;
      if (!kernels_[c].reads(destination)) {
        keeps.push_back(true);
        continue;
      }
      const Readers readers = readers_of(p, destination);
      if (readers.is_overwritten || !std::ranges::count(readers.kernels, c) || kernels_[p].reads(destination))
        return std::nullopt;
      keeps.push_back(readers.kernels.size() > 1 || !is_unused(destination));
    }
    return keeps;
  }

  /// Computes a reader's results where kernel p stores its own, and removes the reader.
  bool fuse_reader(std::size_t p, std::size_t k, std::size_t c) {
    const ChainKernel& writer = kernels_[p];
    const ChainKernel& reader = kernels_[c];
    const std::optional<std::vector<bool>> keeps = kept_destinations(p, c);
    if (!keeps) {
      refuse_fusion(p, c, "as another of its sources is overwritten between them");
      return false;
    }
    FusedMoves fused = fuse_into_stores(writer.moves, k, reader.moves, *keeps);
    if (!fused.is_fused()) {
      refuse_fusion(p, c, fused.sentence);
      return false;
    }
    const bool is_late = can_run_late(p, c, *keeps);
    if (!is_late && !can_run_early(p, c)) {
      refuse_fusion(p, c, "as an operation between them reads or writes their tensors");
      return false;
    }
    sentences_.push_back(
        fmt::format("{} is fused into {}, {}.", reader.text(), writer.text(), fused.sentence));
    const std::size_t replaced = reader.operation;
    ChainKernel made{std::move(fused.moves), is_late ? reader.operation : writer.operation, true};
    kernels_[is_late ? c : p] = std::move(made);
    kernels_.erase(kernels_.begin() + static_cast<std::ptrdiff_t>(is_late ? p : c));
    const auto after = kernels_.begin() + static_cast<std::ptrdiff_t>(is_late ? c : p + 1);
    std::vector<ChainKernel> border;
    for (Move& move : fused.border) border.push_back({{std::move(move)}, replaced, true, true});
    kernels_.insert(after, std::make_move_iterator(border.begin()), std::make_move_iterator(border.end()));
    return true;
  }

  /// Whether the writer may run in the place of the reader.
  [[nodiscard]] bool can_run_late(std::size_t p, std::size_t c, const std::vector<bool>& keeps) const {
    const std::vector<Move>& moves = kernels_[p].moves;
    if (writes_sources(p, c, moves.front().sources)) return false;
    return !any_between(p, c, [&](const ChainKernel& kernel) {
      for (std::size_t k = 0; k < moves.size(); ++k) {
        const Tensor& destination = moves[k].destination;
        if (keeps[k] && (kernel.reads(destination) || kernel.writes(destination))) return true;
      }
      return false;
    });
  }
  /// Whether the reader may run in the place of the writer.
  [[nodiscard]] bool can_run_early(std::size_t p, std::size_t c) const {
    const std::vector<Move>& moves = kernels_[c].moves;
    return !any_between(p, c, [&](const ChainKernel& kernel) {
      return std::ranges::any_of(moves.front().sources,
                                 [&](const Tensor& source) { return kernel.writes(source); }) ||
             std::ranges::any_of(moves, [&](const Move& move) {
               return kernel.reads(move.destination) || kernel.writes(move.destination);
             });
    });
  }

  /// The kernels as operations. Those of a given operation that were not fused remain one operation.
  [[nodiscard]] std::vector<Operation> operations() const {
    std::vector<Operation> made;
    std::vector<bool> is_done(chain_.size());
    const ChainKernel* before = nullptr;
    for (const ChainKernel& kernel : kernels_) {
      const bool continues_border =
          kernel.is_border && before != nullptr && before->is_border && before->operation == kernel.operation;
      before = &kernel;
      if (continues_border) {
        std::vector<Move> moves = std::move(made.back().moves);
        moves.push_back(kernel.moves.front());
        made.back() = Operation::of(std::move(moves));
        continue;
      }
      if (kernel.is_fused) {
        made.push_back(operation_of(kernel.moves));
        continue;
      }
      if (is_done[kernel.operation]) continue;
      is_done[kernel.operation] = true;
      std::vector<Move> moves;
      for (const ChainKernel& part : kernels_) {
        if (part.operation == kernel.operation && !part.is_fused)
          moves.insert(moves.end(), part.moves.begin(), part.moves.end());
      }
      const Operation& given = chain_[kernel.operation];
      if (moves.size() == given.moves.size()) {
        made.push_back(given);
      } else {
        made.push_back(Operation::of(std::move(moves)));
        made.back().one_launch = given.one_launch;
      }
    }
    return made;
  }

  /// The operation of one kernel's moves, which have the same sources.
  static Operation operation_of(const std::vector<Move>& moves) {
    Operation operation{.moves = moves, .destinations = {}, .sources = moves.front().sources};
    for (const Move& move : moves) operation.destinations.push_back(move.destination);
    return operation;
  }

  std::vector<Operation> chain_;
  std::vector<Tensor> unused_;
  std::vector<ChainKernel> kernels_;
  std::vector<std::string> sentences_;
  std::vector<std::string> obstacles_;
};

}  // namespace

Fusion fuse(List<Operation> chain, List<Tensor> unused) {
  return ChainFusion(chain, unused).run();
}

TMAJIT_END
