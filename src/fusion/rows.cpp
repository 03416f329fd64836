#include "families/rowwise/row_layout.hpp"
#include "fusion/expression_text.hpp"
#include "fusion/fused_body.hpp"
#include "fusion/row_program.hpp"
#include "kernel/problem.hpp"
#include "kernel/row_steps.hpp"
#include "operations/list.hpp"
#include "spec/views.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// Whether no dimension of several elements has stride 0.
bool repeats_no_element(const Tensor& tensor) {
  for (std::uint32_t d = 0; d < tensor.view.rank; ++d)
    if (tensor.view.shape[d] > 1 && tensor.view.strides[d] == 0) return false;
  return true;
}

std::string without_last_semicolon(std::string text) {
  while (text.ends_with(' ') || text.ends_with(';')) text.pop_back();
  return text;
}

/// Whether the steps read the index of an element in its row.
bool reads_index(std::string_view steps) {
  return reads(steps, "i") || reads(steps, name(ReductionOp::arg_min)) ||
         reads(steps, name(ReductionOp::arg_max));
}

/// Fuses two programs of rows: the steps of the consumer follow those of the producer.
class RowFusion {
 public:
  RowFusion(RowProgram producer, RowProgram consumer, const std::vector<bool>& keeps)
      : producer_(std::move(producer)), consumer_(std::move(consumer)), keeps_(keeps) {}

  FusedMoves run() {
    if (!find_reads() || !find_order() || !add_sources() || !add_destinations() || !name_steps())
      return refused("{}", obstacle_);
    const bool is_step = !reads_along_rows() && consumer_.is_map;
    FusedMoves fused = checked(
        moves(), is_step ? "which is a further step" : "as steps of rows, whose elements are loaded once");
    if (!fused.is_fused() || is_step) return fused;
    if (const std::string obstacle = pass_obstacle(fused.moves); !obstacle.empty())
      return refused("{}", obstacle);
    return fused;
  }

 private:
  /// A source of the consumer that is a result of the producer.
  struct Read {
    std::size_t source;
    std::size_t result;
  };

  bool refuse(std::string_view obstacle) {
    obstacle_ = obstacle;
    return false;
  }
  [[nodiscard]] const RowProgram::Result& result_of(const Read& read) const {
    return producer_.results[read.result];
  }

  bool find_reads() {
    for (std::size_t s = 0; s < consumer_.sources.size(); ++s) {
      const Tensor& source = consumer_.sources[s];
      if (source.view.is_number) continue;
      for (std::size_t j = 0; j < producer_.results.size(); ++j) {
        const Tensor& destination = producer_.results[j].destination;
        if (!may_overlap(source, destination)) continue;
        if (source.view.type != destination.view.type) return refuse(other_type);
        reads_.push_back({s, j});
        break;
      }
    }
    // find_order() uses the first read. A result with a value for each element determines the order of all
    // dimensions.
    std::ranges::stable_sort(reads_, {}, [&](const Read& read) { return result_of(read).by_row; });
    return true;
  }

  /// Whether the consumer is a map of one value for each row.
  [[nodiscard]] bool is_by_row() const {
    const std::size_t tensors = consumer_.sources.size() - count_numbers(consumer_.sources);
    return consumer_.is_map && reads_.size() == tensors && std::ranges::all_of(reads_, [&](const Read& read) {
             const Tensor& source = consumer_.sources[read.source];
             return result_of(read).by_row && repeats_no_element(source);
           });
  }
  /// Whether the consumer broadcasts a result with one value for each row to the elements of the rows.
  [[nodiscard]] bool reads_along_rows() const {
    return !is_by_row() &&
           std::ranges::any_of(reads_, [&](const Read& read) { return result_of(read).by_row; });
  }

