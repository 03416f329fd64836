#include "c/kernel_source.hpp"

TMAJIT_BEGIN
namespace c {

OwnKernel to_own_kernel(const tmajit_kernel_source& c_source) {
  require_zero("source", c_source.reserved);
  OwnKernel kernel;
  kernel.text = &require_non_null(c_source.text, "source: text");
  if (c_source.file != nullptr) kernel.file = c_source.file;
  kernel.entry = text(c_source.entry);
  for (const tmajit_named_text& one :
       array(c_source.constants, c_source.constant_count, "source: constants")) {
    kernel.constants.push_back(
        KernelConstant::parse(&require_non_null(one.name, "source: a constant's name"),
                              &require_non_null(one.text, "source: a constant's text")));
  }
  for (const tmajit_named_text& one : array(c_source.headers, c_source.header_count, "source: headers")) {
    kernel.headers.emplace_back(&require_non_null(one.name, "source: a header's name"),
                                &require_non_null(one.text, "source: a header's text"));
  }
  const auto folders =
      texts(c_source.include_folders, c_source.include_folder_count, "source: include_folders");
  kernel.include_folders = {folders.begin(), folders.end()};
  return kernel;
}

}  // namespace c
TMAJIT_END
