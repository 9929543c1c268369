#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports models of torchvision, transformers and timm with random weights, compiles the archives and compares with PyTorch.

    public_models.py PROGRAM [--family NAME] [--strict] [--dynamic] [--decomposed] [--part I/N] [--keep DIR] [--results FILE] [NAME…]
    public_models.py --page FILE…       writes docs/public-models.md of such results

Small configurations where the library has them; what is compared is every result of one call, relative to its largest
element, and with `--dynamic` of another call whose sizes differ from those of the export; where the package refuses those
sizes, the model is "one size", with the reason, and not "right" (PyTorch fixed a dim, or bounded it: its own module is asked). Where PyTorch's
float32 is as far from its float64, it is "as PyTorch". Without a family and names: the few in this file; the others are those of zoo.py, zoo_newer.py and zoo_recent.py. Needs those packages. No test: it takes minutes.
"""
import argparse
import collections
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import torch
from torch import nn

import zoo
import zoo_newer
import zoo_recent
from zoo import Wrapped

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
HERE = pathlib.Path(__file__).resolve().parent
TARGET = "cpu:x86-64-v3"


def image(size, batch=1):
    return (torch.randn(batch, 3, size, size),)


def ids(*shape):
    return torch.randint(0, 500, shape)


def logits(model, tokens):
    return model(tokens, use_cache=False).logits


def vision():
    from torchvision import models

    for name in "resnet18 resnet50 mobilenet_v3_small convnext_tiny efficientnet_b0 densenet121 swin_t".split():
        yield name, lambda name=name: getattr(models, name)(), lambda: image(64)
    yield "vit", lambda: models.VisionTransformer(32, 8, 2, 4, 64, 128), lambda: image(32, 2)
    segmentation = lambda: models.segmentation.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None)
    yield "lraspp", segmentation, lambda: image(64)


def text():
    import transformers as t

    bert = t.BertConfig(vocab_size=500, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)
    encode = lambda model, tokens, mask: (lambda out: (out.last_hidden_state, out.pooler_output))(model(tokens, mask))
    yield "bert", lambda: Wrapped(t.BertModel(bert), encode), lambda: (ids(2, 12), torch.ones(2, 12, dtype=torch.int64))
    gpt2 = t.GPT2Config(vocab_size=500, n_embd=64, n_layer=2, n_head=4, n_positions=64, bos_token_id=1, eos_token_id=2)
    yield "gpt2", lambda: Wrapped(t.GPT2LMHeadModel(gpt2), logits), lambda: (ids(2, 12),)
    llama = t.LlamaConfig(vocab_size=500, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=128)
    yield "llama", lambda: Wrapped(t.LlamaForCausalLM(llama), logits), lambda: (ids(2, 12),)
    t5 = t.T5Config(vocab_size=500, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4)
    decode = lambda model, tokens, targets: model(input_ids=tokens, decoder_input_ids=targets, use_cache=False).logits
    yield "t5", lambda: Wrapped(t.T5ForConditionalGeneration(t5), decode), lambda: (ids(2, 9), ids(2, 5))
    whisper = t.WhisperConfig(vocab_size=500, d_model=64, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
                              encoder_ffn_dim=64, decoder_ffn_dim=64, num_mel_bins=20, max_source_positions=50, max_target_positions=32, pad_token_id=0,
                              bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)
    hear = lambda model, sound, targets: model(input_features=sound, decoder_input_ids=targets, use_cache=False).last_hidden_state
    yield "whisper", lambda: Wrapped(t.WhisperModel(whisper), hear), lambda: (torch.randn(1, 20, 100), ids(1, 5))


def others():
    import timm

    yield "resmlp", lambda: timm.create_model("resmlp_12_224"), lambda: image(224)
    yield "timm_vit", lambda: timm.create_model("vit_tiny_patch16_224", img_size=64), lambda: image(64)
    yield "encoder_layer", lambda: nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), lambda: (torch.randn(2, 7, 32),)
    yield "lstm", lambda: nn.LSTM(8, 16, batch_first=True), lambda: (torch.randn(2, 5, 8),)


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for part in (value.values() if isinstance(value, dict) else value) for t in flat(part)]


def pellucid(*words):
    done = subprocess.run([arguments.program, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{words[0]} gives {done.returncode}: {done.stderr.strip()[:700]}")
    return done.stdout


class NotExported(Exception):
    """PyTorch's refusal."""


