# SPDX-License-Identifier: Apache-2.0
"""Whole models of public libraries beside PyTorch on a CUDA device, bf16, inference: results first, then times.

    python3 bench/cuda/public_models.py --pellucid DIR [--out FILE.json] [--folder DIR] [NAME…]

Each model comes from torchvision or transformers as installed, with random weights, and is exported by the PyTorch that is here;
Pellucid compiles the archive. Peers are eager, eager with channels_last where there are convolutions, `torch.compile`, and
`torch.compile(mode="reduce-overhead")`; speed is the best peer's time over ours, both queued as one CUDA graph where the peer
offers it. Memory is what the device has less after the first call than before the model was there. Errors are the largest
beside the largest element of the same model in float32; a model counts as right where ours is at most twice eager's, or of a few roundings.

All exports and compilations run first, beside each other, so that times are taken on a quiet machine; a model is one row, refused
or wrong ones too.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import traceback
import warnings

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parent))


def call(module, forward):
    """A module that takes and gives tensors only."""
    from torch import nn

    class Call(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = module

        def forward(self, *inputs):
            return forward(self.model, *inputs)

    return Call()


def image(rows, size=224):
    import torch

    return (torch.randn(rows, 3, size, size),)


def tokens(rows, columns, vocabulary):
    import torch

    return torch.randint(0, vocabulary, (rows, columns))


def vision(name, rows):
    from torchvision import models

    return getattr(models, name)(), image(rows)


def bert_base():
    import transformers as t

    return call(t.BertModel(t.BertConfig()), lambda m, ids: m(ids, return_dict=False)[0]), (tokens(8, 512, 30522),)


def gpt2():
    import transformers as t

    return call(t.GPT2LMHeadModel(t.GPT2Config()), lambda m, ids: m(ids, use_cache=False, return_dict=False)[0]), (tokens(8, 512, 50257),)


def llama():
    """Eight layers as wide as Llama 3.2 1B's."""
    import transformers as t

    config = t.LlamaConfig(hidden_size=2048, intermediate_size=8192, num_hidden_layers=8, num_attention_heads=32, num_key_value_heads=8,
                           head_dim=64, vocab_size=32000, max_position_embeddings=2048, rope_theta=500000.0)
    return call(t.LlamaForCausalLM(config), lambda m, ids: m(ids, use_cache=False, return_dict=False)[0]), (tokens(2, 2048, 32000),)


def qwen2():
    """Eight layers as wide as Qwen2 0.5B's."""
    import transformers as t

    config = t.Qwen2Config(hidden_size=896, intermediate_size=4864, num_hidden_layers=8, num_attention_heads=14, num_key_value_heads=2, vocab_size=32000)
    return call(t.Qwen2ForCausalLM(config), lambda m, ids: m(ids, use_cache=False, return_dict=False)[0]), (tokens(4, 1024, 32000),)


def whisper_encoder():
    import transformers as t
    import torch

    config = t.WhisperConfig(d_model=768, encoder_layers=12, encoder_attention_heads=12, encoder_ffn_dim=3072)
    return call(t.models.whisper.modeling_whisper.WhisperEncoder(config), lambda m, x: m(x, return_dict=False)[0]), (torch.randn(4, 80, 3000),)


def t5_encoder():
    import transformers as t

    config = t.T5Config(vocab_size=32128, d_model=768, d_kv=64, d_ff=3072, num_layers=12, num_heads=12)
    return call(t.T5EncoderModel(config), lambda m, ids: m(input_ids=ids, return_dict=False)[0]), (tokens(8, 512, 32128),)


MODELS = {
    "resnet50, 32 images": lambda: vision("resnet50", 32),
    "resnet18, 1 image": lambda: vision("resnet18", 1),
    "mobilenet_v3_large, 32": lambda: vision("mobilenet_v3_large", 32),
    "convnext_tiny, 32": lambda: vision("convnext_tiny", 32),
    "vit_b_16, 32": lambda: vision("vit_b_16", 32),
    "swin_t, 8": lambda: vision("swin_t", 8),
    "bert base, 8 x 512": bert_base,
    "gpt2, 8 x 512": gpt2,
    "llama 1B wide, 2 x 2048": llama,
    "qwen2 0.5B wide, 4 x 1024": qwen2,
    "whisper small encoder, 4": whisper_encoder,
    "t5 base encoder, 8 x 512": t5_encoder,
}


def made(name, dtype, device):
    import torch

    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    model = model.eval()
    with torch.no_grad():
        # A layer that starts at zero would give zeros whatever comes before it.
        for parameter in model.parameters():
            if not parameter.any():
                parameter.normal_(std=0.02)
    move = lambda t: t.to(device, dtype if t.is_floating_point() else t.dtype)
    return model.to(device, dtype), tuple(move(t) for t in inputs)


def stem(name):
    return "".join(c if c.isalnum() else "_" for c in name)


# --- before the times: an archive, our package and the peer's compiled kernels in its cache


