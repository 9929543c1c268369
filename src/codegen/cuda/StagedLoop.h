// SPDX-License-Identifier: Apache-2.0
// A loop whose products read what it loads: the loads become copies to shared memory (cp.async),
// queued `stages - 1` rounds ahead of the round that multiplies, so that memory and matrix units
// work at the same time. The addresses of a later round come from evaluating the loop's scalars and
// index tiles a second time, for that round; indices that are themselves loaded (tables of pages)
// are loaded then. Internal to codegen/cuda.
#pragma once

#include "codegen/cuda/CudaEmitter.h"

namespace pellucid::codegen {

class CudaEmitter::StagedLoop {
public:
  StagedLoop(CudaEmitter &emitter, mlir::scf::ForOp loop) : e(emitter), b(emitter.b), loop(loop) {}

  /// False when there is nothing to stage, or what the addresses need cannot be had earlier.
  bool plan();
  /// Before the loop: queues the copies of its first rounds.
  void begin();
  /// At the top of the loop's body: first what enters it, then everything else.
  void makePhis(llvm::BasicBlock *before);
  void beginRound();
  /// At the end of the body; `last` is where it goes on from.
  void endRound();
  void addIncoming(llvm::BasicBlock *last);
  /// The number of a carried sum whose last product is still to be awaited behind the loop.
  std::optional<unsigned> runningSum() const { return running; }
  /// Behind the loop.
  void finish();

private:
  struct Load {
    tt::LoadOp op;
    Layout layout; ///< which thread copies what
    SharedOperand place;
  };
  /// A product's operand from outside of the loop, which is put in shared memory once.
  struct Invariant {
    mlir::Value tile;
    SharedOperand place;
  };
  /// Where copying is.
  struct State {
    llvm::Value *index = nullptr;  ///< of the round
    llvm::Value *isLeft = nullptr; ///< an i1: there is such a round
    llvm::Value *stage = nullptr;  ///< bytes to its copies (i32)
    std::vector<Registers> carried;
  };
  class OtherRound;

  bool isStageable(tt::LoadOp load);
  bool findAddresses();
  /// An index that is loaded may be loaded early, if nothing writes there meanwhile.
  bool canComeEarly(mlir::Operation *op);
  /// The value serves the addresses of staged loads and nothing else.
  bool servesAddresses(mlir::Value value, unsigned depth = 0);
  void findInvariants();
  std::optional<unsigned> findRunningSum();
  void shareInvariants();
  State copyRound(const State &now);
  void copyTile(const Load &load, llvm::Value *stage, llvm::Value *isLeft);
  llvm::Value *nextStage(llvm::Value *stage);

  CudaEmitter &e;
  CodeBuilder &b;
  mlir::scf::ForOp loop;
  unsigned stages = 0;
  uint64_t bytesPerStage = 0;
  llvm::SmallVector<Load> loads;
  llvm::SmallVector<Invariant> invariants;
  /// What the addresses need of the loop: scalars and loads of its body, in order, and carried
  /// values.
  std::vector<mlir::Operation *> scalars;
  llvm::SmallVector<unsigned> carried;
  size_t scopesOutside = 0;
  State ahead, afterRound;
  llvm::SmallVector<llvm::PHINode *> phis; ///< of `ahead`, in the order of its members
  llvm::PHINode *readStage = nullptr;
  llvm::Value *nextReadStage = nullptr;
  PendingCopies outside;
  std::optional<unsigned> running;
  mlir::Operation *product = nullptr, *productOutside = nullptr; ///< that makes the running sum
};

} // namespace pellucid::codegen
