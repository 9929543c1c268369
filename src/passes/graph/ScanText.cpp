// SPDX-License-Identifier: Apache-2.0
// Running sums and products.
#include "passes/graph/KernelWriter.h"
#include "passes/graph/LineText.h"

#include <algorithm>

namespace pellucid::passes {

namespace {

constexpr int64_t scannedTile = 4096; ///< elements that one program of a scan in one pass holds
constexpr int64_t mostInGroup = 256;  ///< tiles whose totals are added up to one more

/// What a program does with its piece of a line.
enum class Phase {
  Whole, ///< the piece is the line
  Total, ///< writes what the piece adds up to
  Apply, ///< goes on from what the pieces before add up to
};

class ScanKernel {
public:
  ScanKernel(const LineSpec &s, const SymbolTable &t, int64_t p, Phase ph)
      : spec(s), symbols(t), writer(ph == Phase::Total ? s.name + "_totals" : s.name), piece(p),
        phase(ph) {
    writer.pointer("p0");
    if (phase == Phase::Apply)
      writer.pointer("p1");
    writer.pointer("o0");
    length = spec.shape.back();
    kept = spec.shape.size() - 1;
    if (piece)
      parts = symbolic::ceilDiv(length, piece);
  }

  KernelText write(bool across) { return across ? writeAcross() : writeAlong(); }

private:
  std::string at(const TextOperand &operand, const std::vector<std::string> &lines,
                 const std::string &position) {
    std::vector<std::string> indices = lines;
    indices.push_back(position);
    // Along a broadcast dim the address is one number, and a tile of addresses is what is loaded.
    bool repeats = operand.strides.back().constant() == 0;
    return writer.address(operand, indices) + (repeats ? " + " + position + " * 0" : "");
  }
  bool isSum() const { return spec.kind == LineKind::Sum; }
  /// -0 + x is x for every x.
  std::string neutral() const { return !isSum() ? "1" : isFloat(spec.compute) ? "-0.0" : "0"; }
  /// What a running result begins with: that of PyTorch is +0 where all elements so far are -0.
  std::string start() const {
    return phase != Phase::Total && isSum() && isFloat(spec.compute) ? "0.0" : neutral();
  }
  std::string type() const { return tlName(spec.compute); }
  std::string sign() const { return isSum() ? " + " : " * "; }

  /// Takes the part off `pid`; the piece is [begin, end).
  std::string takePart(const std::string &size) {
    if (!piece)
      return "pid";
    std::string count = writer.scalar(parts), text = std::to_string(piece);
    // Backwards from where the totals ended: the cache has that.
    writer.line(phase == Phase::Apply ? "part = " + count + " - 1 - pid % " + count
                                      : "part = pid % " + count);
    writer.line("begin = part * " + text);
    writer.line("end = tl.minimum(begin + " + text + ", " + size + ")");
    writer.line("group = pid // " + count);
    return "group";
  }

  KernelText writeAlong() {
    int64_t block = chooseBlock(length, symbols, 1024);
    if (!isSum())
      writer.helper = "@triton.jit\ndef multiply(a, b):\n    return a * b\n\n\n";
    std::string size = writer.scalar(length);
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    std::string line = takePart(size);
    std::vector<std::string> lines = writer.delinearize(line, spec.shape, kept, "idx");
    std::string begin = piece ? "begin" : "0", end = piece ? "end" : size;
    std::string place = piece ? line + " * " + writer.scalar(parts) + " + part" : "";
    writer.line("carry = tl.cast(" + start() + ", " + type() + ")");
    if (phase == Phase::Apply) {
      writer.line("before = tl.load(p1 + tl.maximum(" + place + " - 1, 0))");
      writer.line("carry = tl.where(part > 0, before, carry)");
    }
    writer.open("for start in range(" + begin + ", " + end + ", BLOCK):");
    writer.line("col = start + tl.arange(0, BLOCK).to(tl.int64)");
    writer.line("mask = col < " + end);
    writer.line("x = tl.load(p0 + (" + at(spec.input, lines, "col") + "), mask=mask, other=0)");
    writer.line("x = tl.where(mask, x.to(" + type() + "), " + neutral() + ").to(" + type() + ")");
    if (phase != Phase::Total) {
      writer.line(isSum() ? "y = carry + tl.cumsum(x, 0)" : "y = carry * tl.cumprod(x, 0)");
      writer.line(
          storeText("o0", at(spec.outputs[0], lines, "col"), "y", spec.outputs[0].dtype, "mask"));
    }
    writer.line(isSum() ? "carry = (carry + tl.sum(x, 0)).to(" + type() + ")"
                        : "carry = (carry * tl.reduce(x, 0, multiply)).to(" + type() + ")");
    writer.close();
    if (phase == Phase::Total)
      writer.line(storeText("o0", place, "carry", spec.compute, ""));
    return writer.finish(product(spec.shape, 0, kept) * parts, block);
  }