def prepare_ours(name, program, folder):
    import torch

    model, inputs = made(name, torch.bfloat16, "cpu")
    with torch.no_grad():
        torch.export.save(torch.export.export(model, inputs), folder / f"{stem(name)}.pt2")
    start = time.monotonic()
    words = [program, "compile", folder / f"{stem(name)}.pt2", "--target", "cuda:sm_90", "-o", folder / f"{stem(name)}.plc"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(next((line for line in done.stderr.splitlines() if "error" in line), done.stderr)[-400:])
    print(json.dumps({"compile_s": round(time.monotonic() - start, 2)}))


def prepare_peer(name, program, folder):
    import torch

    model, inputs = made(name, torch.bfloat16, "cuda")
    with torch.no_grad():
        torch.compile(model)(*inputs)


# --- results and times


def seconds(work, rounds=20):
    import torch

    for _ in range(3):
        work()
    torch.cuda.synchronize()
    times = []
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e-3)
    return sorted(times)[len(times) // 2]


def peers(model, inputs, has_convolutions):
    """Name, callable; each is made when it is its turn."""
    import torch

    yield "eager", lambda: (model, inputs)
    if has_convolutions:
        last = lambda t: t.to(memory_format=torch.channels_last) if t.dim() == 4 else t
        yield "channels_last", lambda: (model.to(memory_format=torch.channels_last), tuple(map(last, inputs)))
    yield "compiled", lambda: (torch.compile(model), inputs)
    yield "reduce_overhead", lambda: (torch.compile(model, mode="reduce-overhead"), inputs)


def measure(name, library, folder):
    import torch
    from package_call import Package

    exact_model, exact_inputs = made(name, torch.float32, "cuda")
    with torch.no_grad():
        exact = exact_model(*[t.to(torch.bfloat16).float() if t.is_floating_point() else t for t in exact_inputs])
    del exact_model
    scale = exact.abs().max().item()
    torch.cuda.empty_cache()

    _, inputs = made(name, torch.bfloat16, "cuda")
    torch.cuda.synchronize(), torch.cuda.empty_cache()
    free = torch.cuda.mem_get_info()[0]
    package = Package(library, folder / f"{stem(name)}.plc")
    out = torch.full(exact.shape, float("nan"), dtype=torch.bfloat16, device="cuda")
    ours = package.bind(inputs, [out])
    ours()
    torch.cuda.synchronize()
    row = {"memory": free - torch.cuda.mem_get_info()[0], "error": (out.float() - exact).abs().max().item() / scale}
    row["us"] = seconds(ours) * 1e6
    row["graph_us"] = seconds(package.prepare(inputs, [out])) * 1e6

    model, inputs = made(name, torch.bfloat16, "cuda")
    has_convolutions = any(p.dim() == 4 for p in model.parameters())
    with torch.no_grad():
        row["error_of_eager"] = (model(*inputs).float() - exact).abs().max().item() / scale
        torch.cuda.reset_peak_memory_stats()
        for peer, make in peers(model, inputs, has_convolutions):
            try:
                work, arguments = make()
                row[f"{peer}_us"] = seconds(lambda: work(*arguments)) * 1e6
            except Exception as error:  # a peer that cannot do it is no failure of ours
                row[f"{peer}_error"] = str(error).splitlines()[0][:200]
            if peer == "eager":
                row["memory_of_eager"] = torch.cuda.max_memory_allocated()
    row["right"] = row["error"] <= max(2 * row["error_of_eager"], 0.02)
    plain = [row[f"{p}_us"] for p in ("eager", "channels_last", "compiled") if f"{p}_us" in row]
    row["speed"] = min(plain) / row["us"]
    row["graph_speed"] = min(plain + [row[f"{p}_us"] for p in ("reduce_overhead",) if f"{p}_us" in row]) / min(row["us"], row["graph_us"])
    return row


def stage(word, name, folder, program, seconds_left):
    words = [sys.executable, "-W", "ignore", HERE, "--pellucid", program, "--stage", word, "--folder", folder, name]
    try:
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=seconds_left)
    except subprocess.TimeoutExpired:
        return f"not done in {seconds_left:.0f} s", ""
    return (None if done.returncode == 0 else (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1][:400]), done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pellucid", required=True, type=pathlib.Path, help="a folder with bin/ and lib/ of a build")
    parser.add_argument("--out")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--stage")
    parser.add_argument("--patience", type=float, default=100, help="seconds that exports and compilations may take, all beside each other")
    parser.add_argument("--no-peer-compile", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    program = args.pellucid / "bin/pellucid"
    if args.stage:
        {"ours": prepare_ours, "peer": prepare_peer}[args.stage](args.names[0], program, args.folder)
        return
    folder = args.folder or pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(folder / "inductor")
    names = args.names or list(MODELS)
    rows = {name: {} for name in names}
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        work = {pool.submit(stage, word, name, folder, args.pellucid, args.patience): (word, name)
                for word in (["ours"] if args.no_peer_compile else ["ours", "peer"]) for name in names}
        for done in concurrent.futures.as_completed(work):
            word, name = work[done]
            error, said = done.result()
            if error:
                rows[name]["refused" if word == "ours" else "peer_error"] = error
            elif word == "ours":
                rows[name] |= json.loads(said.splitlines()[-1])
    for name in names:
        print(f"{name:28}", rows[name], flush=True)
    import torch
    from package_call import open_library, write_report

    if not torch.cuda.is_available():
        print("no device: compiled only")
        return
    library = open_library(next((args.pellucid / "lib").glob("libpellucid_runtime.so*")))
    for name, row in rows.items():
        if "refused" not in row:
            try:
                row |= measure(name, library, folder)
            except Exception:
                row["failed"] = traceback.format_exc().splitlines()[-1][:400]
        torch.cuda.empty_cache()
        if "us" in row:
            best = min(row.get(k, 1e30) for k in ("eager_us", "channels_last_us", "compiled_us"))
            print(f"{name:28} {row['us']:9.1f} us, graph {row['graph_us']:9.1f}   best peer {best:9.1f}, graph {row.get('reduce_overhead_us', 0):9.1f}   speed {row['speed']:.3f}, "
                  f"graph {row['graph_speed']:.3f}   {'right' if row['right'] else 'WRONG'} {row['error']:.2g} (eager {row['error_of_eager']:.2g})", flush=True)
        else:
            print(f"{name:28} {row}", flush=True)
        if args.out:
            write_report(args.out, "python3 bench/cuda/public_models.py --pellucid DIR", rows)


if __name__ == "__main__":
    main()
