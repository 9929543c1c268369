// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <map>

namespace pellucid::codegen {

using Point = Layout::Point;

bool isZero(const Point &point) {
  return llvm::all_of(point, [](int32_t at) { return at == 0; });
}

Layout Layout::blocked(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order,
                       int64_t perThread, unsigned warpCount) {
  Layout layout;
  layout.shape.assign(shape.begin(), shape.end());
  llvm::SmallVector<int32_t, 4> next(shape.size(), 1);
  auto take = [&](unsigned dim) {
    Point point(shape.size(), 0);
    point[dim] = next[dim];
    next[dim] *= 2;
    return point;
  };
  auto takeAlongOrder = [&](Bits &bits, unsigned count) {
    for (unsigned dim : order)
      while (bits.size() < count && next[dim] < shape[dim])
        bits.push_back(take(dim));
    while (bits.size() < count)
      bits.push_back(Point(shape.size(), 0));
  };
  if (!order.empty())
    while (next[order[0]] < perThread && next[order[0]] < shape[order[0]])
      layout.registers.push_back(take(order[0]));
  takeAlongOrder(layout.lanes, laneBits);
  takeAlongOrder(layout.warps, llvm::Log2_32(warpCount));
  for (unsigned dim : order)
    while (next[dim] < shape[dim])
      layout.registers.push_back(take(dim));
  return layout;
}

bool Layout::isCube(llvm::ArrayRef<int64_t> shape) {
  return shape.size() > laneBits && llvm::all_of(shape, [](int64_t extent) { return extent == 2; });
}

Layout Layout::cube(llvm::ArrayRef<int64_t> shape, unsigned warpCount) {
  Layout layout;
  layout.shape.assign(shape.begin(), shape.end());
  unsigned threadBits = laneBits + llvm::Log2_32(warpCount), dim = layout.rank();
  auto take = [&](Bits &bits, unsigned count) {
    while (bits.size() < count) {
      Point point = layout.zero();
      if (dim > 0)
        point[--dim] = 1;
      bits.push_back(point);
    }
  };
  take(layout.registers, layout.rank() > threadBits ? layout.rank() - threadBits : 0);
  take(layout.lanes, laneBits);
  take(layout.warps, threadBits - laneBits);
  return layout;
}

Layout Layout::pieces(llvm::ArrayRef<int64_t> shape, unsigned warpCount) {
  Layout layout;
  layout.shape.assign(shape.begin(), shape.end());
  auto extent = static_cast<int32_t>(shape[0]);
  auto point = [&](int32_t at) { return Point{at < extent ? at : 0}; };
  int32_t next = 1, piece = std::max(1 << laneBits, extent / static_cast<int32_t>(warpCount));
  for (unsigned bit = 0; bit < laneBits; ++bit, next *= 2)
    layout.lanes.push_back(point(next));
  for (; next < piece && next < extent; next *= 2)
    layout.registers.push_back(point(next));
  for (unsigned bit = 0; bit < llvm::Log2_32(warpCount); ++bit, next *= 2)
    layout.warps.push_back(point(next));
  return layout;
}

Layout Layout::product(llvm::ArrayRef<int64_t> shape, unsigned warpCount) {
  Layout layout;
  layout.shape.assign(shape.begin(), shape.end());
  layout.registers = {{0, 1}, {8, 0}};
  layout.lanes = {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}};
  Point next = {16, 8};
  auto take = [&](unsigned dim) {
    Point point = {0, 0};
    point[dim] = next[dim];
    next[dim] *= 2;
    return point;
  };
  for (unsigned bit = 0; bit < llvm::Log2_32(warpCount); ++bit) {
    // What each warp has to do along each dim.
    int64_t rows = shape[0] * 16 / next[0], columns = shape[1] * 8 / next[1];
    unsigned dim = rows > 16 && (rows >= columns || columns <= 8) ? 0 : 1;
    layout.warps.push_back(next[dim] < shape[dim] ? take(dim) : Point(2, 0));
  }
  for (unsigned dim : {1, 0})
    while (next[dim] < shape[dim])
      layout.registers.push_back(take(dim));
  return layout;
}

