#pragma once

/// The operations of the C interface as templates: the members of their arguments, and calls.
#include <tmajit/c.h>

#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>

namespace tests {

// visit_members() calls visitor.member(member, name) for each member of an operation's arguments.
#define TMAJIT_MEMBER(name) member(arguments.name, #name)

template <class Visitor>
void visit_members(tmajit_copy_arguments&, Visitor&) {}
template <class Visitor>
void visit_members(tmajit_cast_arguments&, Visitor&) {}
template <class Visitor>
void visit_members(tmajit_copy_ragged_arguments&, Visitor&) {}
template <class Visitor>
void visit_members(tmajit_permute_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(axes);
}
template <class Visitor>
void visit_members(tmajit_slice_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(slices);
}
template <class Visitor>
void visit_members(tmajit_flip_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(axes);
}
template <class Visitor>
void visit_members(tmajit_broadcast_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(shape);
}
template <class Visitor>
void visit_members(tmajit_pad_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(widths).TMAJIT_MEMBER(value);
}
template <class Visitor>
void visit_members(tmajit_concat_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(axis).TMAJIT_MEMBER(new_axis);
}
template <class Visitor>
void visit_members(tmajit_split_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(axis).TMAJIT_MEMBER(parts).TMAJIT_MEMBER(drop_axis);
}
template <class Visitor>
void visit_members(tmajit_map_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(expression);
}
template <class Visitor>
void visit_members(tmajit_stencil_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(expression).TMAJIT_MEMBER(boundary).TMAJIT_MEMBER(value).TMAJIT_MEMBER(dims);
}
template <class Visitor>
void visit_members(tmajit_reduce_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(op)
      .TMAJIT_MEMBER(axes)
      .TMAJIT_MEMBER(expression)
      .TMAJIT_MEMBER(epilogue)
      .TMAJIT_MEMBER(keep_dims);
}
template <class Visitor>
void visit_members(tmajit_scan_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(op).TMAJIT_MEMBER(axis).TMAJIT_MEMBER(bound).TMAJIT_MEMBER(direction).TMAJIT_MEMBER(
      expression);
}
template <class Visitor>
void visit_members(tmajit_rowwise_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(steps).TMAJIT_MEMBER(axes);
}
template <class Visitor>
void visit_members(tmajit_cast_transpose_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(to).TMAJIT_MEMBER(orders).TMAJIT_MEMBER(amax);
}
template <class Visitor>
void visit_members(tmajit_top_k_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(k).TMAJIT_MEMBER(axis).TMAJIT_MEMBER(largest).TMAJIT_MEMBER(index);
}
template <class Visitor>
void visit_members(tmajit_gather_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(axes).TMAJIT_MEMBER(along).TMAJIT_MEMBER(out_of_range).TMAJIT_MEMBER(value);
  visitor.TMAJIT_MEMBER(flat).TMAJIT_MEMBER(expression);
}
template <class Visitor>
void visit_members(tmajit_scatter_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(axes).TMAJIT_MEMBER(along).TMAJIT_MEMBER(out_of_range).TMAJIT_MEMBER(flat);
}
template <class Visitor>
void visit_members(tmajit_scatter_add_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(axes).TMAJIT_MEMBER(along).TMAJIT_MEMBER(out_of_range).TMAJIT_MEMBER(deterministic);
  visitor.TMAJIT_MEMBER(flat);
}
template <class Visitor>
void visit_members(tmajit_gather_sum_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(axes).TMAJIT_MEMBER(out_of_range).TMAJIT_MEMBER(flat).TMAJIT_MEMBER(ragged);
}
template <class Visitor>
void visit_members(tmajit_moe_permute_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(count).TMAJIT_MEMBER(alignment);
}
template <class Visitor>
void visit_members(tmajit_reduce_into_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(op);
}
template <class Windows, class Visitor>
void visit_windows(Windows& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(filter).TMAJIT_MEMBER(strides).TMAJIT_MEMBER(dilations).TMAJIT_MEMBER(padding);
}
template <class Visitor>
void visit_members(tmajit_im2col_arguments& arguments, Visitor& visitor) {
  visit_windows(arguments, visitor);
}
template <class Visitor>
void visit_members(tmajit_convolution_arguments& arguments, Visitor& visitor) {
  visit_windows(arguments, visitor);
}
template <class Visitor>
void visit_members(tmajit_tiles_arguments& arguments, Visitor& visitor) {
  visitor.TMAJIT_MEMBER(family)
      .TMAJIT_MEMBER(expression)
      .TMAJIT_MEMBER(op)
      .TMAJIT_MEMBER(box)
      .TMAJIT_MEMBER(element_strides)
      .TMAJIT_MEMBER(swizzle);
  visitor.TMAJIT_MEMBER(interleave)
      .TMAJIT_MEMBER(oob)
      .TMAJIT_MEMBER(l2)
      .TMAJIT_MEMBER(stages)
      .TMAJIT_MEMBER(output_stages)
      .TMAJIT_MEMBER(warps);
  visitor.TMAJIT_MEMBER(ctas_per_sm).TMAJIT_MEMBER(tiles_per_cta);
}
/// Recipes: each takes some of these arguments.
template <class Recipe, class Visitor>
void visit_members(Recipe& arguments, Visitor& visitor) {
  if constexpr (requires { arguments.axis; }) visitor.TMAJIT_MEMBER(axis);
  if constexpr (requires { arguments.eps; }) visitor.TMAJIT_MEMBER(eps);
  if constexpr (requires { arguments.block; }) visitor.TMAJIT_MEMBER(block);
  if constexpr (requires { arguments.to; }) visitor.TMAJIT_MEMBER(to);
  if constexpr (requires { arguments.layout; }) visitor.TMAJIT_MEMBER(layout);
}
#undef TMAJIT_MEMBER

/// Calls a function of an operation. Its signature tells whether it takes one tensor or an array. `first` are
/// the arguments before the tensors, `rest` those after them.
template <class Function, class... First, class... Rest>
tmajit_status call_with_tensors(Function function, std::tuple<First...> first,
                                std::span<const tmajit_tensor> destinations,
                                std::span<const tmajit_tensor> sources, Rest... rest) {
  using Pointer = const tmajit_tensor*;
  const auto call = [&](auto... tensors) {
    return std::apply([&](First... before) { return function(before..., tensors..., rest...); }, first);
  };
  if constexpr (std::is_invocable_v<Function, First..., Pointer, Pointer, Rest...>) {
    return call(destinations.data(), sources.data());
  } else if constexpr (std::is_invocable_v<Function, First..., Pointer, Pointer, std::size_t, Rest...>) {
    return call(destinations.data(), sources.data(), sources.size());
  } else if constexpr (std::is_invocable_v<Function, First..., Pointer, std::size_t, Pointer, Rest...>) {
    return call(destinations.data(), destinations.size(), sources.data());
  } else {
    return call(destinations.data(), destinations.size(), sources.data(), sources.size());
  }
}

/// Calls tmajit_<operation>_results(). Its signature tells whether it takes one tensor or an array.
template <auto function, class Arguments>
tmajit_status call_results(std::span<const tmajit_tensor> sources, const Arguments& arguments,
                           std::span<tmajit_tensor> results, tmajit_error** error) {
  using Function = decltype(function);
  using From = const tmajit_tensor*;
  using Given = const Arguments*;
  using To = tmajit_tensor*;
  std::size_t count = results.size();
  if constexpr (std::is_invocable_v<Function, From, Given, To, tmajit_error**>) {
    return function(sources.data(), &arguments, results.data(), error);
  } else if constexpr (std::is_invocable_v<Function, From, Given, To, std::size_t*, tmajit_error**>) {
    return function(sources.data(), &arguments, results.data(), &count, error);
  } else if constexpr (std::is_invocable_v<Function, From, std::size_t, Given, To, tmajit_error**>) {
    return function(sources.data(), sources.size(), &arguments, results.data(), error);
  } else {
    return function(sources.data(), sources.size(), &arguments, results.data(), &count, error);
  }
}

}  // namespace tests
