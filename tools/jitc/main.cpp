#include "commands.hpp"

int main(int argc, char** argv) {
  return jitc::run(argc, argv);
}
