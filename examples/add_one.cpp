// Adds one to an array: pieces of 1024 ints are loaded by cp.async.bulk, incremented in shared memory and
// stored at the same addresses. The array's length is no multiple of 1024, nor of a 16-byte vector.
#include "support/example.hpp"

#include <numeric>

using namespace tmajit;

static void add_one(example::Session& session) {
  const TensorView array = TensorView::contiguous(ElementType::i32, {1'000'003});
  TileRequest request{.family = "bulk",
                      .destination = array,
                      .sources = {array},
                      .expression = "x + 1",
                      .tiles = {.box = {1024}}};
  const Kernel kernel = session.kernel(plan_tiles(request));
  if (session.compile_only()) return;

  std::vector<std::int32_t> x(array.elements());
  std::iota(x.begin(), x.end(), -500'000);
  const Buffer buffer = session.upload(x);
  request.destination.address = request.sources[0].address = buffer.address();  // in place
  kernel.launch(plan_tiles(request));

  for (std::int32_t& value : x) ++value;
  example::expect_equal(session.download<std::int32_t>(buffer), x);
}

int main(int argc, char** argv) {
  return example::run(argc, argv, "Adds one to an array of ints in place, 1024 at a time.", add_one);
}
