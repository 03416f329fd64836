// Step 3 of the tutorial (docs/tutorial): a ring of stages, so that loads, work and stores overlap. The
// kernel is ring.cu.
#include "tutorial/ring.hpp"

#include "tutorial/add_one.hpp"

static void ring(example::Session& session) {
  example::add_one(session, kernel_text::ring, "ring.cu", 256);
}

int main(int argc, char** argv) {
  return example::run(argc, argv, "Adds one to a matrix, tile after tile, through a ring of stages.", ring,
                      example::options_of_add_one());
}
