// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/ScratchMemory.h"

#include "llvm/IR/Function.h"

namespace pellucid::codegen {

void ScratchMemory::numberOperations(mlir::Operation *kernel) {
  uint64_t next = 0;
  std::function<void(mlir::Operation *)> number = [&](mlir::Operation *op) {
    uint64_t first = next++;
    for (mlir::Region &region : op->getRegions())
      for (mlir::Block &block : region)
        for (mlir::Operation &inner : block)
          number(&inner);
    spans[op] = {first, next++};
  };
  number(kernel);
}

TileBuffer ScratchMemory::allocate(mlir::Operation *at, mlir::Type element,
                                   llvm::ArrayRef<int64_t> shape) {
  uint64_t bytes = memoryBytes(element);
  for (int64_t extent : shape)
    bytes *= extent;
  llvm::IRBuilderBase::InsertPointGuard guard(b);
  auto *baseArgument = llvm::cast<llvm::Argument>(base);
  llvm::BasicBlock &entry = baseArgument->getParent()->getEntryBlock();
  b.SetInsertPoint(&entry, entry.begin());
  llvm::Value *offset = b.getInt64(0);
  auto *address =
      llvm::GetElementPtrInst::Create(b.i8(), base, llvm::ArrayRef<llvm::Value *>(offset));
  b.Insert(address);
  areaOf[address] = areas.size();
  Span span = spans.lookup(at);
  areas.push_back({address, at->getBlock(), (bytes + 63) / 64 * 64, span.first, span.last});
  return {address, element, llvm::SmallVector<int64_t, 4>(shape)};
}

void ScratchMemory::touch(const TileBuffer &buffer, mlir::Operation *at) {
  auto found = areaOf.find(buffer.base);
  if (found == areaOf.end())
    return;
  Area &area = areas[found->second];
  // Inside a loop that the buffer outlives, it lives until the loop's end.
  mlir::Operation *ancestor = area.home ? area.home->findAncestorOpInBlock(*at) : nullptr;
  Span span = spans.lookup(ancestor ? ancestor : at);
  area.first = std::min(area.first, span.first);
  area.last = std::max(area.last, span.last);
}

uint64_t ScratchMemory::finish() {
  std::vector<size_t> order(areas.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  llvm::stable_sort(order, [&](size_t x, size_t y) { return areas[x].bytes > areas[y].bytes; });
  uint64_t total = safeBytes;
  for (size_t i = 0; i < order.size(); ++i) {
    Area &area = areas[order[i]];
    std::vector<std::pair<uint64_t, uint64_t>> taken;
    for (size_t j = 0; j < i; ++j) {
      const Area &placed = areas[order[j]];
      if (placed.first <= area.last && area.first <= placed.last)
        taken.push_back({placed.offset, placed.offset + placed.bytes});
    }
    llvm::sort(taken);
    area.offset = safeBytes;
    for (auto [begin, end] : taken)
      if (begin < area.offset + area.bytes && area.offset < end)
        area.offset = end;
    area.address->setOperand(1, llvm::ConstantInt::get(b.i64(), area.offset));
    total = std::max(total, area.offset + area.bytes);
  }
  return total;
}

} // namespace pellucid::codegen
