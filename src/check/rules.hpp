#pragma once

/// The rules that the simulator and lint report: one list, so that both say the same of the same mistake.
#include <tmajit/finding.hpp>

#include <algorithm>

TMAJIT_BEGIN
namespace check {

/// Sorted by id: what a kernel does, what would be legal, what helps, where that is written. Where a finding
/// knows more exactly what would be legal or what helps, it says that instead.
inline constexpr Rule rules[] = {
    {"address.misaligned", "A thread accesses memory at an address that is no multiple of the access's size.",
     "an address that is a multiple of the size of the access",
     "check the alignment of the base and the index, or move fewer bytes at a time", "PTX ISA: ld, st, atom"},
    {"address.read-only", "A thread stores to parameters or to constant memory.",
     "a store to memory that can be written", "parameters and constants are read-only",
     "PTX ISA: State Spaces"},
    {"allow.unknown", "A comment allows a rule that there is not.", "the id of a rule, as findings have it",
     "see jitc lint's findings, or the table of rules", "docs/lint.md", Severity::advice},
    {"bank.out-of-bounds", "A thread accesses parameters, constants or local memory beyond their end.",
     "an address inside the memory that the launch has", "check the index against the size",
     "PTX ISA: State Spaces"},
    {"barrier.count", "Threads arrive at one CTA barrier for different numbers of threads.",
     "one number of threads for all who take part", "use another barrier, or the same number",
     "PTX ISA: barrier.cta"},
    {"barrier.operand", "A thread names a CTA barrier, or a number of threads, that there cannot be.",
     "a barrier from 0 to 15, and a multiple of 32 threads", "count whole warps", "PTX ISA: barrier.cta"},
    {"barrier.overflow", "More threads arrive at a CTA barrier than it is for.",
     "as many threads as the barrier is for", "use another barrier for other warps", "PTX ISA: barrier.cta"},
    {"branch.index", "A brx.idx has an index beyond its table of labels.",
     "an index below the number of labels", "check the bounds of the switch", "PTX ISA: brx.idx"},
    {"call.depth", "Calls are nested deeper than the simulator's stack allows.",
     "fewer open calls, and fewer bytes of frames of recursive functions",
     "look for a recursion that never ends", "docs/sim.md: Decode"},
    {"call.target", "An indirect call goes to an address where no function is that it can call.",
     "the address of a function of the call's prototype, or of its list of targets",
     "look for a pointer that is null, or whose object is not the one that it says", "PTX ISA: call"},
    {"cluster-barrier.arrived-twice", "A thread arrives at the cluster's barrier twice without a wait.",
     "barrier.cluster.wait after each barrier.cluster.arrive", "pair arrivals and waits",
     "PTX ISA: barrier.cluster"},
    {"cluster-barrier.not-arrived", "A thread waits at the cluster's barrier and has not arrived there.",
     "barrier.cluster.arrive before barrier.cluster.wait", "pair arrivals and waits",
     "PTX ISA: barrier.cluster"},
    {"cluster.size", "A kernel stores to other CTAs of its cluster, and the cluster has one CTA.",
     "%cluster_nctarank above 1", "launch with a cluster of several CTAs", "PTX ISA: st.async, red.async"},
    {"copy.alignment-by-chance",
     "A bulk copy needs more alignment in shared memory than the variable that it uses is declared with.",
     "a variable that is declared with the alignment of the copy: 16 bytes, 128 for a tensor copy",
     "declare it with __align__(128) or alignas(128): where it lies now depends on the module's other "
     "variables",
     "PTX ISA: cp.async.bulk, cp.async.bulk.tensor", Severity::advice},
    {"copy.empty", "A bulk copy moves no bytes.", "at least 16 bytes", "check how the size is computed",
     "PTX ISA: cp.async.bulk"},
    {"copy.global-alignment",
     "A bulk copy has an address in global memory, or a size, that is no multiple of 16.",
     "an address and a size that are multiples of 16", "copy the ends of the range with threads",
     "PTX ISA: cp.async.bulk"},
    {"copy.inner-coordinate", "A tensor copy begins in the middle of a chunk of 16 bytes of a row.",
     "a multiple of 16 bytes (else the instruction is illegal)", "round the coordinate down",
     "PTX ISA: cp.async.bulk.tensor"},
    {"copy.own-cta", "A bulk copy goes from shared memory to that of the same CTA.",
     "a destination in another CTA of the cluster", "map the destination to a peer, or copy with threads",
     "PTX ISA: cp.async.bulk"},
    {"copy.shared-alignment", "A bulk copy has an address in shared memory that is not aligned for it.",
     "multiples of 16", "align the buffer, and copy whole chunks of 16 bytes",
     "PTX ISA: cp.async.bulk, cp.async.bulk.tensor"},
    {"copy.size", "A cp.async reads more bytes than it writes.",
     "a source size of at most the size of the copy", "clip the size that is read", "PTX ISA: cp.async"},
    {"copy.swizzle-base", "A swizzled tile begins off the period of its swizzle, which shifts the pattern.",
     "a multiple of the period of the swizzle",
     "align the stage; or let all who read it permute by the bits of the address, not of the row",
     "PTX ISA: Swizzling modes, Matrix descriptor of wgmma", Severity::omission},
    {"deadlock", "Every thread waits, and nothing that is under way will end a wait.",
     "every wait is ended by an arrival and its bytes",
     "compare expect_tx with the bytes the loads deliver, the arrivals with the count of mbarrier.init, and "
     "the parity waited for with the phase",
     "PTX ISA: Phase completion of the mbarrier object"},
    {"exit.load-in-flight", "A CTA ends while a load into its shared memory is in flight.",
     "a wait on the load's mbarrier before the CTA ends", "wait for every phase that was started",
     "PTX ISA: cp.async.bulk"},
    {"exit.peer-reads", "A CTA ends while another of its cluster still reads its shared memory.",
     "a CTA that lives as long as others access its shared memory",
     "synchronise the cluster (barrier.cluster) before its CTAs exit",
     "CUDA guide: Distributed Shared Memory"},
    {"exit.peer-writes", "A CTA ends while another of its cluster still writes into its shared memory.",
     "a CTA that lives as long as others access its shared memory",
     "synchronise the cluster (barrier.cluster) before its CTAs exit",
     "CUDA guide: Distributed Shared Memory"},
    {"exit.store-unread", "A thread or its CTA ends before a bulk store has read its source.",
     "cp.async.bulk.commit_group, then wait_group 0 (.read at least), before the thread ends",
     "wait_group 0 before the issuing thread exits: the CTA's shared memory goes to another CTA",
     "PTX ISA: cp.async.bulk.wait_group"},
    {"exit.wgmma-in-flight", "A CTA ends while a wgmma.mma_async may still read its shared memory.",
     "wgmma.wait_group 0 before the warps end", "commit the last group and wait for it",
     "PTX ISA: wgmma.wait_group"},
    {"global.out-of-bounds", "A thread accesses global memory outside every allocation.",
     "an address inside the memory that the launch has", "check the index against the size",
     "PTX ISA: Global State Space"},
    {"heap.double-free", "A thread frees a block of the device's heap that has been freed.",
     "one free of each block that malloc has given",
     "let one thread own the block, and clear the pointer when it is freed",
     "CUDA guide: Dynamic Global Memory Allocation"},
    {"heap.free", "A thread frees what malloc has not given.", "a pointer that malloc has given, or null",
     "free the pointer to the block's first byte, and nothing that the host has allocated",
     "CUDA guide: Dynamic Global Memory Allocation"},
    {"heap.leak", "A launch ends and no pointer is left to a block that it has taken from the device's heap.",
     "a free of each block, or a pointer to it in memory that outlives the launch",
     "free the block before its pointer goes", "CUDA guide: Dynamic Global Memory Allocation",
     Severity::omission},
    {"heap.use-after-free", "A thread accesses memory of the device's heap that has been freed.",
     "accesses that happen before the free",
     "synchronise the threads that use a block before one of them frees it",
     "CUDA guide: Dynamic Global Memory Allocation"},
    {"host.free", "The host frees memory that the device has not allocated, or frees it twice.",
     "one free of each allocation, by the device that gave it",
     "let one owner free it, and clear the address when it is freed", "CUDA Driver API: cuMemFree"},
    {"host.stream", "The host destroys a stream that the device has not created, or destroys it twice.",
     "one destruction of each stream, by the device that created it", "let one owner destroy it",
     "CUDA Driver API: cuStreamDestroy"},
    {"im2col.corner", "An im2col copy begins outside of the bounding box of its tensor map.",
     "a filter's corner from the lower corner of the bounding box to the upper one",
     "compute coordinates from the lower corner on: lower + place · traversal stride",
     "PTX ISA: Im2col mode, Bounding Box"},
    {"im2col.offset", "An im2col load has an offset that its tensor map's rank does not allow.",
     "less than 2^16 in a map of 3 dimensions, 2^8 in one of 4, 2^5 in one of 5",
     "offsets are a tap's, from the filter's corner on; use a view of fewer dimensions for larger filters",
     "PTX ISA: Im2col mode, Bounding Box"},
    {"im2col.store-corner",
     "An im2col store or reduction goes through a map whose bounding box reaches beyond the image.",
     "lower corners of 0 or more and upper corners of 0 or less (else the instruction is illegal)",
     "store through a map of its own, whose bounding box lies inside the image",
     "measured on an H200 (docs/tma.md)"},
    {"instruction-limit", "A CTA executes more instructions than the simulator's limit.",
     "at most SimOptions::instruction_limit instructions",
     "look for a loop that never ends, or raise the limit", "docs/run.md"},
    {"instruction.unknown",
     "The PTX has an instruction that tmajit does not know: what it does is not seen, and nothing else of "
     "its "
     "function is looked at.",
     "an instruction of the PTX ISA for sm_90a", "check its spelling; ptxas says whether there is one",
     "PTX ISA: Instruction Set"},
    {"load.before-store-read", "A load writes shared memory that a bulk store has not read yet.",
     "cp.async.bulk.wait_group.read of that store before its memory is used again",
     "wait for the group of the store that used this stage last; check the group count for an off-by-one",
     "PTX ISA: cp.async.bulk.wait_group"},
    {"load.missing-proxy-fence",
     "A bulk load overwrites shared memory whose writer has executed no fence.proxy.async since.",
     "fence.proxy.async by the thread that wrote, then a barrier or an arrival, then the load",
     "execute fence.proxy.async.shared::cta after the writes and before the stage is handed back "
     "(cuda::ptx::fence_proxy_async)",
     "PTX ISA: Async proxy, fence.proxy.async", Severity::omission},
    {"load.onto-mbarrier", "A load writes shared memory that holds an mbarrier.",
     "a destination apart from every mbarrier", "move the mbarriers, or invalidate them first",
     "PTX ISA: Contents of the mbarrier object"},
    {"load.out-of-bounds", "A load reads global memory outside every allocation.",
     "a source inside one allocation", "check the address and the number of bytes against the allocation",
     "PTX ISA: Global State Space"},
    {"load.overlap", "Two copies in flight write the same byte of shared memory.",
     "one copy at a time for a byte of shared memory",
     "wait for the earlier copy, and for its readers, before the stage is loaded again",
     "PTX ISA: Memory Consistency Model"},
    {"mbarrier.address", "An mbarrier lies outside the CTA's shared memory, or at no multiple of 8.",
     "8 bytes of the CTA's shared memory at a multiple of 8", "check the address of the barrier",
     "PTX ISA: Size and alignment of mbarrier object"},
    {"mbarrier.arrivals", "More threads arrive at an mbarrier in a phase than its count.",
     "as many arrivals a phase as mbarrier.init said",
     "check who arrives, and how often; count the arrivals of .noinc, too", "PTX ISA: mbarrier.arrive"},
    {"mbarrier.bytes-overflow", "The transaction count of an mbarrier leaves its range.",
     "a count within ±(2^20 - 1)", "load less in one phase", "PTX ISA: Contents of the mbarrier object"},
    {"mbarrier.count", "An mbarrier is initialised with a count that it cannot have.",
     "1 to 2^20 - 1 arrivals", "count the threads that arrive in a phase", "PTX ISA: mbarrier.init"},
    {"mbarrier.expected-bytes", "An mbarrier expects other bytes than the loads that complete on it deliver.",
     "exactly the bytes of the loads, those out of bounds included",
     "count the bytes of every copy that completes on the mbarrier in the phase: with more it never ends, "
     "and with fewer too early",
     "PTX ISA: mbarrier.expect_tx"},
    {"mbarrier.init-not-fenced",
     "A load can complete on an mbarrier whose mbarrier.init no fence has shown to the copy engine.",
     "fence.mbarrier_init, or fence.proxy.async, by the thread that initialised it",
     "execute fence.mbarrier_init.release.cluster after the last mbarrier.init "
     "(cuda::ptx::fence_mbarrier_init)",
     "PTX ISA: fence.mbarrier_init", Severity::omission},
    {"mbarrier.initialised-twice", "An mbarrier is initialised where one is in use.",
     "mbarrier.inval before the memory is initialised again", "one thread initialises each barrier once",
     "PTX ISA: mbarrier.init"},
    {"mbarrier.invalidated", "A copy completes on an mbarrier that has been invalidated.",
     "the mbarrier stays valid until its loads have completed", "wait before mbarrier.inval",
     "PTX ISA: mbarrier.inval"},
    {"mbarrier.never-waited", "A load completes on an mbarrier that nobody waits for.",
     "a try_wait on the load's mbarrier before its bytes are used",
     "wait for the phase before shared memory is read, and before the CTA ends",
     "PTX ISA: Async operations, completion mechanisms"},
    {"mbarrier.onto-copy", "An mbarrier is initialised in memory that a copy still uses.",
     "memory of its own for each mbarrier", "check the layout of shared memory", "PTX ISA: mbarrier.init"},
    {"mbarrier.other-cta", "A copy completes on an mbarrier of another CTA than the one its bytes go to.",
     "an mbarrier in the CTA that the bytes go to", "map both addresses to the same rank",
     "PTX ISA: cp.async.bulk, st.async"},
    {"mbarrier.parity",
     "A wait for an mbarrier names a parity that is not that of the phase it is for, so that it ends at "
     "once.",
     "the parity of the phase that the thread waits for, which changes with each turn of the ring",
     "flip the parity when the stages begin again; the first wait for a full stage takes parity 0, the first "
     "wait "
     "for a free one parity 1",
     "PTX ISA: mbarrier.try_wait, Phase of the mbarrier object"},
    {"mbarrier.plain-access", "A plain load or store touches an mbarrier.", "mbarrier instructions only",
     "an mbarrier is opaque: move the data, or make it memory again by mbarrier.inval",
     "PTX ISA: Contents of the mbarrier object"},
    {"mbarrier.remote-state", "An arrival at an mbarrier of another CTA asks for its state.",
     "_ as the destination where the mbarrier is not the CTA's own",
     "only threads of its own CTA can wait on an mbarrier", "PTX ISA: mbarrier.arrive"},
    {"mbarrier.uninitialised", "An mbarrier is used where none is, or where it may not be initialised yet.",
     "mbarrier.init before any other use",
     "initialise it in one thread, fence, and synchronise the CTA before others use it",
     "PTX ISA: mbarrier.init"},
    {"multicast.mask", "A multicast load names no CTA, or one that the cluster does not have.",
     "a bit for some of the CTAs of the cluster", "check the mask against %cluster_nctarank",
     "PTX ISA: cp.async.bulk, cp.async.bulk.tensor"},
    {"name", "The PTX uses a name that is not declared, or declares one twice.",
     "names that are declared, once a scope", "nothing else of this function was looked at: mend this first",
     "PTX ISA: Identifiers"},
    {"race.global-read-write", "Nothing orders a write of global memory after a read of it.",
     "a barrier, or a release that the second thread acquires, between the two",
     "call __syncthreads() between them", "PTX ISA: Memory Consistency Model"},
    {"race.global-write-read", "Nothing orders a read of global memory after a write of it.",
     "a barrier, or a release that the second thread acquires, between the two",
     "call __syncthreads() between them", "PTX ISA: Memory Consistency Model"},
    {"race.global-write-write", "Nothing orders two writes of a byte of global memory.",
     "a barrier, or a release that the second thread acquires, between the two",
     "call __syncthreads() between them", "PTX ISA: Memory Consistency Model"},
    {"race.launch-before",
     "A launch that may begin before earlier ones have ended touches what they write, or writes what they "
     "read.",
     "griddepcontrol.wait before it, by this thread or by one that it has met since",
     "wait (cudaGridDependencySynchronize()) before the first access to memory that earlier launches of the "
     "stream use; only what they do not touch may come before",
     "PTX ISA: griddepcontrol; CUDA guide: Programmatic Dependent Launch and Synchronization"},
    {"race.mbarrier", "Nothing orders the making or the end of an mbarrier and a use of it.",
     "mbarrier.init, then a barrier of the CTA, before other threads use it; the last use, then a barrier, "
     "before mbarrier.inval",
     "call __syncthreads() between the thread that initialises or invalidates it and those who use it",
     "PTX ISA: Memory Consistency Model"},
    {"race.shared-read-write", "Nothing orders a write of shared memory after a read of it.",
     "a barrier, or a release that the second thread acquires, between the two",
     "call __syncthreads() between them", "PTX ISA: Memory Consistency Model"},
    {"race.shared-write-read", "Nothing orders a read of shared memory after a write of it.",
     "a barrier, or a release that the second thread acquires, between the two",
     "call __syncthreads() between them", "PTX ISA: Memory Consistency Model"},
    {"race.shared-write-write", "Nothing orders two writes of a byte of shared memory.",
     "a barrier, or a release that the second thread acquires, between the two",
     "call __syncthreads() between them", "PTX ISA: Memory Consistency Model"},
    {"reduce.type", "A bulk reduction has an operation that the engine does not have for its type.",
     "add of u32, s32, u64, f32, f16, bf16 (f64 without a tensor map); min and max of integers, f16 and "
     "bf16; "
     "inc and dec of u32; and, or, xor of 32 and 64 bits (through a map of u64, not of i64)",
     "use another operation, or reduce with threads", "PTX ISA: cp.reduce.async.bulk"},
    {"register.uninitialised",
     "A thread uses a register that no instruction has written, and it matters: it decides what is done, is "
     "an "
     "address or another operand of an instruction that acts, or goes to global memory.",
     "a write of the register on every way to where it is read",
     "give the variable a value where it is declared, or look for the way on which it gets none",
     "PTX ISA: Register State Space"},
    {"report-limit", "A launch that goes on after its reports makes more of them than the simulator's limit.",
     "at most 10,000 reports of a launch that goes on after them (SimOptions::keep_going, jitc run "
     "--keep-going)",
     "mend what is reported before it, or allow those rules (--allow): their reports do not count",
     "docs/run.md"},
    {"setmaxnreg.total", "Warps wait for registers that the other warps of the CTA do not give back.",
     "no more registers for all warps together than the CTA was launched with",
     "let the other warpgroups release more by setmaxnreg.dec, or ask for fewer", "PTX ISA: setmaxnreg"},
    {"setmaxnreg.value", "setmaxnreg asks for a number of registers that it cannot have.",
     "a multiple of 8 from 24 to 256, for .inc not below and for .dec not above what the warp has",
     "check .maxnreg, or the launch bounds that the number of registers follows from", "PTX ISA: setmaxnreg"},
    {"setmaxnreg.warpgroup", "The warps of a warpgroup do not execute the same setmaxnreg.",
     "the same setmaxnreg by all four warps of a warpgroup", "branch by warpgroups, not by warps",
     "PTX ISA: setmaxnreg"},
    {"shared.cluster-rank", "An address names the shared memory of a CTA that the access cannot reach.",
     "a rank below %cluster_nctarank, and the thread's own for an access of .shared::cta",
     "check the rank that mapa was given, and the cluster's dimensions of the launch",
     "PTX ISA: mapa, Shared State Space"},
    {"shared.in-flight-read", "A thread reads shared memory that a load has not delivered yet.",
     "a wait on the load's mbarrier, of the phase the load completes, before its bytes are read",
     "wait with the parity of that phase; check that all readers wait, and that the stage is not loaded "
     "again before they have read",
     "PTX ISA: Async proxy, mbarrier.try_wait"},
    {"shared.in-flight-write", "A thread writes shared memory that a load in flight writes too.",
     "a wait on the load's mbarrier before the store", "wait for the load, or use another stage",
     "PTX ISA: Async proxy, mbarrier.try_wait"},
    {"shared.out-of-bounds", "A thread or a copy uses shared memory that the CTA does not have.",
     "an address inside the memory that the launch has",
     "check the offset, the size of the buffer, and the dynamic shared memory of the launch",
     "PTX ISA: Shared State Space"},
    {"shared.overwritten-before-store-read",
     "A thread writes shared memory that a bulk store has not read yet.",
     "cp.async.bulk.wait_group.read by the thread that issued the bulk store, then a barrier, before its "
     "source is written again",
     "wait for the group that used this stage last; check the group count for an off-by-one, and that all "
     "writers are behind the barrier",
     "PTX ISA: cp.async.bulk.wait_group"},
    {"shared.peer-not-started", "An access reaches into a CTA of the cluster that has not begun.",
     "barrier.cluster.arrive and wait by all threads of the cluster before the first such access",
     "synchronise the cluster when the kernel begins, after mbarrier.init",
     "CUDA guide: Distributed Shared Memory"},
    {"shared.uninitialised",
     "A thread reads shared memory that nobody has written, and what it reads matters.",
     "a write, or a delivered asynchronous load, before the read",
     "check the address, and the barrier between writer and reader", "PTX ISA: Shared State Space"},
    {"store.in-flight-read", "A bulk store reads shared memory that a load has not delivered yet.",
     "a wait on the load's mbarrier before the store", "wait for the phase that the load completes",
     "PTX ISA: Async proxy, mbarrier.try_wait"},
    {"store.late-proxy-fence",
     "A bulk store reads shared memory that others wrote, and only the thread that stores has fenced.",
     "fence.proxy.async by every thread that wrote, then a barrier, then the bulk store",
     "execute fence.proxy.async.shared::cta after the writes and before the barrier "
     "(cuda::ptx::fence_proxy_async)",
     "CUDA C++ Programming Guide: Asynchronous data copies using TMA", Severity::omission},
    {"store.missing-barrier", "One thread stores in bulk what many have written, and no barrier is between.",
     "a barrier of the threads that wrote, after their fence and before the bulk store",
     "synchronise them: others may not have written yet", "PTX ISA: Memory Consistency Model"},
    {"store.missing-proxy-fence",
     "A bulk store reads shared memory, and no fence.proxy.async lies between the write and it.",
     "fence.proxy.async by every thread that wrote, then a barrier, then the bulk store",
     "execute fence.proxy.async.shared::cta after the writes and before the barrier "
     "(cuda::ptx::fence_proxy_async)",
     "PTX ISA: fence.proxy.async"},
    {"store.negative-coordinate", "A tensor store begins at a negative coordinate.",
     "coordinates that are not negative", "clip the tile on the kernel's side",
     "PTX ISA: cp.async.bulk.tensor"},
    {"store.out-of-bounds", "A bulk store writes global memory outside every allocation.",
     "a destination inside one allocation",
     "check the address and the number of bytes against the allocation", "PTX ISA: Global State Space"},
    {"store.uninitialised", "A bulk store reads shared memory that nobody has written.",
     "a source that was written before the store is issued",
     "check the source address, and that all threads have written before one issues the store",
     "PTX ISA: Shared State Space"},
    {"syntax", "The text is no PTX.", "PTX as its ISA 8.0 to 9.x defines it",
     "nothing else of this text was looked at: mend this first", "PTX ISA: Syntax, Instruction Set"},
    {"target.architecture", "An instruction is not one of the module's target.", "a later architecture",
     "compile for sm_90a", "PTX ISA: Target ISA Notes of the instruction"},
    {"target.feature", "An instruction belongs to one architecture alone, and the target does not name that.",
     "an architecture's own target, as sm_90a", "compile for sm_90a",
     "PTX ISA: Target ISA Notes of the instruction"},
    {"target.version", "An instruction is later than the module's PTX version.", "a later .version",
     "raise .version, or compile with a later CUDA", "PTX ISA: PTX ISA Notes of the instruction"},
    {"tensormap.changed", "A copy uses a tensor map that the kernel has changed to one that is not legal.",
     "a map that the driver would have encoded", "replace every field that depends on the changed one",
     "CUDA Driver API: cuTensorMapEncodeTiled; PTX ISA: tensormap.replace"},
    {"tensormap.field",
     "A field of a tensor map is replaced by a value, or at an ordinal, that it cannot have.",
     "ordinals 0 to 4 (strides: 0 to 3); rank - 1 from 0 to 4; the values of the ISA's table; a map of tf32 "
     "stays one",
     "see the table of new_val: the rank is one less than it is, element types are not the driver's",
     "PTX ISA: tensormap.replace"},
    {"tensormap.in-use", "A tensor map changes while a copy that uses it is in flight.",
     "a wait for every copy that uses the map before it is changed",
     "wait for the load's mbarrier or the store's group, or take turns between two maps",
     "PTX ISA: tensormap.replace, Memory Consistency Model"},
    {"tensormap.invalid", "A copy takes bytes for a tensor map that are none.",
     "the bytes that cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col gave",
     "check which parameter the kernel takes for the map", "CUDA Driver API: cuTensorMapEncodeTiled"},
    {"tensormap.mode", "An instruction of one mode takes a tensor map that is encoded for the other.",
     ".tile for tiled maps; .im2col and .im2col_no_offs for im2col maps, which tensormap.replace cannot "
     "change",
     "encode the map for the instruction, by cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col",
     "PTX ISA: cp.async.bulk.tensor, tensormap.replace"},
    {"tensormap.not-acquired",
     "A copy uses a tensor map that the kernel has changed, and nobody in its CTA has executed the acquire "
     "fence.",
     "fence.proxy.tensormap::generic.acquire of the map's 128 bytes before the copy, after the change",
     "execute the acquire fence in the CTA that uses the map, each time it has been changed",
     "PTX ISA: fence.proxy.tensormap"},
    {"tensormap.not-released",
     "A copy uses a tensor map that the kernel has changed, and who changed it has not released it.",
     "tensormap.cp_fenceproxy, or fence.proxy.tensormap::generic.release by the thread that changed it, at a "
     "scope that includes the user",
     "release at gpu scope after the last change", "PTX ISA: fence.proxy.tensormap, tensormap.cp_fenceproxy"},
    {"tensormap.rank", "A tensor copy names more or fewer dimensions than its tensor map has.",
     "the same number", "use the instruction of the map's rank", "PTX ISA: cp.async.bulk.tensor"},
    {"tensormap.space", "A tensor map lies in local or shared memory.",
     "a tensor map in param, const or global memory", "pass it as a const __grid_constant__ parameter",
     "PTX ISA: Tensor-map, cp.async.bulk.tensor"},
    {"time-limit", "A launch takes longer than the simulator's limit.", "at most SimOptions::seconds_limit",
     "see where the threads stand: look for a loop that never ends, or raise the limit", "docs/run.md"},
    {"trap", "The kernel executes trap, or an assertion of it fails.", "no trap, and assertions that hold",
     "see what the kernel asserts there", "PTX ISA: trap"},
    {"warp.diverged",
     "Lanes of a warp wait for each other at different instructions, or with different masks of members.",
     "one instruction by all lanes of the mask; shfl, vote, match, redux, elect and bar.warp.sync may be "
     "executed at several places, with the same qualifiers and the same mask",
     "execute it where the lanes have met again, or take the mask of the lanes of this branch alone, by "
     "vote.sync.ballot (__ballot_sync) before the branch",
     "PTX ISA: shfl.sync, vote.sync, match.sync, redux.sync, elect.sync, bar.warp.sync, barrier.sync"},
    {"warp.member-mask", "A lane executes an instruction of its warp whose mask of members lacks it.",
     "a mask with the bit of every lane that executes the instruction",
     "make the mask of the condition under which it is executed, by vote.sync.ballot before the branch, or "
     "execute it by all lanes of the mask",
     "PTX ISA: elect.sync, shfl.sync, vote.sync, match.sync, redux.sync, bar.warp.sync"},
    {"wgmma.copy-not-fenced",
     "A wgmma.mma_async reads shared memory that a cp.async wrote, whose thread has executed no "
     "fence.proxy.async since.",
     "a wait for the copies, then fence.proxy.async by every thread that copied, then a barrier, then the "
     "product",
     "execute fence.proxy.async.shared::cta after cp.async.wait_group and before the barrier "
     "(cuda::ptx::fence_proxy_async)",
     "PTX ISA: Async proxy of wgmma, cp.async", Severity::omission},
    {"wgmma.descriptor", "A matrix descriptor leads to memory that is no matrix of the CTA.",
     "a start address and offsets, each divided by 16, that stay inside the CTA's shared memory",
     "check the leading and the stride byte offset against the layout that the swizzle and the major-ness "
     "ask for",
     "PTX ISA: Matrix Descriptor Format"},
    {"wgmma.missing-fence",
     "A wgmma.mma_async uses registers that others have accessed since the last wgmma.fence.",
     "wgmma.fence before the first wgmma.mma_async, and after accesses to its accumulators or A registers",
     "execute wgmma.fence after the registers are set and before the product", "PTX ISA: wgmma.fence"},
    {"wgmma.missing-proxy-fence",
     "A wgmma.mma_async reads shared memory whose writer has executed no fence.proxy.async since.",
     "fence.proxy.async by every thread that wrote, then a barrier, then the product",
     "execute fence.proxy.async.shared::cta after the writes and before the barrier "
     "(cuda::ptx::fence_proxy_async)",
     "PTX ISA: Async proxy of wgmma, fence.proxy.async"},
    {"wgmma.register-in-flight",
     "A register that a wgmma.mma_async uses is accessed before it has been waited for.",
     "wgmma.commit_group and a wgmma.wait_group that covers the product, before its results or A are touched",
     "wait for the group; keep other values out of the accumulators", "PTX ISA: wgmma.mma_async"},
    {"wgmma.swizzle",
     "A wgmma.mma_async reads shared memory by another swizzle than that of the tensor map through which it "
     "was loaded.",
     "the same swizzle in the tensor map and in the matrix descriptor",
     "encode the map with the swizzle that the descriptor's bits 62 and 63 say, or change those; where "
     "global memory holds the matrix in swizzled order already, allow this",
     "PTX ISA: Matrix Descriptor Format, Swizzling Modes"},
    {"wgmma.warpgroup", "The warps of a warpgroup do not execute the same wgmma.mma_async.",
     "the same instruction by all threads of four warps, the first a multiple of 4",
     "branch by warpgroups, not by warps", "PTX ISA: wgmma.mma_async, Warpgroup"},
    {"wmma.operands", "The lanes of a warp give wmma.load or wmma.store different addresses or strides.",
     "the same address and stride in all lanes", "compute both from the warp's number, not from the lane's",
     "PTX ISA: wmma.load, wmma.store"},
};

static_assert(std::ranges::adjacent_find(rules, std::ranges::greater_equal{}, &Rule::id) == std::end(rules),
              "each rule once, sorted by id");

/// Where the rule with that id stands; std::size(rules) if there is none.
[[nodiscard]] constexpr std::size_t index_of(std::string_view id) noexcept {
  const auto* const found = std::ranges::lower_bound(rules, id, {}, &Rule::id);
  const bool is_known = found != std::end(rules) && found->id == id;
  return is_known ? static_cast<std::size_t>(found - std::begin(rules)) : std::size(rules);
}

/// The rule with that id; null if there is none.
[[nodiscard]] constexpr const Rule* find(std::string_view id) noexcept {
  const std::size_t index = index_of(id);
  return index < std::size(rules) ? &rules[index] : nullptr;
}

/// A rule by its id. Of a literal, the compiler looks for the rule, and refuses an id that there is none of.
class RuleId {
 public:
  template <std::size_t length>
  consteval RuleId(const char (&id)[length])  // NOLINT: "mbarrier.count" is to be a rule by itself
      : rule_(&known(index_of(id))) {}
  explicit constexpr RuleId(const Rule& rule) noexcept : rule_(&rule) {}

