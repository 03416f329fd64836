// A pipeline: stages of shared memory that producers fill and consumers release, in the order of a ring.
//@ # Built on the ring (ring.cuh); kernels that keep their positions themselves use the ring directly.
//@ #
//@ #   Pipeline<stages> pipeline(barriers);                      // Pipeline<stages>::bytes of shared memory
//@ #   auto ready = pipeline.init(1, consumers, threadIdx.x == 0);
//@ #   __syncthreads();
//@ #   // the producer, one thread
//@ #   auto producer = ready.producer();
//@ #   for (…) {
//@ #     const auto stage = producer.acquire(tile_bytes);        // waits until free, and expects tile_bytes
//@ #     ptx::tensor_load(tiles + stage.index * tile_bytes, map, at, stage.barrier);
//@ #   }
//@ #   // the consumers
//@ #   auto consumer = ready.consumer();
//@ #   for (…) {
//@ #     const auto stage = consumer.wait();                     // waits until full
//@ #     … read tile stage.index …
//@ #     consumer.release();                                     // the oldest stage that it has waited for
//@ #   }
//@ #
//@ # In a cluster the producers of several CTAs fill a stage of each (multicast): a stage is free when the consumers of
//@ # all these CTAs have released it. They release it to each producer, so that `consumers` counts those of all CTAs,
//@ # and the cluster synchronises after init() and before any CTA exits.
#pragma once
#include "tmajit/barrier.cuh"
#include "tmajit/ring.cuh"

namespace tmajit {

enum class PipelineScope { cta, cluster };
enum class PipelineRole { producer, consumer };

// A stage, and its full barrier, on which bulk loads into the stage complete.
struct PipelineStage {
  u32 index;
  u32 barrier;
};

// The position of a producer or a consumer in a pipeline: the next stage and its phase.
template <PipelineRole role, u32 depth, PipelineScope scope>
class PipelineHandle {
 public:
  __device__ __forceinline__ PipelineHandle(RingBarriers full, RingBarriers empty) : full_(full), empty_(empty) {}

  // Waits until consumers have released the next stage, and arrives for `bytes` that the copy engine will load into it.
  [[nodiscard]] __device__ __forceinline__ PipelineStage acquire(u32 bytes) {
    const PipelineStage stage = acquire();
    ptx::mbarrier::arrive_expect_tx(stage.barrier, bytes);
    next_.next();
    return stage;
  }
  // Waits until consumers have released the next stage, which this thread then writes; commit() follows.
  [[nodiscard]] __device__ __forceinline__ PipelineStage acquire() {
    static_assert(role == PipelineRole::producer,
                  "a consumer's handle acquires no stage to fill: it calls wait() and release()");
    ptx::mbarrier::wait(empty_[next_.stage], next_.parity ^ 1);
    return {next_.stage, full_[next_.stage]};
  }
  // Arrives for the stage that acquire() returned: this thread has written it.
  __device__ __forceinline__ void commit() {
    static_assert(role == PipelineRole::producer, "a consumer's handle commits no stage: it calls wait() and release()");
    ptx::mbarrier::arrive(full_[next_.stage]);
    next_.next();
  }
  // Waits until consumers have released every stage. A CTA of a cluster calls it before it exits, because other CTAs may
  // still release stages to it.
  __device__ __forceinline__ void drain() {
    static_assert(role == PipelineRole::producer, "a consumer's handle drains nothing: its producer does");
    for (u32 i = 0; i < depth; ++i, next_.next()) ptx::mbarrier::wait(empty_[next_.stage], next_.parity ^ 1);
  }

  // Waits until the next stage is full.
  [[nodiscard]] __device__ __forceinline__ PipelineStage wait() {
    static_assert(role == PipelineRole::consumer,
                  "a producer's handle waits for no full stage: it calls acquire(), which waits for a free one");
    const PipelineStage stage{next_.stage, full_[next_.stage]};
    ptx::mbarrier::wait(stage.barrier, next_.parity);
    next_.next();
    return stage;
  }
  // Releases the oldest stage that this handle has waited for. Threads whose `mine` is false do not arrive; their
  // handles advance all the same. The barrier orders the threads' reads before the engine's next writes. If threads
  // wrote to the stage, they must call fence_proxy_async_shared() before.
  __device__ __forceinline__ void release(bool mine = true) {
    static_assert(role == PipelineRole::consumer, "a producer's handle releases no stage: the copies that it issues fill it");
    static_assert(scope == PipelineScope::cta,
                  "in a cluster a stage is released to the producer of each CTA that fills it: release_to(rank)");
    if (mine) ptx::mbarrier::arrive(empty_[released_]);
    advance_released();
  }
  // As release(), to the producer of CTA `rank` of the cluster. Threads with different ranks release to several CTAs at a
  // time. Orders only this thread's reads, not its writes, which would cost a fence (mbarrier.cuh).
  __device__ __forceinline__ void release_to(u32 rank, bool mine = true) {
    static_assert(role == PipelineRole::consumer, "a producer's handle releases no stage: the copies that it issues fill it");
    static_assert(scope == PipelineScope::cluster, "a pipeline of one CTA has one producer: release()");
    if (mine) ptx::mbarrier::arrive_remote_of_reader(ptx::map_to_cta(empty_[released_], rank));
    advance_released();
  }

 private:
  __device__ __forceinline__ void advance_released() { released_ = released_ + 1 == depth ? 0 : released_ + 1; }

  RingBarriers full_;
  RingBarriers empty_;
  RingPosition<depth> next_;
  u32 released_ = 0;
};

template <u32 depth, PipelineScope scope = PipelineScope::cta, BarrierState state = BarrierState::uninitialised>
class Pipeline {
 public:
  static_assert(depth > 0, "a pipeline has a stage or more");
  static constexpr u32 bytes = 16 * depth;  // bytes of the barriers

  // Takes the shared address of the barriers, a multiple of 8.
  __device__ __forceinline__ explicit Pipeline(u32 barriers) : full_{barriers}, empty_{barriers + 8 * depth} {}

  // Returns the ready pipeline, with this many arrivals of producers and of consumers for each stage. All threads call it; the
  // one whose `mine` is true initialises it. The CTA, or the cluster, must synchronise before any thread uses it.
  [[nodiscard]] __device__ __forceinline__ Pipeline<depth, scope, BarrierState::ready> init(u32 producers, u32 consumers,
                                                                                            bool mine) const {
    static_assert(state == BarrierState::uninitialised, "this pipeline is ready already");
    if (mine) {
      full_.init<depth>(producers);
      empty_.init<depth>(consumers);
      ptx::fence_mbarrier_init();
    }
    return Pipeline<depth, scope, BarrierState::ready>(full_[0]);
  }

  [[nodiscard]] __device__ __forceinline__ PipelineHandle<PipelineRole::producer, depth, scope> producer() const {
    static_assert(state == BarrierState::ready, "this pipeline was never initialised: use what init() returns");
    return {full_, empty_};
  }
  [[nodiscard]] __device__ __forceinline__ PipelineHandle<PipelineRole::consumer, depth, scope> consumer() const {
    static_assert(state == BarrierState::ready, "this pipeline was never initialised: use what init() returns");
    return {full_, empty_};
  }

 private:
  RingBarriers full_;
  RingBarriers empty_;
};

}  // namespace tmajit
