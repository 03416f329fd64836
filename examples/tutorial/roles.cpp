// Step 4 of the tutorial (docs/tutorial): the ring of step 3, with one warp that loads and eight that
// compute. The kernel is roles.cu.
#include "tutorial/roles.hpp"

#include "tutorial/add_one.hpp"

static void roles(example::Session& session) {
  example::add_one(session, kernel_text::roles, "roles.cu", 256 + 32);
}

int main(int argc, char** argv) {
  return example::run(argc, argv, "Adds one to a matrix: one warp loads, eight compute.", roles,
                      example::options_of_add_one());
}