Layout Layout::warpgroupProduct(llvm::ArrayRef<int64_t> shape, unsigned warpCount) {
  Layout layout = product(shape, 1);
  layout.registers.resize(2);
  layout.warps = {{16, 0}, {32, 0}};
  Point next = {64, 8};
  auto take = [&](unsigned dim) {
    Point point = {0, 0};
    point[dim] = next[dim];
    next[dim] *= 2;
    return point;
  };
  int64_t columns = shape[1];
  for (unsigned bit = 2; bit < llvm::Log2_32(warpCount); ++bit) {
    if (next[0] < shape[0]) {
      layout.warps.push_back(take(0));
    } else if (columns > 8) {
      columns /= 2;
      layout.warps.push_back({0, static_cast<int32_t>(columns)});
    } else {
      layout.warps.push_back(layout.zero());
    }
  }
  while (next[1] < columns)
    layout.registers.push_back(take(1));
  while (next[0] < shape[0])
    layout.registers.push_back(take(0));
  return layout;
}

Layout Layout::laneProduct(llvm::ArrayRef<int64_t> shape, unsigned warpCount, bool rowsLie,
                           bool columnsLie) {
  constexpr unsigned rowLanes = 2, vectorBits = 2;
  unsigned extent[] = {llvm::Log2_64(shape[0]), llvm::Log2_64(shape[1])};
  unsigned warpBits = llvm::Log2_32(warpCount);
  unsigned lanes[] = {rowLanes, laneBits - rowLanes};
  unsigned all = extent[0] + extent[1] - laneBits - warpBits;
  unsigned registers[2], warps[2];
  registers[0] = std::min(extent[0] - lanes[0], all / 2);
  registers[1] = std::min(extent[1] - lanes[1], all - registers[0]);
  registers[0] = all - registers[1];
  for (unsigned dim : {0, 1})
    warps[dim] = extent[dim] - lanes[dim] - registers[dim];

  Layout layout;
  layout.shape.assign(shape.begin(), shape.end());
  Bits ofDim[2]; // of the lanes
  for (unsigned dim : {1, 0}) {
    int32_t next = 1;
    auto take = [&](Bits &bits, unsigned &left, unsigned most) {
      for (unsigned i = std::min(left, most); i > 0; --i, --left, next *= 2) {
        Point point = {0, 0};
        point[dim] = next;
        bits.push_back(point);
      }
    };
    bool lies = dim == 0 ? rowsLie : columnsLie;
    take(layout.registers, registers[dim], lies ? vectorBits : 0);
    take(ofDim[dim], lanes[dim], laneBits);
    // Rows of eight have a swizzle each, which is alike in a thread's registers then.
    take(layout.warps, warps[dim], !lies && next < 8 ? llvm::Log2_32(8 / next) : 0);
    take(layout.registers, registers[dim], 32);
    take(layout.warps, warps[dim], 32);
  }
  // Loads of 16 bytes take half as long where a lane has the address of the one next to it, or of
  // the one after that: either operand is so.
  layout.lanes = {ofDim[1][0], ofDim[0][0], ofDim[1][1], ofDim[1][2], ofDim[0][1]};
  return layout;
}

Layout Layout::warpgroupLeft(llvm::ArrayRef<int64_t> shape, const Layout &sums) {
  Layout layout = product(shape, 1);
  layout.registers = {{0, 1}, {8, 0}};
  layout.warps.clear();
  for (Point point : sums.warps) {
    point[1] = 0;
    layout.warps.push_back(point);
  }
  for (int32_t k = 8; k < shape[1]; k *= 2)
    layout.registers.push_back({0, k});
  for (const Point &point : sums.registers)
    if (point[0] > 8)
      layout.registers.push_back(point);
  return layout;
}

static void addBits(Point &sum, const Layout::Bits &bits, unsigned number) {
  for (size_t bit = 0; bit < bits.size(); ++bit)
    if (number >> bit & 1)
      for (size_t d = 0; d < sum.size(); ++d)
        sum[d] ^= bits[bit][d];
}

Point Layout::registerPoint(unsigned index) const { return pointOf(index, 0, 0); }

Point Layout::pointOf(unsigned registerIndex, unsigned lane, unsigned warp) const {
  Point sum = zero();
  addBits(sum, registers, registerIndex);
  addBits(sum, lanes, lane);
  addBits(sum, warps, warp);
  return sum;
}

template <typename Map> Layout Layout::mapped(llvm::ArrayRef<int64_t> newShape, Map map) const {
  Layout result;
  result.shape.assign(newShape.begin(), newShape.end());
  for (auto [from, to] :
       {std::pair{&registers, &result.registers}, {&lanes, &result.lanes}, {&warps, &result.warps}})
    for (const Point &point : *from)
      to->push_back(map(point));
  return result;
}

Layout Layout::throughExpandDims(unsigned axis) const {
  llvm::SmallVector<int64_t, 4> source(shape);
  source.erase(source.begin() + axis);
  return mapped(source, [&](Point point) {
    point.erase(point.begin() + axis);
    return point;
  });
}