  KernelText writeAcross() {
    const Expr &inner = spec.shape[kept - 1];
    int64_t block = chooseBlock(inner, symbols, piece ? 512 : 256);
    Expr chunks = symbolic::ceilDiv(inner, block);
    std::string size = writer.scalar(inner), count = writer.scalar(chunks);
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    std::string group = takePart(writer.scalar(length));
    writer.line("row = " + group + " // " + count);
    writer.line("col = (" + group + " % " + count + ") * BLOCK + tl.arange(0, BLOCK)");
    writer.line("mask = col < " + size);
    std::vector<std::string> lines = writer.delinearize("row", spec.shape, kept - 1, "idx");
    lines.push_back("col");
    std::string place = piece ? "part * " + writer.scalar(product(spec.shape, 0, kept)) +
                                    " + row * " + size + " + col"
                              : "";
    writer.line("y = tl.full([BLOCK], " + start() + ", " + type() + ")");
    if (phase == Phase::Apply) {
      std::string all = writer.scalar(product(spec.shape, 0, kept));
      writer.line("y = tl.load(p1 + (" + place + " - " + all +
                  "), mask=mask & (part > 0), other=" + start() + ")");
    }
    writer.open("for at in range(" +
                std::string(piece ? "begin, end" : "0, " + writer.scalar(length)) + "):");
    writer.line("x = tl.load(p0 + (" + at(spec.input, lines, "at") + "), mask=mask, other=0).to(" +
                type() + ")");
    writer.line("y = y" + sign() + "x");
    if (phase != Phase::Total)
      writer.line(
          storeText("o0", at(spec.outputs[0], lines, "at"), "y", spec.outputs[0].dtype, "mask"));
    writer.close();
    if (phase == Phase::Total)
      writer.line(storeText("o0", place, "y", spec.compute, "mask"));
    return writer.finish(chunks * product(spec.shape, 0, kept - 1) * parts, block);
  }

  const LineSpec &spec;
  const SymbolTable &symbols;
  KernelWriter writer;
  int64_t piece;
  Phase phase;
  Expr length, parts = 1;
  size_t kept = 0;
};

/// Long lines in one pass (docs/design/0016). A program takes a number, and with it a tile; it
/// leaves what the tile adds up to, and waits for what the tiles before it left: those of its group
/// one by one, and a total of each group before. What it adds is the same at every run, in the same
/// order. It waits for programs with lower numbers alone, which all have begun.
class OnePassScan {
public:
  OnePassScan(const LineSpec &s, const SymbolTable &t) : spec(s), symbols(t) {
    kept = spec.shape.size() - 1;
    lines = product(spec.shape, 0, kept);
    tiles = symbolic::ceilDiv(spec.shape.back(), scannedTile);
    // About as many groups as tiles in one of them.
    int64_t most = symbols.range(tiles).max;
    while (tileGroup < mostInGroup && tileGroup * tileGroup < most)
      tileGroup *= 2;
    groups = symbolic::ceilDiv(tiles, tileGroup);
  }

  KernelSequence write() {
    KernelSequence sequence;
    Expr totals = lines * (tiles + groups) * words() + 1;
    size_t state = sequence.buffer(DataType::Int64, {totals});
    KernelWriter clear(spec.name + "_none");
    clear.pointer("o0");
    clear.line("i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)");
    clear.line("tl.store(o0 + i, tl.zeros([BLOCK], tl.int64), mask=i < " + clear.scalar(totals) +
               ")");
    sequence.steps = {{clear.finish(symbolic::ceilDiv(totals, 1024), 1024), {}, {state}},
                      {scan(), {0}, {1}, {state}}};
    return sequence;
  }

private:
  bool isSum() const { return spec.kind == LineKind::Sum; }
  std::string type() const { return tlName(spec.compute); }
  /// -0 + x is x for every x.
  std::string neutral() const {
    return "tl.cast(" +
           std::string(!isSum()                ? "1"
                       : isFloat(spec.compute) ? "-0.0"
                                               : "0") +
           ", " + type() + ")";
  }
  std::string sign() const { return isSum() ? " + " : " * "; }
  std::string totalOf(const std::string &tile) const {
    return isSum() ? "tl.sum(" + tile + ", 0)" : "tl.reduce(" + tile + ", 0, multiply)";
  }

