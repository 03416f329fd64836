"""Conan 2's recipe of tmajit: `conan create packaging/conan`. LLVM and CUDA's headers are the system's, found as
in a build without Conan."""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

# Folder of the sources, relative to this file.
ROOT = os.path.join("..", "..")


class TmajitConan(ConanFile):
    name = "tmajit"
    description = "Run-time generation of Hopper TMA kernels"
    license = "MIT"
    topics = ("cuda", "gpu", "hopper", "tma", "jit", "simulator")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": True}

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, ROOT, "include", "tmajit", "version.hpp"))
        parts = (re.search(rf"TMAJIT_VERSION_{part} (\d+)$", header, re.MULTILINE)[1] for part in ("MAJOR", "MINOR", "PATCH"))
        self.version = ".".join(parts)

    def export_sources(self):
        root = os.path.join(self.recipe_folder, ROOT)
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "templates/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def layout(self):
        self.folders.root = ROOT
        cmake_layout(self, build_folder="build/conan")

    def requirements(self):
        # Only the libraries' sources include these headers, and the archives contain fmt. A program can have other versions.
        for reference in ("fmt/10.2.1", "spdlog/1.14.1", "nlohmann_json/3.11.3"):
            self.requires(reference, headers=True, libs=False, visible=False)
        # The archives contain hiredis, for the store of a fleet.
        self.requires("hiredis/1.2.0", visible=False, options={"shared": False, "with_ssl": False})
        # The libraries contain it. cmake/Findzstd.cmake finds its archive.
        self.requires("zstd/1.5.5", visible=False)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("tmajit runs on Linux only")
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False  # the checkout has presets of its own
        for part in ("TESTS", "TOOLS", "EXAMPLES", "PYTHON"):
            toolchain.cache_variables[f"TMAJIT_BUILD_{part}"] = False
        toolchain.cache_variables["TMAJIT_WERROR"] = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        # Conan generates the files of CMake and pkg-config from package_info().
        for folder in ("cmake", "pkgconfig"):
            rmdir(self, os.path.join(self.package_folder, "lib", folder))

    def package_info(self):
        device = os.path.join(self.package_folder, "include", "tmajit", "device")
        self.cpp_info.set_property("cmake_file_name", "tmajit")
        self.cpp_info.set_property("cmake_extra_variables", {"tmajit_DEVICE_INCLUDE_DIR": device})
        # The components are the targets of find_package(tmajit): tmajit::tmajit, tmajit::sim …
        libraries = {"tmajit": ("tmajit", []), "sim": ("tmajit_sim", ["tmajit"]), "c": ("tmajit_c", ["sim"])}
        # The simulated CUDA runtime is built only if CUDA's runtime headers are found.
        if any("tmajit_cudart" in file for file in os.listdir(os.path.join(self.package_folder, "lib"))):
            libraries["cudart_sim"] = ("tmajit_cudart", ["sim"])
        for component, (library, requires) in libraries.items():
            info = self.cpp_info.components[component]
            info.set_property("cmake_target_name", f"tmajit::{component}")
            info.set_property("pkg_config_name", library.replace("_", "-"))
            info.libs = [library]
            info.requires = requires
        if not self.options.shared:
            # A program in C links no C++ library by itself.
            self.cpp_info.components["tmajit"].system_libs = ["stdc++", "m", "pthread", "dl"]