def exported(model, values, dims):
    symbols = {}

    def named(dim):
        return symbols.setdefault(dim, torch.export.Dim.AUTO)

    shapes = tuple({i: named(d) for i, d in table.items()} for table in dims) if dims else None
    # forward(*inputs) takes one tuple.
    if shapes and isinstance(model, Wrapped):
        shapes = (shapes,)
    try:
        with torch.no_grad():
            program = torch.export.export(model, values, dynamic_shapes=shapes, strict=arguments.strict)
        return program.run_decompositions() if arguments.decomposed else program
    except Exception as error:
        raise NotExported(f"{type(error).__name__}: {str(error)[:200]}") from error


def fill(model):
    """A head that starts at zero would give zeros whatever comes before it."""
    for parameter in model.parameters():
        if not parameter.any():
            parameter.normal_(std=0.05)


def other_values(values, dims):
    """Tensors of other sizes along the dims that may change: one row more, a few columns less."""
    sizes = {}
    for value, table in zip(values, dims, strict=True):
        for dim, name in table.items():
            sizes.setdefault(name, value.shape[dim] + (1 if dim == 0 else -2))

    def resized(value, table):
        for dim, name in table.items():
            index = torch.arange(sizes[name]) % value.shape[dim]
            value = value.index_select(dim, index)
        return value.contiguous()

    return tuple(resized(value, table) for value, table in zip(values, dims, strict=True))


def compare(folder, model, values):
    with torch.no_grad():
        torch.manual_seed(1)
        expected = [t.clone().numpy() for t in flat(model(*values))]
    names = [i["name"] for i in json.loads(pellucid("inspect", folder / "model.plc", "--json"))["inputs"]]
    words = ["run", folder / "model.plc"]
    for name, value in zip(names, values, strict=True):
        np.save(folder / f"{name}.npy", value.numpy())
        words += ["--input", f"{name}=@{folder / name}.npy"]
    for i in range(len(expected)):
        words += ["--output", folder / f"out{i}.npy"]
    pellucid(*words)
    worst = 0.0
    for i, value in enumerate(expected):
        got = np.load(folder / f"out{i}.npy")
        assert got.shape == value.shape, f"result {i} is {got.shape}, not {value.shape}"
        if value.size:
            same = (got == value) | (np.isnan(got) & np.isnan(value))
            off = np.abs(np.where(same, 0, got.astype(np.float64) - value)).max() / max(np.abs(value[np.isfinite(value)]).max(initial=0), 1e-30)
            worst = max(worst, float("inf") if np.isnan(off) else float(off))
    return worst


def check(folder, make, inputs, dims):
    torch.manual_seed(0)
    model, values = make().eval(), inputs()
    with torch.no_grad():
        fill(model)
    dims = dims if arguments.dynamic else None
    program = exported(model, values, dims)
    torch.export.save(program, folder / "model.pt2")
    start = time.monotonic()
    pellucid("compile", folder / "model.pt2", "-o", folder / "model.plc", "--target", TARGET)
    seconds = time.monotonic() - start
    worst, narrow = compare(folder, model, values), None
    if dims:
        others = other_values(values, dims)
        try:
            worst = max(worst, compare(folder, model, others))
        except RuntimeError as error:
            if "must be" not in str(error) and "guard" not in str(error):
                raise
            narrow = f"{str(error).split('error: ')[-1].strip()[:160]}; PyTorch's module {torchs_word(program, others)}"
    return worst, seconds, narrow


