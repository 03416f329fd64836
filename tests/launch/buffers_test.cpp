// Launch descriptions that a program fills in itself, without parse_launch().
#include <tmajit/error.hpp>
#include <tmajit/launch/buffers.hpp>
#include <tmajit/sim.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The error of a launch with this parameter, or "accepted".
std::string refusal(const KernelParameter& parameter) {
  LaunchDescription description;
  description.buffers = {{.name = "b", .type = ElementType::f32, .shape = {4, 8}}};
  description.parameters = {parameter};
  LaunchBuffers buffers(description, ".");
  buffers.upload(make_sim_device());
  try {
    (void)buffers.parameter_bytes(description);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a description that did not come from parse_launch() is checked when it is used") {
  const TensorMapParameter map{.at = {.buffer = "b"}, .box = {4, 8}};
  CHECK(refusal(map) == "accepted");
  CHECK_THAT(refusal(PointerParameter{.buffer = "c"}), ContainsSubstring("$.buffers has no \"c\""));
  CHECK_THAT(refusal(PointerParameter{.buffer = "b", .offset = 129}), ContainsSubstring("128 bytes"));
  auto short_strides = map;
  short_strides.strides = {32};
  CHECK_THAT(refusal(short_strides), ContainsSubstring("one number for each of its 2 dimensions"));
  auto uneven = map;
  uneven.box.clear();
  uneven.shape = {1, 1, 4, 8};
  uneven.pixel_box = {.lower = {0, 0}, .upper = {0}, .channels = 8, .pixels = 1};
  CHECK_THAT(refusal(uneven), ContainsSubstring("one number for each of its 4 dimensions"));
  const StructParameter small{.fields = {{.value = map, .at = 64}}, .bytes = 128};
  CHECK_THAT(refusal(small),
             ContainsSubstring("$.parameters[0].struct[0]: the field ends beyond the struct"));
  LaunchDescription untyped;
  untyped.buffers = {{.name = "b", .shape = {4}}};
  CHECK_THROWS_AS(LaunchBuffers(untyped, "."), Error);
}