  bool find_order() {
    const Read& first = reads_.front();
    const Tensor& source = consumer_.sources[first.source];
    order_ = RowOrder::find(producer_, result_of(first), source, consumer_.whole, is_by_row());
    if (!order_ && !result_of(first).by_row) return refuse(other_order);
    if (!order_ && repeats_no_element(source)) {
      return refuse(consumer_.is_map ? "as a step with one value for each row reads no further tensors"
                                     : "as it reduces results that have one value for each row");
    }
    if (!order_)
      return refuse("as the result is broadcast along other dimensions than those that were reduced");
    if (!consumer_.is_map && !order_->has_rows_of(consumer_))
      return refuse("as its rows have other dimensions");
    if (!consumer_.is_map && reads_index(consumer_.steps) && !order_->keeps_index(consumer_))
      return refuse("as the index i would be that of another element");
    return true;
  }

  /// Adds the sources of both programs, each once.
  bool add_sources() {
    for (const Tensor& source : producer_.sources)
      producer_slots_.push_back(sources_.add(source.view.is_number ? source : without_idle_strides(source)));
    consumer_slots_.resize(consumer_.sources.size());
    for (std::size_t s = 0; s < consumer_.sources.size(); ++s) {
      const Tensor& source = consumer_.sources[s];
      const auto read = std::ranges::find(reads_, s, &Read::source);
      if (read != reads_.end()) {
        if (!order_->is_result(source, result_of(*read))) return refuse(other_order);
        continue;
      }
      std::optional<Tensor> moved =
          source.view.is_number ? number_like(source, producer_.whole) : order_->pushed(source);
      if (!moved) return refuse(other_order);
      consumer_slots_[s] = sources_.add(*moved);
    }
    return true;
  }

  /// Adds the producer's destinations that are kept, then those of the consumer.
  bool add_destinations() {
    for (std::size_t j = 0; j < producer_.results.size(); ++j)
      if (keeps_[j]) destinations_.push_back(producer_.results[j].destination);
    for (const RowProgram::Result& result : consumer_.results) {
      const std::optional<Tensor> destination = result.by_row
                                                    ? order_->pushed_row(consumer_, result.destination)
                                                    : order_->pushed(result.destination);
      if (!destination) return refuse(other_order);
      destinations_.push_back(*destination);
    }
    if (destinations_.size() <= max_inputs) return true;
    return refuse(fmt::format("as both have {} destinations; at most {} are possible", destinations_.size(),
                              max_inputs));
  }

  /// A name that neither program and no other new name has.
  std::string new_name() {
    std::string name = unused_name(producer_.steps + " " + consumer_.steps, new_names_);
    new_names_ += name + " ";
    return name;
  }

  /// Names the steps of both programs. Destinations have the numbers of `destinations_`.
  bool name_steps() {
    producer_names_ = sources_.renames(producer_slots_);
    const auto number_results = [&](const RowProgram& program, Renames& names, std::uint32_t number,
                                    const auto& is_stored) {
      for (const std::string& name : assigned_names(program.steps))
        if (const auto y = destination_number(name); y && !is_stored(*y)) names[name] = new_name();
      for (const RowProgram::Result& result : program.results) {
        if (!is_stored(result.number)) continue;
        for (const std::string& name : assigned_names(program.steps))
          if (destination_number(name) == result.number) names[name] = fmt::format("y{}", number);
        ++number;
      }
      return number;
    };
    const std::uint32_t kept = number_results(producer_, producer_names_, 0, [&](std::uint32_t y) {
      const auto result = std::ranges::find(producer_.results, y, &RowProgram::Result::number);
      return result != producer_.results.end() &&
             keeps_[static_cast<std::size_t>(result - producer_.results.begin())];
    });
    number_results(consumer_, consumer_names_, kept, [&](std::uint32_t y) {
      return std::ranges::count(consumer_.results, y, &RowProgram::Result::number) > 0;
    });
    return name_values() && name_sources();
  }

