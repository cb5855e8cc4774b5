"""The documentation says what is true: every Python block runs, and every table is set against the code."""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import inspect
import json
import re
import subprocess
import sys
import typing
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sybil.document import Document
from sybil.parsers.markdown import PythonCodeBlockParser

import streamshim
from docs import generate_quirks
from streamshim.cli import capture, check, convert, demo, events, response, show, timeline
from streamshim.cli import chat as chat_command
from streamshim.cli import serve as serve_command
from streamshim.cli.options import add_decoder_options
from streamshim.client.fallbacks import FALLBACKS
from streamshim.client.options import RequestOptions
from streamshim.decode import limits
from streamshim.encode.history import ItemReasoning, ReasoningReplay
from streamshim.event_stream import EventStreamBase, StreamOptions
from streamshim.quirks import QUIRKS
from tests.loopback import serve
from tests.reading import decode
from tests.servers import serve_model
from tests.small_streams import CHAT_CALL, DONE, SLOPPY_ANSWER, chat, frame
from tests.test_corpus import CORPUS
from tests.test_scenarios import FOLDER, load

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = [README, *sorted(DOCS.glob("*.md"))]
EVENTS = typing.get_args(typing.get_args(streamshim.Event)[0])


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def code_in(text: str) -> list[str]:
    """What stands between single backquotes."""
    return re.findall(r"`([^`]+)`", text)


def rows(page: Path, *heads: str) -> Iterator[list[str]]:
    """The rows of every table of a page that has just these columns."""
    inside = False
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if cells == list(heads):
            inside = True
        elif not cells:
            inside = False
        elif inside and not set(line) <= set("|- "):
            yield cells


# -- snippets ---------------------------------------------------------------------------------------------------------


HEAVY = ("litellm", "langchain_openai", "pydantic_ai")
"""Frameworks that are not installed here: what is shown of them is run by `make frameworks`."""


def blocks(page: Path) -> int:
    return page.read_text(encoding="utf-8").count("\n```python\n")


def can_run(example: str) -> bool:
    """Whether a block needs no framework that is not installed."""
    imported = re.findall(r"^import (\w+)", example, re.MULTILINE)
    return all(importlib.util.find_spec(name) for name in imported if name in HEAVY)


@contextmanager
def server_for(page: Path) -> Generator[str]:
    """The address of a server that answers as the page says: with an answer, or with status 429."""
    if page.stem == "reliability":
        refusal = json.dumps({"error": {"message": "slow down"}}).encode()
        with serve([refusal], status=429, headers={"Retry-After": "7"}) as server:
            yield server.url
    elif page.stem == "client":
        with serve_model() as model:
            yield model.base_url
    elif page.stem == "speaking":
        with serve_model(apis=("chat",)) as model:
            yield model.base_url
    elif page.stem == "observability":
        with serve(counted_answer()) as server:
            yield server.url
    else:
        with serve([frame(chat({"content": "High water"})), *CHAT_CALL]) as server:
            yield server.url


def counted_answer() -> list[bytes]:
    """An answer with token counts."""
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
    payloads = [chat({"content": "High water"}, "stop"), {**chat({}), "choices": [], "usage": usage}]
    return [*(frame({**payload, "id": "c-1"}) for payload in payloads), DONE]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=name_of)
