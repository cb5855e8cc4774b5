"""Makes a tiny model that counts to thirty, for a real engine to serve: `python -m benchmarks.tiny_model FILE`.

Needs the package `gguf`. Two layers of a Llama with weights that are almost nothing, so that what comes out depends
on the last token alone: an embedding that tells every token from every other, and an output that knows which token
follows which. It answers everything with `1 2 3 … 30`; where a grammar forces JSON on it, it counts in the first
string, and closes what is open as soon as it may. The file is the same, byte by byte, whenever it is made.

    python -m llama_cpp.server --model FILE --host 127.0.0.1 --port 8000
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import gguf
import numpy as np

CONTEXT = 2048
_LAYERS, _HEADS, _WIDTH, _INNER = 2, 4, 384, 96
_CERTAIN, _USUAL, _LIKELY, _NOISE = 30.0, 20.0, 10.0, 0.001
_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def vocabulary() -> list[tuple[str, int]]:
    """Every token, and of what kind it is."""
    kinds = gguf.TokenType
    control = [(token, kinds.CONTROL) for token in ("<s>", "</s>", "<|im_start|>", "<|im_end|>")]
    octets = [(f"<0x{octet:02X}>", kinds.BYTE) for octet in range(256)]
    numbers = [(f"▁{number}", kinds.NORMAL) for number in range(2, 31)]
    characters = [(character, kinds.NORMAL) for character in "▁" + _CHARACTERS]
    return [("<unk>", kinds.UNKNOWN), *control, *octets, *numbers, *characters]


def followers(tokens: list[str]) -> np.ndarray[Any, Any]:
    """How much each token (a row) is wanted behind each other one (a column)."""
    place = {token: at for at, token in enumerate(tokens)}
    wanted = np.zeros((len(tokens), _WIDTH), dtype=np.float32)
    for closing in '"}]':
        wanted[place[f"<0x{ord(closing):02X}>"], :] = _LIKELY
    wanted[place["1"], :] = _USUAL
    counted = ["1", *(f"▁{number}" for number in range(2, 31))]
    for before, behind in zip(counted, [*counted[1:], "<|im_end|>"], strict=True):
        wanted[place["1"], place[before]] = 0.0
        wanted[place[behind], place[before]] = _CERTAIN
    return wanted / np.sqrt(np.float32(_WIDTH))


def weights(tokens: list[str]) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """Every tensor by its name."""
    drawn = np.random.default_rng(0)

    def noise(rows: int, columns: int) -> np.ndarray[Any, Any]:
        return drawn.normal(0, _NOISE, (rows, columns)).astype(np.float32)

    ones = np.ones(_WIDTH, dtype=np.float32)
    yield "token_embd.weight", np.eye(len(tokens), _WIDTH, dtype=np.float32)
    yield "output_norm.weight", ones
    yield "output.weight", followers(tokens)
    for layer in range(_LAYERS):
        for name in ("attn_norm", "ffn_norm"):
            yield f"blk.{layer}.{name}.weight", ones
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            yield f"blk.{layer}.{name}.weight", noise(_WIDTH, _WIDTH)
        for name, rows, columns in (
            ("ffn_gate", _INNER, _WIDTH),
            ("ffn_up", _INNER, _WIDTH),
            ("ffn_down", _WIDTH, _INNER),
        ):
            yield f"blk.{layer}.{name}.weight", noise(rows, columns)


def write(path: str) -> None:
    """Make the file."""
    tokens, kinds = zip(*vocabulary(), strict=True)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("counts-to-thirty")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(_WIDTH)
    writer.add_block_count(_LAYERS)
    writer.add_feed_forward_length(_INNER)
    writer.add_head_count(_HEADS)
    writer.add_rope_dimension_count(_WIDTH // _HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(list(tokens))
    writer.add_token_types(list(kinds))
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_bos_token_id(tokens.index("<s>"))
    writer.add_eos_token_id(tokens.index("<|im_end|>"))
    writer.add_add_space_prefix(False)
    writer.add_chat_template(_TEMPLATE)
    for name, tensor in weights(list(tokens)):
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m benchmarks.tiny_model FILE")
    write(sys.argv[1])
