// SPDX-License-Identifier: Apache-2.0
#include "trace/TensorText.h"

#include "support/PlainNumbers.h"
#include "trace/EagerRecorder.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace pellucid::trace {

namespace {

std::string numberText(const char *format, int precision, double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  PlainNumbers numbers;
  std::string text(static_cast<size_t>(std::snprintf(nullptr, 0, format, precision, value)), '\0');
  std::snprintf(text.data(), text.size() + 1, format, precision, value);
  return text;
}

/// How the elements of one tensor look, and how wide they are.
class ElementText {
public:
  ElementText(DataType t, const PrintOptions &o) : type(t), options(o) {}

  /// To be called for every element that is shown, then settle(), before any text.
  void see(const std::byte *at) { seen.push_back(at); }
  void settle() {
    if (isFloat(type))
      chooseMode();
    for (const std::byte *at : seen) {
      bool counts = !isFloat(type) || (std::isfinite(realAt(type, at)) && realAt(type, at) != 0);
      // A float without digits behind the point ends in one.
      if (counts)
        width = std::max(width, plain(at).size());
    }
    seen.clear();
  }
  std::string operator()(const std::byte *at) const {
    std::string text = plain(at);
    return std::string(width - std::min(width, text.size()), ' ') + text;
  }
  size_t length() const { return width; }

private:
  void chooseMode() {
    double smallest = INFINITY, largest = 0;
    bool any = false;
    for (const std::byte *at : seen) {
      double value = realAt(type, at), size = std::fabs(value);
      if (!std::isfinite(value) || value == 0)
        continue;
      any = true;
      smallest = std::min(smallest, size);
      largest = std::max(largest, size);
      whole = whole && value == std::ceil(value);
    }
    if (any)
      scientific = options.scientific.value_or(largest / smallest > 1000.0 || largest > 1e8 ||
                                               smallest < 1e-4);
  }

  std::string plain(const std::byte *at) const {
    if (type == DataType::Bool)
      return integerAt(type, at) ? "True" : "False";
    if (type == DataType::UInt64)
      return std::to_string(static_cast<uint64_t>(integerAt(type, at)));
    if (!isFloat(type))
      return std::to_string(integerAt(type, at));
    double value = realAt(type, at);
    int precision = static_cast<int>(options.precision);
    if (scientific)
      return numberText("%.*e", precision, value);
    if (whole)
      return numberText("%.*f", 0, value) + (std::isfinite(value) ? "." : "");
    return numberText("%.*f", precision, value);
  }

  DataType type;
  const PrintOptions &options;
  std::vector<const std::byte *> seen;
  bool whole = true, scientific = false;
  size_t width = 1;
};

class TensorPrinter {
public:
  TensorPrinter(const ConcreteTensor &t, const PrintOptions &o)
      : tensor(t), options(o), element(t.dtype, o), summarizes(t.numel() > o.threshold) {}

  std::string text(size_t indent) {
    if (tensor.numel() == 0)
      return "[]";
    see(0, tensor.data.get());
    element.settle();
    return part(0, tensor.data.get(), indent);
  }

private:
  const std::byte *at(const std::byte *start, size_t axis, int64_t index) const {
    return start + index * tensor.strides[axis] * static_cast<int64_t>(byteSize(tensor.dtype));
  }
  bool isCut(size_t axis) const { return summarizes && tensor.shape[axis] > 2 * options.edgeItems; }

  /// Calls f(index) for what is shown along the axis, and `cut` where elements are left out.
  template <typename F, typename G> void forEachShown(size_t axis, F &&f, G &&cut) const {
    int64_t size = tensor.shape[axis];
    int64_t left = isCut(axis) ? options.edgeItems : size;
    for (int64_t i = 0; i < left; ++i)
      f(i);
    if (left == size)
      return;
    cut();
    for (int64_t i = size - options.edgeItems; i < size; ++i)
      f(i);
  }

  void see(size_t axis, const std::byte *start) {
    if (axis == tensor.shape.size())
      return element.see(start);
    forEachShown(axis, [&](int64_t i) { see(axis + 1, at(start, axis, i)); }, [] {});
  }

  std::string line(size_t axis, const std::byte *start, size_t indent) const {
    std::vector<std::string> items;
    if (summarizes && options.edgeItems == 0)
      items.push_back("...");
    else
      forEachShown(
          axis, [&](int64_t i) { items.push_back(element(at(start, axis, i))); },
          [&] { items.push_back(" ..."); });
    int64_t room = options.lineWidth - static_cast<int64_t>(indent);
    auto length = static_cast<int64_t>(element.length()) + 2;
    // As Python rounds down.
    int64_t perLine = std::max<int64_t>(1, room < 0 ? -1 : room / length);
    std::string out = "[";
    for (size_t i = 0; i < items.size(); ++i) {
      if (i)
        out += static_cast<int64_t>(i) % perLine ? ", " : ",\n" + std::string(indent + 1, ' ');
      out += items[i];
    }
    return out + "]";
  }

  std::string part(size_t axis, const std::byte *start, size_t indent) const {
    size_t left = tensor.shape.size() - axis;
    if (left == 0)
      return element(start);
    if (left == 1)
      return line(axis, start, indent);
    std::string out = "[",
                between = "," + std::string(left - 1, '\n') + std::string(indent + 1, ' ');
    bool first = true;
    auto add = [&](const std::string &text) {
      out += (first ? "" : between) + text;
      first = false;
    };
    forEachShown(
        axis, [&](int64_t i) { add(part(axis + 1, at(start, axis, i), indent + 1)); },
        [&] { add("..."); });
    return out + "]";
  }

  const ConcreteTensor &tensor;
  const PrintOptions &options;
  ElementText element;
  bool summarizes;
};

std::string sizeSuffix(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "size=(" + text + (shape.size() == 1 ? ",)" : ")");
}

} // namespace

std::string tensorText(const ConcreteTensor &tensor, const PrintOptions &options,
                       const std::vector<std::string> &before,
                       const std::vector<std::string> &after) {
  static constexpr std::string_view prefix = "tensor(";
  std::string text = std::string(prefix) + TensorPrinter(tensor, options).text(prefix.size());
  std::vector<std::string> suffixes = before;
  bool empty = tensor.numel() == 0;
  bool hasDefault = tensor.dtype == options.floats ||
                    (!empty && (tensor.dtype == DataType::Int64 || tensor.dtype == DataType::Bool));
  if (empty ? tensor.shape.size() != 1 : options.edgeItems == 0)
    suffixes.push_back(sizeSuffix(tensor.shape));
  if (!hasDefault)
    suffixes.push_back("dtype=torch." + std::string(info(tensor.dtype).torch));
  suffixes.insert(suffixes.end(), after.begin(), after.end());
  size_t newline = text.rfind('\n');
  // PyTorch counts one more than the line has.
  size_t last = text.size() - (newline == std::string::npos ? size_t(-1) : newline) + 1;
  for (const std::string &suffix : suffixes) {
    if (static_cast<int64_t>(last + suffix.size() + 2) > options.lineWidth) {
      text += ",\n" + std::string(prefix.size(), ' ') + suffix;
      last = prefix.size() + suffix.size();
    } else {
      text += ", " + suffix;
      last += suffix.size() + 2;
    }
  }
  return text + ")";
}

} // namespace pellucid::trace
