// SPDX-License-Identifier: Apache-2.0
// Orders of lines, one program each: scalar code, which is what a CPU does best here.
#include "passes/graph/SortText.h"

#include <algorithm>

namespace pellucid::passes {

namespace {

/// Digits of the 32 bits of a key, least first.
struct Digits {
  int64_t bits, passes;
  int64_t bins() const { return int64_t(1) << bits; }
};
Digits digitsFor(const Expr &count, const SymbolTable &symbols) {
  // Counters must be worth their clearing.
  return symbols.range(count).max > 4096 ? Digits{11, 3} : Digits{8, 4};
}

/// A stable sort of each line by the keys of `packed` numbers, which lie in `a`.
class RadixKernel {
public:
  RadixKernel(const LineSpec &s, const SymbolTable &symbols, const Expr &n, std::string name)
      : spec(s), count(n), digits(digitsFor(n, symbols)), writer(std::move(name)) {
    kept = spec.shape.size() - 1;
    lines = product(spec.shape, 0, kept);
  }

  /// `half`: keys are made here, of the elements in the order `ordered` says; otherwise they are in
  /// `a`. The order is the result where `leavesOrder`.
  KernelText write(std::optional<KeyHalf> half, bool ordered, bool leavesOrder,
                   const SymbolTable &symbols) {
    writer.pointer("p0");
    if (ordered)
      writer.pointer("order");
    writer.pointer("o0");
    if (!leavesOrder)
      writer.pointer("o1");
    for (const char *name : {"a", "b", "h"})
      writer.pointer(name);
    size = writer.scalar(count);
    writer.line("line = tl.program_id(0).to(tl.int64)");
    indices = writer.delinearize("line", spec.shape, kept, "idx");
    writer.line("from_a = a + line * " + size);
    writer.line("from_b = b + line * " + size);
    writer.line("bins = h + line * " + number(digits.bins() * digits.passes));
    if (half)
      emitKeys(*half, ordered, symbols);
    emitCounts();
    for (int64_t pass = 0; pass < digits.passes; ++pass)
      emitPass(pass, ordered, leavesOrder);
    return writer.finish(lines, 1024);
  }

  static Expr binsFor(const Expr &count, const SymbolTable &symbols) {
    Digits digits = digitsFor(count, symbols);
    return digits.bins() * digits.passes;
  }

private:
  /// The digit of a packed number: keys are signed, bins count from 0.
  std::string digit(int64_t pass) const {
    int64_t shift = 32 + pass * digits.bits;
    int64_t width = std::min(digits.bits, 64 - shift);
    return "(((item ^ (-9223372036854775807 - 1)) >> " + number(shift) + ") & " +
           number((int64_t(1) << width) - 1) + ")";
  }

  void emitKeys(KeyHalf half, bool ordered, const SymbolTable &symbols) {
    checkLength(writer, spec, symbols);
    writer.open("for start in range(0, " + size + ", BLOCK):");
    writer.line("i = start + tl.arange(0, BLOCK).to(tl.int64)");
    writer.line("mask = i < " + size);
    if (ordered)
      writer.line("at = tl.load(order + line * " + size + " + i, mask=mask, other=0)");
    writer.line("x = tl.load(p0 + (" +
                elementAddress(writer, spec.input, indices, ordered ? "at" : "i") +
                "), mask=mask, other=0)");
    emitPacked(writer, spec, half, "i");
    writer.line("tl.store(from_a + i, packed, mask=mask)");
    writer.close();
  }

  /// Where each bin of each pass begins.
  void emitCounts() {
    int64_t all = digits.bins() * digits.passes;
    writer.open("for start in range(0, " + number(all) + ", BLOCK):");
    writer.line("tl.store(bins + start + tl.arange(0, BLOCK), tl.zeros([BLOCK], tl.int64))");
    writer.close();
    writer.open("for i in range(0, " + size + "):");
    writer.line("item = tl.load(from_a + i)");
    for (int64_t pass = 0; pass < digits.passes; ++pass) {
      std::string bin = "bin" + number(pass);
      writer.line(bin + " = bins + " + number(pass * digits.bins()) + " + " + digit(pass));
      writer.line("tl.store(" + bin + ", tl.load(" + bin + ") + 1)");
    }
    writer.close();
    writer.open("for turn in range(0, " + number(digits.passes) + "):");
    writer.line("begin = tl.cast(0, tl.int64)");
    writer.open("for k in range(0, " + number(digits.bins()) + "):");
    writer.line("bin = bins + turn * " + number(digits.bins()) + " + k");
    writer.line("length = tl.load(bin)");
    writer.line("tl.store(bin, begin)");
    writer.line("begin = begin + length");
    writer.close();
    writer.close();
  }

