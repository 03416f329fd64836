// Fixed-width names, addresses and the tensor map: what the parameters of kernels are made of.
//@ #
//@ # Two compilers read this file and the files that include it: NVRTC in a kernel's source, and the host compiler for the code
//@ # that fills in the parameters. They hold only data.
#pragma once

//@ if host
// The offset of a member in a struct, for the assertions that both compilers lay structs out alike. NVRTC has no
// offsetof().
#ifdef __CUDACC_RTC__
#define TMAJIT_OFFSET(Type, member) __INTADDR__(&((Type*)0)->member)
#else
#define TMAJIT_OFFSET(Type, member) __builtin_offsetof(Type, member)
#endif

//@ end
namespace tmajit {

typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;

//@ if host
static_assert(sizeof(u8) == 1 && sizeof(u16) == 2 && sizeof(u32) == 4 && sizeof(u64) == 8);
static_assert(sizeof(i8) == 1 && sizeof(i16) == 2 && sizeof(i32) == 4 && sizeof(i64) == 8);
//@ end

}  // namespace tmajit

namespace tmajit::params {

// The address of a T in the GPU's memory: a pointer in a kernel, its 64 bits on the host.
//@ if host
#ifndef __CUDACC__
template <class T>
using Address = u64;
static_assert(alignof(u64) == 8);
#else
//@ end
template <class T>
using Address = T*;
//@ if host
#endif
//@ end

// The driver's CUtensorMap: 128 opaque bytes, made by cuTensorMapEncodeTiled. A copy in a local variable faults.
//@ # It is passed to a kernel as a `const __grid_constant__` parameter.
struct alignas(64) TensorMap { u64 opaque[16]; };
//@ if host
static_assert(sizeof(TensorMap) == 128 && alignof(TensorMap) == 64);
//@ end

}  // namespace tmajit::params