  /// A total is left as words of 64 bits, each 32 bits of it above which a one stands: what is read
  /// is all there or not yet, and needs no fence.
  int64_t words() const { return byteSize(spec.compute) == 8 ? 2 : 1; }

  void leave(KernelWriter &writer, const std::string &value, const std::string &at) {
    std::string bits = value;
    if (isFloat(spec.compute))
      bits += words() == 2 ? ".to(tl.int64, bitcast=True)" : ".to(tl.int32, bitcast=True)";
    writer.line("bits = " + bits + ".to(tl.int64)");
    std::string place = "state + (" + at + ")";
    if (words() == 2) {
      writer.line("half = tl.arange(0, 2).to(tl.int64)");
      writer.line("bits = bits >> (half * 32)");
      place += " * 2 + half";
    }
    writer.line("tl.atomic_xchg(" + place + ", (bits & 4294967295) | 4294967296, sem=\"relaxed\")");
  }

  /// `before`: the totals at `first + lane` below `end`, put together.
  void gather(KernelWriter &writer, const std::string &first, const std::string &end) {
    writer.line("there = " + first + " + lane < " + end);
    auto load = [&] {
      for (int64_t word = 0; word < words(); ++word)
        writer.line("word" + number(word) + " = tl.load(state + (" + first + " + lane) * " +
                    number(words()) + " + " + number(word) +
                    ", mask=there, other=4294967296, volatile=True)");
    };
    load();
    writer.open("while tl.min(" + std::string(words() == 2 ? "tl.minimum(word0, word1)" : "word0") +
                ", 0) < 4294967296:");
    load();
    writer.close();
    std::string bits = words() == 2 ? "((word1 << 32) | (word0 & 4294967295))"
                                    : "(word0 & 4294967295).to(tl.uint32)";
    writer.line("left = " + bits + ".to(" + type() +
                (isFloat(spec.compute) ? ", bitcast=True)" : ")"));
    writer.line("left = tl.where(there, left, " + neutral() + ").to(" + type() + ")");
    writer.line("before = " + totalOf("left") + ".to(" + type() + ")");
  }

  KernelText scan() {
    KernelWriter writer(spec.name);
    for (const char *pointer : {"p0", "o0", "state"})
      writer.pointer(pointer);
    if (!isSum())
      writer.helper = "@triton.jit\ndef multiply(a, b):\n    return a * b\n\n\n";
    std::string size = writer.scalar(spec.shape.back()), count = writer.scalar(tiles),
                blocks = writer.scalar(groups);
    // The counter stands behind the totals: of tiles, then of groups.
    Expr counter = lines * (tiles + groups) * words();
    writer.line("pid = tl.atomic_add(state + " + writer.scalar(counter) + ", 1, sem=\"relaxed\")");
    writer.line("line = pid // " + count);
    writer.line("part = pid % " + count);
    writer.line("group = part // " + number(tileGroup));
    writer.line("lane = tl.arange(0, " + number(tileGroup) + ").to(tl.int64)");
    std::vector<std::string> indices = writer.delinearize("line", spec.shape, kept, "idx");
    indices.push_back("col");
    writer.line("col = part * BLOCK + tl.arange(0, BLOCK).to(tl.int64)");
    writer.line("mask = col < " + size);
    bool repeats = spec.input.strides.back().constant() == 0;
    writer.line("x = tl.load(p0 + (" + writer.address(spec.input, indices) +
                (repeats ? " + col * 0" : "") + "), mask=mask, other=0)");
    writer.line("x = tl.where(mask, x.to(" + type() + "), " + neutral() + ").to(" + type() + ")");
    writer.line("total = " + totalOf("x") + ".to(" + type() + ")");
    leave(writer, "total", "pid");
    // While the totals before are on their way.
    writer.line(isSum() ? "inner = tl.cumsum(x, 0)" : "inner = tl.cumprod(x, 0)");
    writer.line("first = pid - part + group * " + number(tileGroup));
    gather(writer, "first", "pid");
    writer.line("mine = before");
    writer.line("sums = " + writer.scalar(lines * tiles) + " + line * " + blocks);
    writer.open("if part % " + number(tileGroup) + " == " + number(tileGroup - 1) + ":");
    writer.line("all = mine" + sign() + "total");
    leave(writer, "all", "sums + group");
    writer.close();
    // That of PyTorch is +0 where all elements so far are -0.
    writer.line("carry = tl.cast(" + std::string(!isSum() ? "1" : "0") + ", " + type() + ")");
    writer.open("for turn in range(0, group, " + number(tileGroup) + "):");
    writer.line("from_turn = sums + turn");
    gather(writer, "from_turn", "sums + group");
    writer.line("carry = carry" + sign() + "before");
    writer.close();
    writer.line("carry = carry" + sign() + "mine");
    writer.line("y = carry" + sign() + "inner");
    writer.line(storeText("o0", writer.address(spec.outputs[0], indices), "y",
                          spec.outputs[0].dtype, "mask"));
    KernelText text = writer.finish(lines * tiles, scannedTile);
    text.numWarps = 8;
    return text;
  }