  /// From one buffer into the other; the last pass goes into the results.
  void emitPass(int64_t pass, bool ordered, bool leavesOrder) {
    bool last = pass + 1 == digits.passes;
    writer.open("for i in range(0, " + size + "):");
    writer.line("item = tl.load(" + std::string(pass % 2 ? "from_b" : "from_a") + " + i)");
    writer.line("bin = bins + " + number(pass * digits.bins()) + " + " + digit(pass));
    writer.line("place = tl.load(bin)");
    writer.line("tl.store(bin, place + 1)");
    if (!last) {
      writer.line("tl.store(" + std::string(pass % 2 ? "from_a" : "from_b") + " + place, item)");
      writer.close();
      return;
    }
    writer.line("at = item & 4294967295");
    if (ordered)
      writer.line("at = tl.load(order + line * " + size + " + at)");
    if (leavesOrder) {
      writer.line("tl.store(o0 + line * " + size + " + place, at)");
    } else {
      writer.open("if place < " + writer.scalar(spec.places) + ":");
      writer.line("tl.store(o0 + (" + writerAddress(0) + "), tl.load(p0 + (" + elementAt() + ")))");
      writer.line("tl.store(o1 + (" + writerAddress(1) + "), at)");
      writer.close();
    }
    writer.close();
  }
  std::string elementAt() {
    std::vector<std::string> places = indices;
    places.push_back("at");
    return writer.address(spec.input, places);
  }
  std::string writerAddress(size_t output) {
    std::vector<std::string> places = indices;
    places.push_back("place");
    return writer.address(spec.outputs[output], places);
  }

