#pragma once

/// Headers of .npy files.
#include <tmajit/launch/array_file.hpp>

TMAJIT_BEGIN

/// Reads the header of a file of `file_bytes` bytes that begins with `head` (all of it, or at least its
/// header). Throws Error{io} if the file is damaged, shorter than its header says or no .npy file at all, and
/// Error{invalid_argument} for element types that no kernel takes (objects, records, text, complex numbers).
/// The message does not name the file.
[[nodiscard]] NpyHeader parse_npy_header(std::span<const std::byte> head, std::uint64_t file_bytes);

/// A little-endian C-order header, padded so that the data starts on a multiple of 64 bytes.
[[nodiscard]] std::string format_npy_header(std::string_view descr, std::span<const std::uint64_t> shape);

/// The element type that the header names. Throws Error{invalid_argument} for kind 'V', which names none.
[[nodiscard]] ElementType natural_type(const NpyHeader& header);

/// Checks that the file's elements can be taken as `type`: of the same NumPy type, or the bit patterns of a
/// type that NumPy lacks. Throws Error{invalid_argument} that says which file type would do.
void check_type(const NpyHeader& header, ElementType type);

TMAJIT_END