  [[nodiscard]] constexpr const Rule* operator->() const noexcept { return rule_; }

 private:
  // By its index: to GCC 12's sanitizers a comparison of its address with null is not constant.
  static constexpr const Rule& known(std::size_t index) {
    return index < std::size(rules) ? rules[index] : throw "no such rule";
  }

  const Rule* rule_;
};

/// A remedy of wgmma.register-in-flight where a wait for the product stands behind the access in the PTX.
inline constexpr std::string_view moved_before_wait =
    "if the access stands behind the wait in the source, the compiler has moved it ahead: the wait does not "
    "name "
    "the registers, so fence each accumulator after it by asm volatile(\"\" : \"+f\"(d[i]) :: \"memory\") "
    "(cute::warpgroup_fence_operand); else wait before the access";

/// Whether a module uses our device headers, so that remedies name their functions, too.
[[nodiscard]] bool uses_device_headers(std::string_view ptx);

/// Adds to a remedy the function of our device headers that does what it says.
void name_helper(Finding& finding);

/// Gives the finding its rule and its words; where `expected` or `remedy` is empty the rule's own stand for
/// it.
void describe(Finding& finding, RuleId rule, std::string found, std::string expected,
              std::string_view remedy);

/// "no rule is called mbarier.count; did you mean mbarrier.count?", or nothing if there is one.
[[nodiscard]] std::string why_unknown(std::string_view id);

/// ", source scale.cu:18", or ", source line 18" where no file is named; empty without line information.
[[nodiscard]] std::string source_place(const Finding& finding);
/// What every finding ends with in text: what is legal, and what helps, a line each.
[[nodiscard]] std::string advice(const Finding& finding);

}  // namespace check
TMAJIT_END