  const LineSpec &spec;
  Expr count, lines = 1;
  Digits digits;
  KernelWriter writer;
  size_t kept = 0;
  std::string size;
  std::vector<std::string> indices;
};

} // namespace

void appendRadixSort(KernelSequence &sequence, const LineSpec &spec, const SymbolTable &symbols) {
  const Expr &length = spec.shape.back();
  Expr lines = product(spec.shape, 0, spec.shape.size() - 1);
  size_t a = sequence.buffer(DataType::Int64, {lines, length}),
         b = sequence.buffer(DataType::Int64, {lines, length});
  size_t h = sequence.buffer(DataType::Int64, {lines, RadixKernel::binsFor(length, symbols)});
  auto round = [&](KeyHalf half, std::vector<size_t> reads, std::vector<size_t> writes) {
    RadixKernel kernel(spec, symbols, length, spec.name);
    KernelText text = kernel.write(half, reads.size() > 1, writes.size() == 1, symbols);
    sequence.steps.push_back({std::move(text), std::move(reads), std::move(writes), {a, b, h}});
  };
  if (!isWide(spec.input.dtype)) {
    round(KeyHalf::Whole, {0}, {1, 2});
    return;
  }
  size_t order = sequence.buffer(DataType::Int64, {lines, length});
  round(KeyHalf::Low, {0}, {order});
  round(KeyHalf::High, {0, order}, {1, 2});
}

namespace {

/// Negated keys are kept beside the program, so that the first elements have the largest.
KernelText selectionKernel(const LineSpec &spec, const SymbolTable &symbols) {
  KernelWriter writer(spec.name + "_choice");
  for (const char *name : {"p0", "o0", "k0"})
    writer.pointer(name);
  size_t kept = spec.shape.size() - 1;
  std::string size = writer.scalar(spec.shape.back()), places = writer.scalar(spec.places);
  writer.line("line = tl.program_id(0).to(tl.int64)");
  std::vector<std::string> indices = writer.delinearize("line", spec.shape, kept, "idx");
  writer.line("keys = k0 + line * " + size);
  checkLength(writer, spec, symbols);
  writer.open("for start in range(0, " + size + ", BLOCK):");
  writer.line("i = start + tl.arange(0, BLOCK).to(tl.int64)");
  writer.line("mask = i < " + size);
  writer.line("x = tl.load(p0 + (" + elementAddress(writer, spec.input, indices, "i") +
              "), mask=mask, other=0)");
  emitPacked(writer, spec, KeyHalf::Whole, "i");
  writer.line("tl.store(keys + i, key ^ -1, mask=mask)");
  writer.close();
  // The largest number that enough keys are not below, from its highest bit on.
  writer.line("limit = tl.cast(-2147483647 - 1, tl.int32)");
  writer.line("bit = tl.cast(-2147483647 - 1, tl.int32)");
  writer.line("above = tl.cast(" + size + ", tl.int64)");
  writer.open("while (bit != 0) & (above != " + places + "):");
  writer.line("trial = limit ^ bit");
  writer.line("count = tl.cast(0, tl.int64)");
  writer.open("for start in range(0, " + size + ", BLOCK):");
  writer.line("i = start + tl.arange(0, BLOCK).to(tl.int64)");
  writer.line("key = tl.load(keys + i, mask=i < " + size + ", other=-2147483647 - 1)");
  writer.line("count = count + tl.sum(((key >= trial) & (i < " + size + ")).to(tl.int32), axis=0)");
  writer.close();
  writer.line("enough = count >= " + places);
  writer.line("limit = tl.where(enough, trial, limit)");
  writer.line("above = tl.where(enough, count, above)");
  writer.line("bit = tl.where(bit < 0, 1073741824, bit >> 1).to(tl.int32)");
  writer.close();
  // Those above the limit, and as many of its equals as there is room for.
  writer.line("greater = tl.cast(0, tl.int64)");
  writer.open("for start in range(0, " + size + ", BLOCK):");
  writer.line("i = start + tl.arange(0, BLOCK).to(tl.int64)");
  writer.line("key = tl.load(keys + i, mask=i < " + size + ", other=-2147483647 - 1)");
  writer.line("greater = greater + tl.sum((key > limit).to(tl.int32), axis=0)");
  writer.close();
  writer.line("equals = " + places + " - greater");
  writer.line("place = tl.cast(0, tl.int64)");
  writer.open("for start in range(0, " + size + ", 64):");
  writer.line("i = start + tl.arange(0, 64).to(tl.int64)");
  writer.line("key = tl.load(keys + i, mask=i < " + size + ", other=-2147483647 - 1)");
  writer.open("if tl.max(key, axis=0) >= limit:");
  writer.open("for j in range(start, tl.minimum(start + 64, " + size + ")):");
  writer.line("one = tl.load(keys + j)");
  writer.open("if (one > limit) | ((one == limit) & (equals > 0)):");
  writer.line("tl.store(o0 + line * " + places + " + place, ((one ^ -1).to(tl.int64) << 32) | j)");
  writer.line("place = place + 1");
  writer.line("equals = tl.where(one == limit, equals - 1, equals)");
  for (int i = 0; i < 4; ++i)
    writer.close();
  return writer.finish(product(spec.shape, 0, kept), 1024);
}

/// Sorts few packed numbers by counting.
KernelText countedChoice(const LineSpec &spec, int64_t most) {
  KernelWriter writer(spec.name);
  for (const char *name : {"p0", "c0", "o0", "o1"})
    writer.pointer(name);
  size_t kept = spec.shape.size() - 1;
  std::string places = writer.scalar(spec.places);
  writer.line("line = tl.program_id(0).to(tl.int64)");
  std::vector<std::string> indices = writer.delinearize("line", spec.shape, kept, "idx");
  writer.line("i = tl.arange(0, BLOCK).to(tl.int64)");
  writer.line("mask = i < " + places);
  writer.line("packed = tl.load(c0 + line * " + places + " + i, mask=mask, other=0)");
  writer.line("place = tl.zeros([BLOCK], tl.int64)");
  writer.open("for j in range(0, " + places + "):");
  writer.line("place = place + (tl.load(c0 + line * " + places + " + j) < packed).to(tl.int64)");
  writer.close();
  writer.line("at = packed & 4294967295");
  writer.line("value = tl.load(p0 + (" + elementAddress(writer, spec.input, indices, "at") +
              "), mask=mask, other=0)");
  writer.line(storeText("o0", elementAddress(writer, spec.outputs[0], indices, "place"), "value",
                        spec.outputs[0].dtype, "mask"));
  writer.line(storeText("o1", elementAddress(writer, spec.outputs[1], indices, "place"), "at",
                        spec.outputs[1].dtype, "mask"));
  int64_t block = 16;
  while (block < most)
    block *= 2;
  return writer.finish(product(spec.shape, 0, kept), block);
}

} // namespace

void appendSelection(KernelSequence &sequence, const LineSpec &spec, const SymbolTable &symbols) {
  Expr lines = product(spec.shape, 0, spec.shape.size() - 1);
  size_t chosen = sequence.buffer(DataType::Int64, {lines, spec.places}),
         keys = sequence.buffer(DataType::Int32, {lines, spec.shape.back()});
  sequence.steps.push_back({selectionKernel(spec, symbols), {0}, {chosen}, {keys}});
  int64_t most = symbols.range(spec.places).max;
  if (most <= 128) {
    sequence.steps.push_back({countedChoice(spec, most), {0, chosen}, {1, 2}});
    return;
  }
  size_t b = sequence.buffer(DataType::Int64, {lines, spec.places}),
         h = sequence.buffer(DataType::Int64, {lines, RadixKernel::binsFor(spec.places, symbols)});
  KernelText text =
      RadixKernel(spec, symbols, spec.places, spec.name).write(std::nullopt, false, false, symbols);
  sequence.steps.push_back({std::move(text), {0}, {1, 2}, {chosen, b, h}});
}

} // namespace pellucid::passes
