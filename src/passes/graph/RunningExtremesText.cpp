// SPDX-License-Identifier: Apache-2.0
// Running maxima and minima, with where they stand if somebody asks: scans of pairs, in one launch
// where there are lines enough.
#include "passes/graph/KernelWriter.h"
#include "passes/graph/LineText.h"

#include <algorithm>

namespace pellucid::passes {

namespace {

/// What a program does with its piece of a line.
enum class ExtremesPhase {
  Whole, ///< the piece is the line
  Total, ///< writes what the piece comes to
  Joint, ///< the line is what the pieces come to, with the places that they have
  Apply, ///< goes on from what the pieces before come to
};

class ExtremesKernel {
public:
  ExtremesKernel(const LineSpec &s, const SymbolTable &t, int64_t p, ExtremesPhase ph)
      : spec(s), symbols(t), writer(s.name + (ph == ExtremesPhase::Total   ? "_totals"
                                              : ph == ExtremesPhase::Joint ? "_parts"
                                                                           : "")),
        piece(p), phase(ph), kept(s.shape.size() - 1), places(s.outputs.size() == 2),
        length(s.shape.back()) {
    size_t inputs = phase == ExtremesPhase::Apply ? 2 : 1;
    if (places && (phase == ExtremesPhase::Joint || phase == ExtremesPhase::Apply))
      ++inputs;
    for (size_t i = 0; i < inputs; ++i)
      writer.pointer("p" + std::to_string(i));
    for (size_t i = 0; i < spec.outputs.size(); ++i)
      writer.pointer("o" + std::to_string(i));
    // Of two the later wins, and what is no number.
    std::string wins = "    wins = (b " + std::string(spec.kind == LineKind::Largest ? ">" : "<") +
                       "= a)" + (isFloat(spec.compute) ? " | (b != b)" : "") + "\n";
    writer.helper = places ? "@triton.jit\ndef further(a, i, b, j):\n" + wins +
                                 "    return tl.where(wins, b, a), tl.where(wins, j, i)\n\n\n"
                           : "@triton.jit\ndef further(a, b):\n" + wins +
                                 "    return tl.where(wins, b, a)\n\n\n";
    if (piece)
      parts = symbolic::ceilDiv(length, piece);
  }

  KernelText write(bool across) { return across ? writeAcross() : writeAlong(); }

private:
  std::string type() const { return tlName(spec.compute); }

  /// The first or last of a piece; the whole line's where there are no pieces.
  void takePiece(const std::string &group) {
    writer.line("begin = " + (piece ? "part * " + number(piece) : std::string("0")));
    writer.line("end = " +
                (piece ? "tl.minimum(begin + " + number(piece) + ", " + writer.scalar(length) + ")"
                       : writer.scalar(length)));
    writer.line("line = " + group);
  }