def unstable(make, inputs, worst):
    """Whether PyTorch's own float32 is as far from float64, as where random weights leave the best of several to chance."""
    torch.manual_seed(0)
    model, values = make().eval(), inputs()
    with torch.no_grad():
        fill(model)
        narrow = flat(model(*values))
        wide = flat(model.double()(*[v.double() if v.is_floating_point() else v for v in values]))
    off = [float((a.double() - b).abs().max() / b.abs().max().clamp(min=1e-30)) for a, b in zip(narrow, wide) if a.is_floating_point() and a.numel()]
    return max(off, default=0.0) > 0.3 * worst


def torchs_word(program, values):
    """What the exported program itself does with those sizes."""
    try:
        with torch.no_grad():
            program.module()(*values)
        return "takes it"
    except Exception as error:
        return f"refuses it, too: {str(error).strip().split(chr(10))[0][:120]}"


def families():
    return {"few": lambda: (entry for family in (vision, text, others) for entry in family()), **zoo.families(), **zoo_newer.families(), **zoo_recent.families()}


def chosen():
    tables = families()
    names = arguments.family or (["few"] if not arguments.names else list(tables))
    part, parts = map(int, arguments.part.split("/"))
    entries = [(family, entry) for family in names for entry in tables[family]()]
    for number, (family, (name, make, inputs, *dims)) in enumerate(entries):
        if number % parts == part - 1 and (not arguments.names or name in arguments.names):
            yield family, name, make, inputs, dims[0] if dims else None


def outcome(folder, make, inputs, dims):
    """What the table says of a model."""
    try:
        worst, seconds, narrow = check(folder, make, inputs, dims)
    except NotExported as error:
        return {"state": "not exported", "note": " ".join(str(error).split())}
    except Exception as error:
        return {"state": "refused or failed", "note": f"{type(error).__name__}: {str(error)[:900]}"}
    state = "one size" if narrow else "right"
    if not worst < 1e-4:
        try:
            state = "as PyTorch" if unstable(make, inputs, worst) else "WRONG"
        except Exception as error:  # an operator that PyTorch has not in float64
            state, narrow = "WRONG", f"not compared with float64: {str(error)[:120]}"
    return {"state": state, "error": worst, "seconds": round(seconds, 2), **({"note": narrow} if narrow else {})}


def library(family, name):
    """Whose model it is."""
    if family == "few":
        return "torch" if name in ("encoder_layer", "lstm") else "timm" if name in ("resmlp", "timm_vit") else "torchvision" if name in [entry[0] for entry in vision()] else "transformers"
    return next((of for start, of in (("vision", "torchvision"), ("timm", "timm")) if family.startswith(start)), "transformers")


def versions():
    from importlib.metadata import version

    return {name: version(name) for name in ("torch", "torchvision", "timm", "transformers")}


def write_results(rows):
    arguments.results.write_text(json.dumps({
        "date": datetime.date.today().isoformat(), "versions": versions(), "target": TARGET, "strict": arguments.strict, "dynamic": arguments.dynamic, "decomposed": arguments.decomposed,
        "command": " ".join(sys.argv[2:]), "rows": rows}, indent=1) + "\n")


PAGE_HEAD = """# Models of libraries, from their archives

Written by `test/archive/public_models.py --page` of the files named below, in [bench/results](../bench/results). Each model has random weights and a small
configuration where the library has one; PyTorch exports it, the archive is compiled for `cpu:x86-64-v3`, and every result of a call is compared with
PyTorch's, relative to its largest element. With sizes that may change, a second call has other batches and lengths. "One size": the package, and
PyTorch's own module, too, where the note says so, refuses the other sizes. "As PyTorch": random weights leave the best of several to chance, and PyTorch's
float32 is as far from its float64. What PyTorch does not export is listed without a number.
"""


