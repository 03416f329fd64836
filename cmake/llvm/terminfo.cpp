// Replaces libtinfo, which LLVM Support uses to find out whether a terminal shows colours. tmajit lets LLVM
// write only to strings, and jitc examines the terminal itself. So these functions answer that the terminal
// is unknown.

struct term;

extern "C" {
// LLVM declares these functions in the file that calls them, not in a header.
int setupterm(char* name, int descriptor, int* error);
struct term* set_curterm(struct term* terminal);
int del_curterm(struct term* terminal);
int tigetnum(char* capability);

int setupterm(char*, int, int* error) {
  if (error != nullptr) *error = 0;  // no such terminal
  return -1;
}
struct term* set_curterm(struct term*) {
  return nullptr;
}
int del_curterm(struct term*) {
  return 0;
}
int tigetnum(char*) {
  return -1;
}
}
