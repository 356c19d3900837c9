"""cocabo mcp with the official client of the Model Context Protocol."""

import asyncio
import json
import os
import pathlib
import subprocess

import pytest
from mcp import ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

COCABO = pathlib.Path(os.environ.get("COCABO_BUILD", "build"), "cocabo").resolve()

TOOLS = ["list_studies", "create_study", "ask", "tell", "add_points", "best", "importance",
         "predict", "failures"]
SPACE = {"x": "float(-1,1)", "c": "choice(a,b)"}


def talk(folder, conversation):
    """Runs a conversation with a server on a store in the folder."""
    async def main():
        server = StdioServerParameters(command=str(COCABO),
                                       args=["mcp", "--storage", f"sqlite:///{folder}/a.db"])
        async with stdio_client(server) as (read, write):
            async with ClientSession(read, write) as session:
                hello = await session.initialize()
                return await conversation(session, hello)
    return asyncio.run(asyncio.wait_for(main(), 120))


async def call(session, tool, **arguments):
    answer = await session.call_tool(tool, arguments)
    assert not answer.is_error, answer.content[0].text
    assert json.loads(answer.content[0].text) == answer.structured_content
    return answer.structured_content


async def fails(session, tool, **arguments):
    answer = await session.call_tool(tool, arguments)
    assert answer.is_error
    return answer.content[0].text


def test_a_client_is_greeted_and_finds_the_tools(tmp_path):
    async def conversation(session, hello):
        assert hello.server_info.name == "cocabo"
        assert hello.capabilities.tools is not None
        await session.send_ping()
        listed = await session.list_tools()
        assert [tool.name for tool in listed.tools] == TOOLS
        for tool in listed.tools:
            assert tool.input_schema["type"] == "object" and tool.description
        assert (await session.list_resource_templates()).resource_templates
    talk(tmp_path, conversation)


def test_a_study_is_optimised(tmp_path):
    async def conversation(session, _):
        await call(session, "create_study", study="s", parameters=SPACE, trials=30,
                   direction="maximize", options={"n_init": 6})
        await call(session, "add_points", study="s",
                   points=[{"params": {"x": 0.9, "c": "a"}, "value": -1.44},
                           {"params": {"x": -0.5, "c": "b"}}])
        for k in range(29):
            trial = (await call(session, "ask", study="s"))["trials"][0]
            if k == 0:
                assert trial["params"] == {"x": -0.5, "c": "b"}
            if k == 3:
                await call(session, "tell", study="s", number=trial["number"],
                           reason="out of memory")
                continue
            value = -(trial["params"]["x"] + 0.3) ** 2 - (trial["params"]["c"] == "b")
            await call(session, "tell", study="s", number=trial["number"], value=value,
                       metrics={"seconds": 0.5})
        best = await call(session, "best", study="s")
        assert best["params"]["c"] == "a" and best["value"] > -0.01
        failed = (await call(session, "failures", study="s"))["failures"]
        assert [trial["reason"] for trial in failed] == ["out of memory"]
        shares = (await call(session, "importance", study="s"))["importance"]
        assert abs(sum(item["share"] for item in shares.values()) - 1) < 1e-9
        at = (await call(session, "predict", study="s",
                         points=[{"x": -0.3, "c": "a"}, {"x": 1, "c": "b"}]))["predictions"]
        assert at[0]["mean"] > at[1]["mean"] and at[0]["sd"] >= 0
        assert (await call(session, "list_studies"))["studies"][0]["complete"] == 29
        resource = (await session.list_resources()).resources[0]
        text = (await session.read_resource(resource.uri)).contents[0].text
        assert len(json.loads(text)["trials"]) == 30
        assert "trials left" in await fails(session, "ask", study="s")
    talk(tmp_path, conversation)
    subprocess.run([COCABO, "verify", "--storage", f"sqlite:///{tmp_path}/a.db"], check=True,
                   stdout=subprocess.DEVNULL)


def test_mistakes_are_said_in_a_sentence(tmp_path):
    async def conversation(session, _):
        assert await fails(session, "create_study", study="s", parameters={"x": "real(0,1)"})
        assert 'no study "nope"' in await fails(session, "best", study="nope")
        await call(session, "create_study", study="s", parameters=SPACE)
        assert "value" in await fails(session, "tell", study="s", number=0)
        assert "no trial 7" in await fails(session, "tell", study="s", number=7, value=1.0)
        assert 'no parameter "y"' in await fails(session, "add_points", study="s",
                                                 points=[{"params": {"y": 1}}])
        assert "is complete yet" in await fails(session, "best", study="s")
        with pytest.raises(MCPError):
            await session.call_tool("rm", {})
    talk(tmp_path, conversation)


def test_messages_that_are_none(tmp_path):
    lines = [b"not json", b"[1,2]", b'{"id":1,"method":"ping"}',
             b'{"jsonrpc":"2.0","id":2,"method":"nope"}',
             b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
             b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
             b'{"jsonrpc":"2.0","id":"x","method":"resources/read",'
             b'"params":{"uri":"file:///etc/passwd"}}',
             b'{"jsonrpc":"2.0","id":3,"method":"ping"}']
    done = subprocess.run([COCABO, "mcp", "--storage", f"sqlite:///{tmp_path}/a.db"],
                          input=b"\n".join(lines) + b"\n", stdout=subprocess.PIPE, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer.get("error", {}).get("code") for answer in answers] == [
        -32700, -32600, -32600, -32601, -32600, -32002, None]
    assert [answer["id"] for answer in answers] == [None, None, 1, 2, None, "x", 3]


def test_no_tool_sets_a_command(tmp_path):
    async def conversation(session, _):
        text = await fails(session, "create_study", study="s", parameters=SPACE,
                           options={"command": "rm"})
        assert 'no option "command"' in text
    talk(tmp_path, conversation)