def read_results(file):
    """A file of --results; or rows of several modes, as they were written before: those of the first mode."""
    found = json.loads(file.read_text())
    if isinstance(found, dict):
        return found
    rows = [{"library": library(row["family"], row["name"]), "family": row["family"], "model": row["name"], "state": "refused or failed" if row["state"] == "refused" else row["state"],
             **({"error": row["error"]} if "error" in row else {}), **({"note": row["why"]} if "why" in row else {})} for row in found if row["mode"] == found[0]["mode"]]
    return {"strict": "strict" in found[0]["mode"], "decomposed": "decomposed" in found[0]["mode"], "dynamic": "dynamic" in found[0]["mode"], "versions": {}, "rows": rows}


def write_page(files):
    """docs/public-models.md: what each file says in sum, then every model of the first that has it."""
    lines, seen, used = [PAGE_HEAD], {}, {}
    lines += ["| file | how | models | right | one size | as PyTorch | not exported | refused or failed | wrong | largest error |", "|---|---|---|---|---|---|---|---|---|---|"]
    for file in files:
        found = read_results(file)
        used = used or found["versions"]
        how = ", ".join(["strict" if found["strict"] else "not strict", "`run_decompositions()`" if found["decomposed"] else "as exported", "sizes that change" if found["dynamic"] else "fixed sizes"])
        count = collections.Counter(row["state"] for row in found["rows"])
        largest = max((row["error"] for row in found["rows"] if row["state"] in ("right", "one size")), default=0.0)
        lines.append(f"| {file.name} | {how} | {len(found['rows'])} | " + " | ".join(str(count[s]) for s in ("right", "one size", "as PyTorch", "not exported", "refused or failed", "WRONG")) + f" | {largest:.1e} |")
        for row in found["rows"]:
            seen.setdefault((row["library"], row["model"]), row)
    for name in ("torchvision", "timm", "transformers", "torch"):
        lines += ["", f"## {name} {used.get(name, '')}", "", "| model | state | error | |", "|---|---|---|---|"]
        for (of, model), row in sorted(seen.items()):
            if of == name:
                note = row.get("note", "").replace("|", "\\|").replace("\n", " ")[:160]
                lines.append(f"| {model} | {row['state']} | {row['error']:.1e} | {note} |" if "error" in row else f"| {model} | {row['state']} | | {note} |")
    (HERE.parents[1] / "docs/public-models.md").write_text("\n".join(lines) + "\n")


def main():
    rows, states = [], collections.Counter()
    for family, name, make, inputs, dims in chosen():
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(arguments.keep or scratch)
            folder.mkdir(exist_ok=True, parents=True)
            row = {"library": library(family, name), "family": family, "model": name, **outcome(folder, make, inputs, dims)}
        rows.append(row)
        states[row["state"]] += 1
        print(f"{name:30} {row['state']}" + (f"  {row['error']:.1e}  compiled in {row['seconds']:.1f} s" if "error" in row else "") + ("  " + row["note"] if "note" in row else ""), flush=True)
        if arguments.results:
            write_results(rows)
    print(", ".join(f"{count} {state}" for state, count in states.most_common()))
    sys.exit(states["WRONG"] + states["refused or failed"] > 0)


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("program", nargs="?")
parser.add_argument("names", nargs="*")
parser.add_argument("--family", action="append", help=", ".join(families()))
parser.add_argument("--strict", action="store_true")
parser.add_argument("--dynamic", action="store_true", help="batches and lengths that may change")
parser.add_argument("--decomposed", action="store_true", help="what run_decompositions() makes of the program")
parser.add_argument("--part", default="1/1", metavar="I/N")
parser.add_argument("--keep", help="where the archive and its files stay")
parser.add_argument("--results", type=pathlib.Path, help="a JSON file of all rows")
parser.add_argument("--page", type=pathlib.Path, nargs="+", metavar="FILE")
arguments = parser.parse_intermixed_args()
write_page(arguments.page) if arguments.page else main()
