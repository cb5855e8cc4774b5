"""The package as a whole: its public names, what importing it loads, what is shipped, which way imports go."""

import subprocess
import sys
import tomllib
from importlib import metadata, resources
from pathlib import Path

import pytest

import streamshim

ROOT = Path(__file__).parent.parent

PUBLIC_NAMES = """
    ArgumentDelta ArgumentEnd AsyncChatCompletionsClient AsyncEventStream AsyncLLMClient
    AsyncResponsesClient AsyncRun ChatCompletionsClient ChatEncoder Citation Collector Conversation
    ConversationStore Cursor ErrorInfo ErrorReport Event EventStream Evidence Finish InputError
    InputFinding LLMClient LeftOut MaxTurnsError MediaDelta MediaEnd MediaStart Metadata ModelResponse
    OutputError PartialArguments PartialObject RawFrame ReasoningDelta ReasoningEnd ReasoningStart
    RefusalDelta RefusalEnd RefusalStart RelayLedger Repair ResponseNotFoundError ResponsesClient
    ResponsesEncoder Run SourceError StateFallback StoredResponse StoredState StreamDecoder StreamEnd
    StreamFailedError StreamStart StreamStats StreamTimeoutError StreamTruncatedError StreamshimError
    TextDelta TextEnd TextStart Tool ToolCallDelta ToolCallEnd ToolCallStart ToolProgress ToolResult
    Unknown UnsupportedMemberError Usage UsageReport aconnect aconvert aencode_chat aencode_responses
    aiter_responses aparse astream chat_request check_input collect connect convert encode_chat
    encode_responses file_part image_part iter_responses live_arguments parse raise_for_findings
    read_error responses_request stream text_part tool_result transport
""".split()

CHAT_STREAM = b'data: {"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


def packages_loaded_by(code: str) -> set[str]:
    """The top-level packages outside the standard library that `code` loads in a fresh interpreter."""
    program = f"import sys; before = set(sys.modules)\n{code}\nprint(*set(sys.modules) - before)"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in run.stdout.split()} - sys.stdlib_module_names


def test_public_names_are_exactly_these() -> None:
    assert sorted(streamshim.__all__) == sorted(PUBLIC_NAMES)


@pytest.mark.parametrize("name", PUBLIC_NAMES)
def test_each_public_name_can_be_had_and_is_listed_by_dir(name: str) -> None:
    assert getattr(streamshim, name) is not None
    assert name in dir(streamshim)


def test_a_name_that_does_not_exist_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        streamshim.no_such_name  # noqa: B018


def test_import_loads_no_other_package() -> None:
    assert packages_loaded_by("import streamshim") == {"streamshim"}


def test_decoding_a_stream_loads_orjson_and_no_other_package() -> None:
    code = f"import streamshim; d = streamshim.StreamDecoder(); d.feed({CHAT_STREAM!r}); d.close()"
    assert packages_loaded_by(code) <= {"streamshim", "orjson"}


def test_a_client_loads_no_http_client_before_one_is_made_and_no_pydantic_before_a_tool_is() -> None:
    assert packages_loaded_by("from streamshim import LLMClient, ResponsesClient, Tool, connect") <= {
        "streamshim",
        "orjson",
    }


def test_package_is_marked_as_typed() -> None:
    assert resources.files("streamshim").joinpath("py.typed").is_file()


def test_version_is_that_of_the_project_and_of_its_metadata() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert streamshim.__version__ == metadata.version("streamshim") == project["version"]


def test_imports_go_one_way_without_circles() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run([program, "--no-cache", "--no-logo"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