  const LineSpec &spec;
  const SymbolTable &symbols;
  size_t kept = 0;
  int64_t tileGroup = 32;
  Expr lines, tiles, groups;
};

/// Where lines lie across the memory, a tile of neighbouring lines goes along them together.
bool liesAcross(const LineSpec &spec) {
  size_t kept = spec.shape.size() - 1;
  return kept > 0 && spec.input.strides[kept - 1].constant() == 1 &&
         spec.input.strides[kept].constant() != 1;
}

/// The length of the pieces that lines are divided into; 0: they are not. A CPU's threads have
/// lines enough, and one goes along its line at the speed of memory.
int64_t pieceOf(const LineSpec &spec, const SymbolTable &symbols, bool forCpu, bool across) {
  if (forCpu)
    return 0;
  size_t kept = spec.shape.size() - 1;
  Expr programs =
      across ? product(spec.shape, 0, kept - 1) * symbolic::ceilDiv(spec.shape[kept - 1], 256)
             : product(spec.shape, 0, kept);
  const Expr &length = spec.shape.back();
  int64_t least = across ? 32 : 4096;
  if (symbols.range(length).max <= 2 * least || symbols.range(programs).min >= 512)
    return 0;
  if (!length.isConstant() || !programs.isConstant())
    return 2 * least;
  int64_t wanted = std::max<int64_t>(1, 2048 / std::max<int64_t>(1, *programs.constant()));
  int64_t piece = std::max(least, (*length.constant() + wanted - 1) / wanted);
  return across ? piece : (piece + 1023) / 1024 * 1024;
}

} // namespace

KernelSequence writeScan(LineSpec spec, const SymbolTable &symbols, bool forCpu) {
  KernelSequence sequence;
  bool across = liesAcross(spec);
  int64_t piece = pieceOf(spec, symbols, forCpu, across);
  auto kernel = [&](const LineSpec &what, int64_t length, Phase phase, bool turned) {
    return ScanKernel(what, symbols, length, phase).write(turned);
  };
  if (!piece) {
    sequence.steps = {{kernel(spec, 0, Phase::Whole, across), {0}, {1}}};
    return sequence;
  }
  if (!across && spec.compute != DataType::Bool)
    return OnePassScan(spec, symbols).write();
  // Totals of one line lie together, or those of one piece.
  Expr parts = symbolic::ceilDiv(spec.shape.back(), piece);
  Expr lines = product(spec.shape, 0, spec.shape.size() - 1);
  LineSpec prefix = spec;
  prefix.name = spec.name + "_parts";
  prefix.shape = {lines, parts};
  prefix.input = {spec.compute, across ? std::vector<Expr>{1, lines} : std::vector<Expr>{parts, 1},
                  0};
  prefix.outputs = {prefix.input};
  std::vector<Expr> shape = across ? std::vector<Expr>{parts, lines} : prefix.shape;
  size_t totals = sequence.buffer(spec.compute, shape), sums = sequence.buffer(spec.compute, shape);
  sequence.steps = {{kernel(spec, piece, Phase::Total, across), {0}, {totals}},
                    {kernel(prefix, 0, Phase::Whole, across), {totals}, {sums}},
                    {kernel(spec, piece, Phase::Apply, across), {0, sums}, {1}}};
  return sequence;
}

} // namespace pellucid::passes