  /// Renames the consumer's steps whose names the producer has, too.
  bool name_values() {
    const std::vector<std::string> own = assigned_names(consumer_.steps);
    for (const std::string& name : own)
      if (!destination_number(name) && reads(producer_.steps, name)) consumer_names_[name] = new_name();
    for (const std::string& name : assigned_names(producer_.steps)) {
      if (destination_number(name) || std::ranges::count(own, name) > 0) continue;
      if (reads(consumer_.steps, name))
        return refuse(fmt::format("as {} has another meaning in the steps", name));
    }
    return true;
  }

  bool name_sources() {
    for (std::size_t s = 0; s < consumer_.sources.size(); ++s) {
      const auto read = std::ranges::find(reads_, s, &Read::source);
      const std::string text =
          read == reads_.end() ? sources_.name(consumer_slots_[s]) : value_of(result_of(*read));
      for (const std::string& name : source_names(consumer_.sources, s)) consumer_names_[name] = text;
    }
    return true;
  }
  /// The value of a producer's result as the consumer would load it.
  [[nodiscard]] std::string value_of(const RowProgram::Result& result) const {
    const std::vector<std::string> names = assigned_names(producer_.steps);
    const auto name = std::ranges::find(names, std::optional(result.number), destination_number);
    return stored(result.destination.view.type, producer_names_.at(*name));
  }

  [[nodiscard]] std::vector<Move> moves() const {
    Rowwise rows{
        .steps = fmt::format("{}; {}", renamed(without_last_semicolon(producer_.steps), producer_names_),
                             renamed(without_last_semicolon(consumer_.steps), consumer_names_)),
        .axes = axes()};
    std::vector<Move> made;
    for (const Tensor& destination : destinations_) {
      made.push_back({.destination = destination, .sources = sources_.in_order(), .body = rows});
      ++rows.result;
    }
    return made;
  }
  [[nodiscard]] Dims axes() const {
    std::vector<std::int64_t> axes;
    for (std::uint32_t d = 0; d < producer_.whole.rank; ++d)
      if (producer_.in_row[d]) axes.push_back(d);
    return axes;
  }

  /// Why the fused kernel would load as many elements as both kernels; empty if it loads fewer.
  [[nodiscard]] std::string pass_obstacle(std::span<const Move> fused) const {
    const bool reads_elements =
        std::ranges::any_of(reads_, [&](const Read& read) { return !result_of(read).by_row; });
    const auto is_shared = [&](std::size_t s) {
      const bool is_read = std::ranges::find(reads_, s, &Read::source) != reads_.end();
      return !is_read && std::ranges::count(producer_slots_, consumer_slots_[s]) > 0;
    };
    bool shares = reads_elements;
    for (std::size_t s = 0; s < consumer_.sources.size() && !shares; ++s) {
      shares =
          is_shared(s) && !consumer_.sources[s].view.is_number && repeats_no_element(consumer_.sources[s]);
    }
    if (!shares)
      return "as the two share no tensor with all elements of the rows, so that this would save no pass over "
             "memory";
    const Problem problem = make_problem(fused);
    if (!problem.nest.empty() && row_layouts(problem).front().reloads)
      return "as the rows do not fit on the chip, so that each reduction would load them again";
    return {};
  }

  RowProgram producer_;
  RowProgram consumer_;
  const std::vector<bool>& keeps_;
  std::string obstacle_;
  std::vector<Read> reads_;
  std::optional<RowOrder> order_;
  FusedSources sources_;
  FusedSources::Slots producer_slots_;
  FusedSources::Slots consumer_slots_;
  std::vector<Tensor> destinations_;
  std::string new_names_;
  Renames producer_names_;
  Renames consumer_names_;
};

}  // namespace

FusedMoves fuse_rows(std::span<const Move> producer, std::span<const Move> consumer,
                     const std::vector<bool>& keeps) {
  FoundProgram first = row_program(producer);
  if (!first.program) return refused("{}", first.obstacle);
  FoundProgram second = row_program(consumer);
  if (!second.program) return refused("{}", second.obstacle);
  return RowFusion(std::move(*first.program), std::move(*second.program), keeps).run();
}

TMAJIT_END