def test_python_blocks_of_a_page_run_from_top_to_bottom(
    page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    document = Document.parse(str(page), PythonCodeBlockParser())
    examples = list(document.examples())
    assert len(examples) == blocks(page)
    with server_for(page) as url, serve(SLOPPY_ANSWER) as sloppy:
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        document.namespace.update(url=url, body={}, headers={}, sloppy_url=sloppy.url, folder=tmp_path)
        for example in examples:
            if can_run(example.parsed):
                example.evaluate()
        if "client" in document.namespace:
            document.namespace["client"].close()


def test_output_of_the_command_line_is_what_the_readme_shows() -> None:
    (session,) = re.findall(r"```console\n\$ streamshim (show .*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    command, _, shown = session.partition("\n")
    run = subprocess.run(
        [sys.executable, "-m", "streamshim", *command.split()],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={"PYTHONUTF8": "1", "PATH": ""},
    )
    assert run.stdout == shown
    assert run.returncode == 1


# -- tables that repeat the code --------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [README, DOCS / "events.md"], ids=name_of)
def test_event_table_has_every_event_with_its_fields_in_order(page: Path) -> None:
    told = {
        name: fields
        for names, fields_of_each, _ in rows(page, "event", "fields", "when")
        for name, fields in zip(code_in(names), code_in(fields_of_each), strict=True)
    }
    assert told == {
        event.__name__: ", ".join(field.name for field in dataclasses.fields(event) if field.name != "type")
        for event in EVENTS
    }


def test_option_table_has_every_option_of_every_door_with_its_default() -> None:
    table = list(
        rows(DOCS / "options.md", "option", "default", "`StreamDecoder`", "shells", "command line", "what it does")
    )
    told = {
        code_in(option)[0]: (code_in(default)[0], decoder, shells) for option, default, decoder, shells, *_ in table
    }
    decoder_options = dict(inspect.signature(streamshim.StreamDecoder).parameters)
    expected = {name: (parameter.default, "yes", "yes") for name, parameter in decoder_options.items()}
    for shell in ("stream", "astream", "parse", "aparse", "iter_responses", "aiter_responses"):
        signature = inspect.signature(getattr(streamshim, shell))
        assert list(signature.parameters) == ["source", "options"]
        assert signature.parameters["options"].annotation == "Unpack[StreamOptions]"
    shell_options = dict(inspect.signature(EventStreamBase).parameters)
    for name in StreamOptions.__annotations__.keys() - decoder_options.keys():
        expected[name] = (shell_options[name].default, "", "yes")
    assert told == {
        name: (json.dumps(default) if isinstance(default, str) else repr(default), *doors)
        for name, (default, *doors) in expected.items()
    }


def test_tables_of_statistics_and_of_the_cursor_have_every_field() -> None:
    for page, heads, kind in (
        ("observability.md", ("field", "unit", "what it is"), streamshim.StreamStats),
        ("reliability.md", ("field", "what it is", "where it goes"), streamshim.Cursor),
    ):
        told = [code_in(cells[0])[0] for cells in rows(DOCS / page, *heads)]
        assert told == [field.name for field in dataclasses.fields(kind)]


def test_option_table_has_the_options_of_the_command_line() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    add_decoder_options(parser)
    told = {
        tuple(code_in(cells[0]) + code_in(cells[4]))
        for cells in rows(
            DOCS / "options.md", "option", "default", "`StreamDecoder`", "shells", "command line", "what it does"
        )
        if cells[4]
    }
    assert told == {(action.dest, *action.option_strings) for action in parser._actions}


def test_readme_names_every_command() -> None:
    told = {code_in(command)[0].split()[1] for command, _ in rows(README, "command", "what it does")}
    assert told == {
        command.NAME
        for command in (capture, chat_command, check, convert, demo, events, response, serve_command, show, timeline)
    }


def test_make_commands_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = re.findall(r"^\$ make (\w+)$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert named == ["demo", "test"]
    assert all(f"\n{name}:" in makefile for name in named)


def test_caps_are_those_of_the_code() -> None:
    told = {
        code_in(cap)[0]: int(value.replace(",", ""))
        for cap, value, _ in rows(DOCS / "reliability.md", "cap", "value", "of what")
    }
    assert told == {name: value for name, value in vars(limits).items() if name.startswith("MAX_")}


def test_table_of_a_clients_options_has_every_one() -> None:
    told = [name for cells in rows(DOCS / "client.md", "option", "chat", "responses") for name in code_in(cells[0])]
    assert sorted(told) == sorted(RequestOptions.__annotations__.keys() - StreamOptions.__annotations__.keys())


def test_page_on_the_client_names_what_servers_may_refuse_and_what_is_counted() -> None:
    page = (DOCS / "client.md").read_text(encoding="utf-8")
    of_client = {quirk.id for quirk in QUIRKS.values() if quirk.made_by == "client"}
    named = {fallback.name for fallback in FALLBACKS} - {"tools", "max_output_tokens"} | of_client
    assert {name for name in named if f"`{name}`" not in page} == set()


# -- architecture -----------------------------------------------------------------------------------------------------


def modules() -> set[str]:
    package = ROOT / "streamshim"
    return {path.relative_to(package).as_posix() for path in package.rglob("*.py")}


def test_every_module_has_its_place_in_the_house_and_no_other_is_named() -> None:
    """A name that ends with a slash is a room, with all modules in it."""
    table = rows(DOCS / "architecture.md", "module", "what it does", "what it may know")
    told = [name for names, *_ in table for name in code_in(names)]
    rooms = tuple(name for name in told if name.endswith("/"))
    assert [room for room in rooms if not (ROOT / "streamshim" / room).is_dir()] == []
    found = [module for module in modules() if not rooms or not module.startswith(rooms)]
    assert sorted(told) == sorted([*rooms, *found])


def test_architecture_sends_nobody_to_a_file_that_does_not_exist() -> None:
    known = modules() | {path.rpartition("/")[2] for path in modules()}
    lines = (DOCS / "architecture.md").read_text(encoding="utf-8").splitlines()
    named = {name for line in lines for name in code_in(line) if name.endswith(".py")}
    assert named <= known


def test_names_in_the_table_of_changes_are_found_in_the_files_named_beside_them() -> None:
    for _, places in rows(DOCS / "architecture.md", "a vendor was seen to …", "look here"):
        files = [name for name in code_in(places) if name.endswith(".py")]
        source = "".join((ROOT / "streamshim" / name).read_text(encoding="utf-8") for name in files)
        assert [name for name in code_in(places) if name not in files and name not in source] == []


def test_table_of_findings_has_every_code() -> None:
    told = [code for cells in rows(DOCS / "history.md", "`code`", "what is wrong") for code in code_in(cells[0])]
    room = ROOT / "streamshim" / "history"
    source = "".join(path.read_text(encoding="utf-8") for path in sorted(room.glob("*.py")))
    assert sorted(told) == sorted(set(re.findall(r'(?:add|InputFinding)\(\s*[^,]+, "([a-z-]+)"', source)))


def test_tables_of_thought_have_every_word() -> None:
    for heads, words in (
        (("`reasoning`", "what goes back", "who wants it"), ReasoningReplay),
        (("`reasoning`", "what goes back"), ItemReasoning),
    ):
        told = [json.loads(code_in(cells[0])[0]) for cells in rows(DOCS / "history.md", *heads)]
        assert sorted(told) == sorted(typing.get_args(words))


# -- quirks and vendors -----------------------------------------------------------------------------------------------


def test_quirk_page_is_what_the_table_in_the_code_gives() -> None:
    told = generate_quirks.PAGE.read_text(encoding="utf-8")
    assert told == generate_quirks.page(), "stale: run `python -m docs.generate_quirks`"


HEADS = ("vendor", "serves", "streams", "what is odd", "repaired as", "scenarios")
VENDORS = {cells[0]: cells[1:] for cells in rows(DOCS / "vendors.md", *HEADS)}
PROVIDERS = {
    "OpenAI": "openai",
    "ChatGPT's Codex backend": "chatgpt",
    "Azure OpenAI (Foundry)": "azure",
    "DeepSeek": "deepseek",
    "Qwen (Alibaba Bailian, DashScope)": "alibaba",
    "Zhipu GLM (z.ai)": "zai zai-coding",
    "Moonshot Kimi": "moonshot",
    "MiniMax": "minimax",
    "xAI": "xai",
    "Gemini (compatible endpoint)": "google",
    "Anthropic (compatible endpoint, and through LiteLLM)": "anthropic-compat",
    "Mistral": "mistral",
    "Groq": "groq",
    "Together": "together",
    "Cerebras": "cerebras",
    "Perplexity": "perplexity",
    "Databricks": "databricks",
    "Snowflake Cortex": "snowflake",
    "Bedrock (AWS)": "bedrock",
    "Cloudflare Workers AI": "cloudflare",
    "NVIDIA NIM": "nvidia nvidia-nim",
    "Hugging Face (router, TGI, responses.js)": "huggingface huggingface-cerebras huggingface-featherless"
    " huggingface-fireworks huggingface-nebius huggingface-novita huggingface-ovhcloud huggingface-together tgi",
    "OpenRouter": "openrouter",
    "Vercel AI Gateway": "vercel-gateway",
    "LiteLLM": "litellm-proxy",
    "GitHub Copilot": "copilot",
    "Ollama": "ollama",
    "vLLM": "vllm",
    "SGLang": "sglang",
    "llama.cpp (with GPUStack's fork)": "llamacpp gpustack",
}
"""The names that the index of the recorded streams has for a vendor; those left out have none."""


def repairs_in(scenario: str) -> set[str]:
    loaded = load(scenario)
    return set(decode(loaded["pieces"], broken=loaded["drop"], **loaded["options"])[-1].repairs)


@pytest.mark.parametrize("vendor", VENDORS)
def test_vendor_row_names_scenarios_and_quirks_that_exist(vendor: str) -> None:
    *_, repaired, scenarios = VENDORS[vendor]
    assert scenarios, "a vendor without a scenario"
    assert [name for name in code_in(scenarios) if not (FOLDER / f"{name}.json").is_file()] == []
    assert set(code_in(repaired)) <= QUIRKS.keys()


@pytest.mark.parametrize("vendor", VENDORS)
def test_repairs_of_a_vendor_happen_in_its_scenarios(vendor: str) -> None:
    *_, repaired, scenarios = VENDORS[vendor]
    shown = set().union(*(repairs_in(name.partition("/")[2]) for name in code_in(scenarios)))
    assert set(code_in(repaired)) <= shown


@pytest.mark.skipif(not CORPUS.exists(), reason="the recorded streams (../shared/corpus) are not here")
@pytest.mark.parametrize("vendor", VENDORS)
def test_recorded_streams_of_a_vendor_are_counted_right(vendor: str) -> None:
    lines = (CORPUS / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    names = PROVIDERS.get(vendor, "").split()
    recorded: list[dict[str, Any]] = [
        entry
        for line in lines
        if (entry := json.loads(line))["provider"] in names and entry["provenance"] == "recorded"
    ]
    counted = Counter(entry["api"] for entry in recorded)
    told = ", ".join(f"{counted[api]} {api}" for api in ("chat", "completions", "responses") if counted[api])
    assert VENDORS[vendor][1] == (told or "none")


# -- links ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).is_file()] == []