  /// A tile of several lines, of which each goes along the memory.
  KernelText writeAlong() {
    constexpr int64_t most = 2048, mostLines = 32;
    int64_t block = chooseBlock(length, symbols, most);
    int64_t lines = std::clamp<int64_t>(most / block, 1, mostLines);
    Expr all = product(spec.shape, 0, kept);
    std::string height = number(lines), width = number(block);
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    if (piece) {
      writer.line("part = pid % " + writer.scalar(parts));
      writer.line("pid = pid // " + writer.scalar(parts));
    }
    takePiece("pid * " + height + " + tl.arange(0, " + height + ")");
    writer.line("line_there = (line < " + writer.scalar(all) + ")[:, None]");
    std::vector<std::string> indices = writer.delinearize("line", spec.shape, kept, "idx");
    for (std::string &index : indices)
      index += "[:, None]";
    indices.push_back("col[None, :]");
    std::string place = placeOfPart("line");
    beginCarry("[" + height + ", 1]", place + (piece ? "[:, None]" : ""), "line_there");
    writer.open("for start in range(begin, end, BLOCK):");
    writer.line("col = start + tl.arange(0, " + width + ").to(tl.int64)");
    writer.line("mask = line_there & (col < end)[None, :]");
    std::string zeros = " + tl.zeros([" + height + ", " + width + "], tl.int64)";
    writer.line("x = tl.load(p0 + (" + writer.address(spec.input, indices) + zeros +
                "), mask=mask, other=0).to(" + type() + ")");
    if (places)
      writer.line(phase == ExtremesPhase::Joint
                      ? "j = tl.load(p1 + (" + writer.address(spec.input, indices) + zeros +
                            "), mask=mask, other=0)"
                      : "j = tl.broadcast_to(col[None, :], [" + height + ", " + width + "])");
    writer.line(places ? "y, at = tl.associative_scan((x, j), 1, further)"
                       : "y = tl.associative_scan(x, 1, further)");
    takeCarry("y", "at");
    if (phase != ExtremesPhase::Total)
      store(indices, zeros, "mask");
    // The last one that there is: its bits are added to none.
    writer.line("last = (col == tl.minimum(start + BLOCK, end) - 1)[None, :]");
    std::string bits =
        "tl.int" + number(std::max(32, 8 * static_cast<int>(byteSize(spec.compute))));
    if (isFloat(spec.compute))
      writer.line("bits = tl.sum(tl.where(last, y.to(" + bits + ", bitcast=True), 0), 1)");
    else
      writer.line("bits = tl.sum(tl.where(last, y, 0), 1)");
    writer.line("carry = bits.to(" + type() + (isFloat(spec.compute) ? ", bitcast=True)" : ")") +
                "[:, None]");
    if (places)
      writer.line("carry_at = tl.sum(tl.where(last, at, 0), 1)[:, None]");
    writer.line("carried = tl.program_id(0) >= 0");
    writer.close();
    if (phase == ExtremesPhase::Total)
      storeTotal(place + "[:, None]", "line_there");
    KernelText text = writer.finish(symbolic::ceilDiv(all, lines) * parts, block);
    text.numWarps = lines * block > 1024 ? 8 : 4;
    return text;
  }

  /// A tile of neighbouring lines goes along them together.
  KernelText writeAcross() {
    const Expr &inner = spec.shape[kept - 1];
    int64_t block = chooseBlock(inner, symbols, 256);
    Expr chunks = symbolic::ceilDiv(inner, block);
    std::string size = writer.scalar(inner), count = writer.scalar(chunks);
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    if (piece) {
      writer.line("part = pid % " + writer.scalar(parts));
      writer.line("pid = pid // " + writer.scalar(parts));
    }
    takePiece("pid // " + count);
    writer.line("col = (pid % " + count + ") * BLOCK + tl.arange(0, BLOCK)");
    writer.line("mask = col < " + size);
    std::vector<std::string> indices = writer.delinearize("line", spec.shape, kept - 1, "idx");
    indices.emplace_back("col");
    indices.emplace_back("row");
    std::string place = placeOfPart("(line * " + size + " + col)");
    beginCarry("[BLOCK]", place, "mask");
    writer.open("for turn in range(begin, end):");
    writer.line("row = tl.cast(turn, tl.int64)");
    writer.line("x = tl.load(p0 + (" + writer.address(spec.input, indices) +
                " + col * 0), mask=mask, other=0).to(" + type() + ")");
    if (places)
      writer.line("j = tl.full([BLOCK], 0, tl.int64) + row");
    takeCarry("x", "j");
    if (phase != ExtremesPhase::Total)
      store(indices, " + col * 0", "mask");
    writer.line("carry = y");
    if (places)
      writer.line("carry_at = at");
    writer.line("carried = tl.program_id(0) >= 0");
    writer.close();
    if (phase == ExtremesPhase::Total)
      storeTotal(place, "mask");
    return writer.finish(chunks * product(spec.shape, 0, kept - 1) * parts, block);
  }

  /// `y` and `at`: `value` and `place`, or what came before.
  void takeCarry(const std::string &value, const std::string &place) {
    writer.line(places ? "best, best_at = further(carry, carry_at, " + value + ", " + place + ")"
                       : "best = further(carry, " + value + ")");
    writer.line("y = tl.where(carried, best, " + value + ")");
    if (places)
      writer.line("at = tl.where(carried, best_at, " + place + ")");
  }

  /// Where a line's part stands among what the pieces come to.
  std::string placeOfPart(const std::string &line) {
    return piece ? "(" + line + " * " + writer.scalar(parts) + " + part)" : line;
  }

