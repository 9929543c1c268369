// SPDX-License-Identifier: Apache-2.0
#include "package/StateFile.h"

#include "package/Safetensors.h"

#include <algorithm>

namespace pellucid::package {

static constexpr const char *packageKey = "pellucid.package";

static std::string typeText(DataType dtype, const std::vector<int64_t> &shape) {
  std::string text = std::string(info(dtype).cli) + "[";
  for (size_t d = 0; d < shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

namespace {
/// "'a', 'b' and 3 more"
class Listed {
public:
  void add(const std::string &item) {
    if (count++ < most)
      text += (text.empty() ? "" : ", ") + item;
  }
  bool empty() const { return count == 0; }
  std::string take() const {
    return count <= most ? text : text + " and " + std::to_string(count - most) + " more";
  }

private:
  static constexpr size_t most = 8;
  std::string text;
  size_t count = 0;
};
} // namespace

/// A kernel takes the byte of a bool for 0 or 1.
static bool hasOnlyBools(std::span<const uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte <= 1; });
}

Status readState(std::span<const uint8_t> file, const Manifest &manifest,
                 std::vector<std::span<const uint8_t>> &tensors) {
  std::vector<TensorEntry> entries;
  TensorMetadata metadata;
  if (Status status = readSafetensors(file, entries, &metadata); !status.ok())
    return status;
  std::map<std::string_view, const TensorEntry *> byName;
  for (const TensorEntry &entry : entries)
    byName.emplace(entry.name, &entry);
  Listed missing, other, wrong;
  tensors.clear();
  for (const Weight &state : manifest.state) {
    auto found = byName.find(state.name);
    if (found == byName.end()) {
      missing.add("'" + state.name + "'");
      continue;
    }
    const TensorEntry &entry = *found->second;
    byName.erase(found);
    std::span<const uint8_t> bytes = file.subspan(entry.offset, entry.bytes);
    if (entry.dtype != state.dtype || entry.shape != state.shape)
      wrong.add("'" + state.name + "' is " + typeText(entry.dtype, entry.shape) + ", must be " +
                typeText(state.dtype, state.shape));
    else if (entry.dtype == DataType::Bool && !hasOnlyBools(bytes))
      wrong.add("'" + state.name + "' holds bools that are neither 0 nor 1");
    tensors.push_back(bytes);
  }
  for (const TensorEntry &entry : entries)
    if (byName.count(entry.name))
      other.add("'" + entry.name + "'");
  if (missing.empty() && other.empty() && wrong.empty())
    return {};
  std::string why;
  auto say = [&](const std::string &words) { why += (why.empty() ? "" : "; ") + words; };
  if (!missing.empty())
    say("it lacks " + missing.take());
  if (!other.empty())
    say("it holds " + other.take() + ", which the package does not have");
  if (!wrong.empty())
    say(wrong.take());
  auto of = metadata.find(packageKey);
  return Status::error(
      "it is not the state of package '" + manifest.name + "'" +
      (of != metadata.end() && of->second != manifest.name ? " but of '" + of->second + "'" : "") +
      ": " + why);
}

std::vector<uint8_t> stateHeader(const Manifest &manifest, std::vector<uint32_t> &order) {
  std::vector<TensorEntry> entries;
  std::map<std::string_view, uint32_t> index;
  for (const Weight &state : manifest.state) {
    index.emplace(state.name, static_cast<uint32_t>(entries.size()));
    TensorEntry &entry = entries.emplace_back();
    entry.name = state.name;
    entry.dtype = state.dtype;
    entry.shape = state.shape;
    entry.bytes = state.bytes;
  }
  std::vector<uint8_t> header = safetensorsHeader(entries, {{packageKey, manifest.name}});
  order.clear();
  for (const TensorEntry &entry : entries)
    order.push_back(index.at(entry.name));
  return header;
}

} // namespace pellucid::package
