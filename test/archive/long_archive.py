# SPDX-License-Identifier: Apache-2.0
"""Archives with as many nodes as wanted, written without PyTorch: layers of a network, one after the other."""
import json
import struct
import zipfile

ROWS, WIDTH = 7, 16
LAYER = 10  # nodes of a layer


def tensor(*sizes):
    strides = [1] * len(sizes)
    for d in reversed(range(len(sizes) - 1)):
        strides[d] = strides[d + 1] * sizes[d + 1]
    number = lambda values: [{"as_int": v} for v in values]
    return {"dtype": 7, "sizes": number(sizes), "requires_grad": False, "device": {"type": "cpu", "index": None}, "strides": number(strides),
            "storage_offset": {"as_int": 0}, "layout": 7}


def argument(value):
    if isinstance(value, str):
        return {"as_tensor": {"name": value}}
    if isinstance(value, list):
        return {"as_ints": value} if all(isinstance(v, int) for v in value) else {"as_tensors": [{"name": v} for v in value]}
    return {"as_int": value} if isinstance(value, int) else {"as_float": value}


class Writer:
    def __init__(self):
        self.nodes, self.tensors, self.inputs, self.weights = [], {}, [], {}

    def weight(self, *sizes):
        name = f"w{len(self.weights)}"
        self.weights[name] = sizes
        self.tensors[f"p_{name}"] = tensor(*sizes)
        self.inputs.append(name)
        return f"p_{name}"

    def call(writer, target, result, /, **arguments):
        name = f"n{len(writer.nodes)}"
        writer.nodes.append({"target": f"torch.ops.aten.{target}", "inputs": [{"name": k, "arg": argument(v), "kind": 1} for k, v in arguments.items()],
                           "outputs": [{"as_tensor": {"name": name}}], "metadata": {"stack_trace": f'  File "model.py", line {len(writer.nodes)}, in forward\n'}})
        writer.tensors[name] = tensor(*result)
        return name

    def layer(self, x):
        call, shape = self.call, (ROWS, WIDTH)
        h = call("layer_norm.default", shape, input=x, normalized_shape=[WIDTH], weight=self.weight(WIDTH), bias=self.weight(WIDTH))
        h = call("linear.default", shape, input=h, weight=self.weight(WIDTH, WIDTH), bias=self.weight(WIDTH))
        h = call("gelu.default", shape, self=h)
        t = call("t.default", (WIDTH, ROWS), self=h)
        s = call("softmax.int", (WIDTH, ROWS), self=t, dim=-1)
        h = call("mm.default", (WIDTH, WIDTH), self=s, mat2=h)
        h = call("mm.default", shape, self=x, mat2=h)
        h = call("mul.Tensor", shape, self=h, other=0.5)
        h = call("tanh.default", shape, self=h)
        return call("add.Tensor", shape, self=x, other=h)

    def write(self, path):
        specs = [{"parameter": {"arg": {"name": f"p_{n}"}, "parameter_name": n}} for n in self.inputs] + [{"user_input": {"arg": argument("x")}}]
        last = self.nodes[-1]["outputs"][0]["as_tensor"]["name"]
        graph = {"inputs": [argument(f"p_{n}") for n in self.inputs] + [argument("x")], "outputs": [argument(last)], "nodes": self.nodes,
                 "tensor_values": {**self.tensors, "x": tensor(ROWS, WIDTH)}, "sym_int_values": {}, "sym_bool_values": {}}
        program = {"graph_module": {"graph": graph, "signature": {"input_specs": specs, "output_specs": [{"user_output": {"arg": argument(last)}}]},
                                    "module_call_graph": []},
                   "opset_version": {"aten": 10}, "range_constraints": {}, "schema_version": {"major": 8, "minor": 8}, "verifiers": ["TRAINING"]}
        records = {"archive_format": "pt2", "archive_version": "0", "byteorder": "little", "models/model.json": json.dumps(program),
                   "data/constants/model_constants_config.json": '{"config": {}}'}
        config = {}
        for i, (name, sizes) in enumerate(self.weights.items()):
            count = sizes[0] * (sizes[1] if len(sizes) > 1 else 1)
            records[f"data/weights/weight_{i}"] = struct.pack(f"<{count}f", *((((i + j) * 37) % 23 - 11) / 50 for j in range(count)))
            config[name] = {"path_name": f"weight_{i}", "is_param": True, "use_pickle": False, "tensor_meta": tensor(*sizes)}
        records["data/weights/model_weights_config.json"] = json.dumps({"config": config})
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
            for name, content in records.items():
                file.writestr(f"long/{name}", content)


def write(path, nodes):
    """At least so many nodes."""
    writer, x = Writer(), "x"
    for _ in range((nodes + LAYER - 1) // LAYER):
        x = writer.layer(x)
    writer.write(path)


if __name__ == "__main__":
    import sys

    write(sys.argv[1], int(sys.argv[2]))