  /// What the elements before come to, where there are any.
  void beginCarry(const std::string &shape, const std::string &place, const std::string &there) {
    if (phase == ExtremesPhase::Apply) {
      std::string mask = ", mask=(" + there + ") & (part > 0), other=0)";
      writer.line("carry = tl.load(p1 + (" + place + " - 1)" + mask);
      if (places)
        writer.line("carry_at = tl.load(p2 + (" + place + " - 1)" + mask);
      writer.line("carried = part > 0");
      return;
    }
    writer.line("carry = tl.full(" + shape + ", 0, " + type() + ")");
    if (places)
      writer.line("carry_at = tl.full(" + shape + ", 0, tl.int64)");
    writer.line("carried = tl.program_id(0) < 0");
  }

  void store(const std::vector<std::string> &indices, const std::string &zeros,
             const std::string &mask) {
    const char *values[] = {"y", "at"};
    for (size_t i = 0; i < spec.outputs.size(); ++i)
      writer.line(storeText("o" + std::to_string(i),
                            writer.address(spec.outputs[i], indices) + zeros, values[i],
                            spec.outputs[i].dtype, mask));
  }
  void storeTotal(const std::string &place, const std::string &mask) {
    writer.line(storeText("o0", place, "carry", spec.compute, mask));
    if (places)
      writer.line(storeText("o1", place, "carry_at", DataType::Int64, mask));
  }

  const LineSpec &spec;
  const SymbolTable &symbols;
  KernelWriter writer;
  int64_t piece;
  ExtremesPhase phase;
  size_t kept;
  bool places;
  Expr length, parts = 1;
};

/// The length of the pieces that lines are divided into; 0: there are lines enough.
int64_t pieceOf(const LineSpec &spec, const SymbolTable &symbols, bool forCpu) {
  constexpr int64_t least = 4096, programs = 1024, enough = 64;
  const Expr &length = spec.shape.back();
  Expr lines = product(spec.shape, 0, spec.shape.size() - 1);
  if (forCpu || symbols.range(length).max <= 2 * least || symbols.range(lines).min >= enough)
    return 0;
  if (!length.isConstant() || !lines.isConstant())
    return 2 * least;
  int64_t wanted = std::max<int64_t>(1, programs / std::max<int64_t>(1, *lines.constant()));
  int64_t piece = std::max(least, (*length.constant() + wanted - 1) / wanted);
  return (piece + 2047) / 2048 * 2048;
}

} // namespace

KernelSequence writeRunningExtremes(LineSpec spec, const SymbolTable &symbols, bool forCpu) {
  KernelSequence sequence;
  bool places = spec.outputs.size() == 2;
  sequence.results = spec.outputs.size();
  std::vector<size_t> results{1};
  if (places)
    results.push_back(2);
  size_t kept = spec.shape.size() - 1;
  bool across = kept > 0 && spec.input.strides[kept - 1].constant() == 1 &&
                spec.input.strides[kept].constant() != 1;
  int64_t piece = pieceOf(spec, symbols, forCpu);
  if (!piece) {
    sequence.steps = {
        {ExtremesKernel(spec, symbols, 0, ExtremesPhase::Whole).write(across), {0}, results}};
    return sequence;
  }
  Expr parts = symbolic::ceilDiv(spec.shape.back(), piece);
  Expr lines = product(spec.shape, 0, kept);
  LineSpec joint = spec;
  joint.shape = {lines, parts};
  joint.input = {spec.compute, {parts, 1}, 0};
  joint.outputs = {joint.input};
  if (places)
    joint.outputs.push_back({DataType::Int64, {parts, 1}, 0});
  // What each piece comes to, and then what all up to it do; for each where that stands.
  auto buffers = [&] {
    std::vector<size_t> made{sequence.buffer(spec.compute, {lines, parts})};
    if (places)
      made.push_back(sequence.buffer(DataType::Int64, {lines, parts}));
    return made;
  };
  std::vector<size_t> totals = buffers(), before = buffers(), applied{0};
  applied.insert(applied.end(), before.begin(), before.end());
  auto kernel = [&](const LineSpec &what, int64_t of, ExtremesPhase phase, bool turned) {
    return ExtremesKernel(what, symbols, of, phase).write(turned);
  };
  sequence.steps = {{kernel(spec, piece, ExtremesPhase::Total, across), {0}, totals},
                    {kernel(joint, 0, ExtremesPhase::Joint, false), totals, before},
                    {kernel(spec, piece, ExtremesPhase::Apply, across), applied, results}};
  return sequence;
}

} // namespace pellucid::passes