Layout Layout::throughBroadcast(llvm::ArrayRef<int64_t> source) const {
  return mapped(source, [&](Point point) {
    for (size_t d = 0; d < source.size(); ++d)
      point[d] = source[d] == 1 ? 0 : point[d];
    return point;
  });
}

Layout Layout::throughTranspose(llvm::ArrayRef<int32_t> order) const {
  llvm::SmallVector<int64_t, 4> source(shape.size());
  for (size_t d = 0; d < order.size(); ++d)
    source[order[d]] = shape[d];
  return mapped(source, [&](const Point &point) {
    Point result(point.size());
    for (size_t d = 0; d < order.size(); ++d)
      result[order[d]] = point[d];
    return result;
  });
}

Layout Layout::throughReshape(llvm::ArrayRef<int64_t> source) const {
  return mapped(source, [&](const Point &point) {
    int64_t position = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      position = position * shape[d] + point[d];
    Point result(source.size());
    for (size_t d = source.size(); d-- > 0; position /= source[d])
      result[d] = static_cast<int32_t>(position % source[d]);
    return result;
  });
}

Layout Layout::throughSplit() const {
  llvm::SmallVector<int64_t, 4> source(shape);
  source.push_back(2);
  Layout result = mapped(source, [](Point point) {
    point.push_back(0);
    return point;
  });
  Point last(source.size(), 0);
  last.back() = 1;
  result.registers.push_back(last);
  return result;
}

Layout Layout::reducedAlong(unsigned axis) const {
  return throughExpandDims(axis).withoutRepeats();
}

Layout Layout::withoutRepeats() const {
  Layout result = *this;
  llvm::erase_if(result.registers, isZero);
  return result;
}

std::vector<unsigned> Layout::registersIn(const Layout &source) const {
  if (lanes != source.lanes || warps != source.warps)
    return {};
  std::map<std::vector<int32_t>, unsigned> where;
  for (unsigned r = 0; r < source.registerCount(); ++r) {
    Point point = source.registerPoint(r);
    where.try_emplace({point.begin(), point.end()}, r);
  }
  std::vector<unsigned> result;
  for (unsigned r = 0; r < registerCount(); ++r) {
    Point point = registerPoint(r);
    auto found = where.find({point.begin(), point.end()});
    if (found == where.end())
      return {};
    result.push_back(found->second);
  }
  return result;
}

unsigned Layout::contiguousAlong(unsigned dim) const {
  unsigned count = 1;
  for (const Point &point : registers) {
    Point wanted = zero();
    wanted[dim] = static_cast<int32_t>(count);
    if (point != wanted)
      break;
    count *= 2;
  }
  // A thread's first element must lie on a multiple of the count.
  for (const Bits *bits : {&lanes, &warps})
    for (const Point &point : *bits)
      while (point[dim] % static_cast<int32_t>(count) != 0)
        count /= 2;
  for (size_t bit = llvm::Log2_32(count); bit < registers.size(); ++bit)
    while (registers[bit][dim] % static_cast<int32_t>(count) != 0)
      count /= 2;
  return count;
}

std::string Layout::text() const {
  std::string text;
  for (auto [name, bits] :
       {std::pair{"registers", &registers}, {" lanes", &lanes}, {" warps", &warps}}) {
    text += name;
    for (const Point &point : *bits) {
      text += " (";
      for (size_t d = 0; d < point.size(); ++d)
        text += (d ? "," : "") + std::to_string(point[d]);
      text += ")";
    }
  }
  return text;
}

std::vector<AxisBit> bitsAlong(const Layout &layout, unsigned axis) {
  std::vector<AxisBit> bits;
  bool pure = true;
  auto take = [&](const Layout::Bits &list, AxisBit::Of of) {
    for (unsigned i = 0; i < list.size(); ++i) {
      if (list[i][axis] == 0)
        continue;
      for (unsigned d = 0; d < layout.rank(); ++d)
        pure &= d == axis || list[i][d] == 0;
      bits.push_back({of, i, list[i][axis]});
    }
  };
  take(layout.registers, AxisBit::Of::Register);
  take(layout.lanes, AxisBit::Of::Lane);
  take(layout.warps, AxisBit::Of::Warp);
  std::sort(bits.begin(), bits.end(),
            [](const AxisBit &a, const AxisBit &b) { return a.stride < b.stride; });
  int64_t size = 1;
  for (const AxisBit &bit : bits) {
    pure &= bit.stride == size;
    size *= 2;
  }
  if (!pure || size != layout.shape[axis])
    bits.clear();
  return bits;
}

} // namespace pellucid::codegen
