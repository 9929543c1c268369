// SPDX-License-Identifier: Apache-2.0
/// Writes the kernel of a product: writeProduct() has one of these for each.
#pragma once

#include "passes/graph/KernelWriter.h"
#include "passes/graph/ProductText.h"

#include <functional>

namespace pellucid::passes {

/// A dim of the product, as the kernel sees it.
struct ProductAxis {
  Expr size;
  int64_t tile = 1;
  std::string places;   ///< of the tile's elements: `rows`, `cols`, `ks`
  std::string first;    ///< where the tile begins
  bool isWhole = false; ///< tiles are never cut
  int64_t step = 1;     ///< from one program's tile to the next one's
};

/// One kernel of one tile. Its lines are written in the order in which the kernel has them.
class ProductWriter {
public:
  ProductWriter(const GemmSpec &s, const ProductTile &t, int64_t most, const SymbolTable &table);
  KernelText write();

private:
  void multiplyOwnTile();
  void multiplyAllTiles();
  void assumeBelow(const std::string &name, int64_t end);
  std::string dotText(const std::string &sum, const std::string &right) const;
  void declare();

  /// Of the names that each of the tiles of columns has.
  static std::string suffixOf(size_t number) { return number == 0 ? "" : std::to_string(number); }
  const ProductAxis &column() const { return columns[at]; }
  std::string sums() const { return "acc" + suffixOf(at); }

  std::vector<const TextOperand *> operands() const;
  bool isOneTile(const ProductAxis &axis) const;
  std::string tilesOf(const ProductAxis &axis);
  Expr tileCount() const;
  Expr gridSize() const;
  void countTiles();
  void placeTile();
  std::vector<const ProductAxis *> outerAxes() const;
  void nameElements();
  void cutTile();

  /// The largest stride whose multiples, and the sum of two such, are 32-bit integers.
  static int64_t reach(int64_t extent) { return INT32_MAX / 2 / extent; }

  std::string factor(const Expr &stride, int64_t extent);
  std::string steps(const std::string &places, const Expr &stride, int64_t extent);
  static std::string sum(const std::vector<std::string> &terms);

  /// What the tile's places along one axis add to an operand's address: in the tile's first one,
  /// and from there.
  struct Steps {
    std::string first, further;
  };
  Steps stepsAlong(const ProductAxis &axis, const std::string &places, size_t tileDim,
                   std::vector<Expr> dims, std::vector<Expr> strides);
  std::vector<std::string> takenApart(const ProductAxis &axis, const std::string &places,
                                      size_t tileDim, const std::vector<Expr> &dims,
                                      const std::vector<Expr> &strides);
  std::string batchStart(const TextOperand &operand);
  std::vector<Expr> stridesOf(const TextOperand &operand, size_t first, size_t count) const;

  /// One operand of the product: how its tile is addressed and cut.
  struct Side {
    const TextOperand &operand;
    const ProductAxis &outer;        ///< m or n
    size_t outerDim;                 ///< of the tile: 0 or 1
    std::string pointers;            ///< name of the tile of pointers
    std::string pointer;             ///< name of the argument
    std::vector<Expr> dims, strides; ///< that the outer axis is made of
    std::vector<Expr> inner;         ///< strides along `spec.depth`
  };
  std::vector<Expr> ownRows() const;
  Side leftSide() const;
  Side rightSide() const;
  static std::string along(const std::string &places, size_t dim);
  void startSide(const Side &side);
  Steps stepsWithBorders(const Side &side);
  std::string insideText();
  std::string shapeAs(const std::string &offsets, const Side &side) const;
  /// To tf32, where the product asks for it.
  void round(const std::string &operand);
  std::string loadOf(const Side &side, const std::string &left, const std::string &further = "");
  void multiplyTiles();
  void forColumns(const std::function<void()> &write);
  void openRounds();
  void openWindows();
  int64_t piecesOfWindow() const { return (*spec.depth.back().constant() + tile.k - 1) / tile.k; }

  std::string loadRound(const Side &side);
  std::string advance(const Expr &stride);
  void placePart();
  void multiplyLines();
  bool maskTile();
  std::string shape() const;
  void store(const std::string &base, const std::string &offsets, const std::string &value,
             DataType type, bool isMasked);
  void storePart();
  void storeResult();
  std::string number(double value) const;
  std::pair<Steps, Steps> stepsOf(const TextOperand &operand, const std::vector<Expr> &rows);
  std::string loadInput(const TextOperand &operand, const std::vector<Expr> &rows,
                        const std::string &pointer, bool isMasked);

  const GemmSpec &spec;
  const ProductTile &tile;
  int64_t mostRows;
  const SymbolTable &symbols;
  KernelWriter writer;
  ProductAxis row, inner;
  std::vector<ProductAxis> columns; ///< of the tiles that a tile's columns are
  size_t at = 0;                    ///< which of them is written
  std::vector<std::string> batch, windowAt;
  unsigned apartCount = 0;
};

} // namespace pellucid::passes
