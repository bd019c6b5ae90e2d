"""One Python agent framework beside `daysheet serve --sandbox`, for frameworks.py.

    probes.py FRAMEWORK BINARY CALLS

Each probe connects the framework to Daysheet through its own MCP integration, and runs its agent
with a scripted model: the model calls one tool, and the probe keeps what the framework sends to the
model next. CALLS is a JSON list of [tool, arguments]; if `ids` is null,
the ids of the first two messages of the first answer are filled in. One JSON object is printed:
the version, the tools and the instructions as the model is given them, and for each call the texts
that the model is given, or the exception that ends the agent's run.
"""

import asyncio
import contextlib
import importlib.metadata
import json
import os
import re
import sys

NAME, BINARY, CALLS = sys.argv[1:]
SERVER = {"command": BINARY, "args": ["serve", "--sandbox", "--access", "full"],
          "env": dict(os.environ)}
ROW = re.compile(r"  (m\d+)(?=\\*t|\t)")


class Script:
    """The script of the model: one call, then the end."""

    def __init__(self):
        self.call = self.given = self.tools = self.system = None

    def turn(self, answers):
        """Returns the call to make, or None if there are answers to it."""
        if not answers:
            return self.call
        self.given = list(answers)
        return None


def texts_of(content):
    """Returns the texts of content that is one text or a list of blocks."""
    if isinstance(content, str):
        return [content]
    return [block if isinstance(block, str) else block["text"] for block in content]


def function(tool):
    """Returns name and parameters of a tool in the form of OpenAI's chat completions."""
    return {"name": tool["function"]["name"], "parameters": tool["function"]["parameters"]}


# mcp 2 ------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def openai_agents(script, strict=False):
    from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
    from agents.mcp import MCPServerStdio
    from agents.models.openai_responses import Converter
    from openai.types.responses import (ResponseFunctionToolCall, ResponseOutputMessage,
                                        ResponseOutputText)

    class Scripted(Model):
        async def get_response(self, *, system_instructions, input, tools, handoffs, **_):
            script.system = system_instructions
            script.tools = Converter.convert_tools(tools, handoffs).tools
            outputs = [item["output"] for item in input if isinstance(item, dict)
                       and item.get("type") == "function_call_output"]
            call = script.turn([text for output in outputs for text in texts_of(output)])
            if call:
                item = ResponseFunctionToolCall(type="function_call", call_id="c1", name=call[0],
                                                arguments=json.dumps(call[1]))
            else:
                text = ResponseOutputText(type="output_text", text="done", annotations=[])
                item = ResponseOutputMessage(type="message", id="m", role="assistant",
                                             status="completed", content=[text])
            return ModelResponse(output=[item], usage=Usage(), response_id=None)

        def stream_response(self, *_, **__):
            raise NotImplementedError

    set_tracing_disabled(True)
    async with MCPServerStdio(params=SERVER, client_session_timeout_seconds=60) as server:
        agent = Agent(name="probe", model=Scripted(), mcp_servers=[server],
                      mcp_config={"convert_schemas_to_strict": strict})
        yield lambda: Runner.run(agent, "go")


def openai_agents_strict(script):
    return openai_agents(script, strict=True)


@contextlib.asynccontextmanager
async def google_genai(script):
    import httpx
    import mcp
    from google import genai
    from google.genai import types

    def answer(request):
        """Stands in for the Gemini API."""
        sent = json.loads(request.content)
        parts = (sent.get("systemInstruction") or {}).get("parts", [])
        script.system = "".join(part.get("text", "") for part in parts)
        script.tools = [
            {"name": one["name"], "parameters": one["parameters"]}
            for tool in sent["tools"] for one in tool["functionDeclarations"]
        ]
        responses = [part["functionResponse"]["response"] for content in sent["contents"]
                     for part in content["parts"] if "functionResponse" in part]
        call = script.turn([json.dumps(one, ensure_ascii=False) for one in responses])
        part = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": "done"}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
        return httpx.Response(200, json={"candidates": [candidate]})

    options = types.HttpOptions(base_url="http://127.0.0.1:9",
                                async_client_args={"transport": httpx.MockTransport(answer)})
    client = genai.Client(api_key="unused", http_options=options)
    parameters = mcp.StdioServerParameters(**SERVER)
    async with mcp.stdio_client(parameters) as streams, mcp.ClientSession(*streams) as session:
        await session.initialize()
        # A config of the class fails over a live session (googleapis/python-genai#2669).
        yield lambda: client.aio.models.generate_content(
            model="gemini-probe", contents="go", config={"tools": [session]})


@contextlib.asynccontextmanager
async def pydantic_ai(script, instructions=False):
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai import Agent, ModelResponse, RetryPromptPart, TextPart, ToolCallPart
    from pydantic_ai import ToolReturnPart
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.models.function import FunctionModel

    def model(messages, info):
        script.tools = [{"name": tool.name, "parameters": tool.parameters_json_schema}
                        for tool in info.function_tools]
        script.system = info.instructions
        parts = [part for message in messages for part in message.parts]
        answers = [part.model_response_str() for part in parts if isinstance(part, ToolReturnPart)]
        answers += [part.model_response() for part in parts if isinstance(part, RetryPromptPart)]
        call = script.turn(answers)
        return ModelResponse(parts=[ToolCallPart(*call) if call else TextPart("done")])

    server = MCPToolset(StdioTransport(**SERVER), include_instructions=instructions)
    async with Agent(FunctionModel(model), toolsets=[server]) as agent:
        yield lambda: agent.run("go")


@contextlib.asynccontextmanager
async def pydantic_ai_strict(script):
    from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer

    async with pydantic_ai(script, instructions=True) as run:
        async def strict():
            await run()
            for tool in script.tools:
                transformer = OpenAIJsonSchemaTransformer(tool["parameters"], strict=True)
                tool["parameters"] = transformer.walk()
        yield strict


@contextlib.asynccontextmanager
async def fastmcp(script):
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    async with Client(StdioTransport(**SERVER), timeout=60) as client:
        # A client without an agent: the caller passes its values on.
        async def run():
            listed = [tool.model_dump(by_alias=True) for tool in await client.list_tools()]
            script.tools = [{"name": tool["name"], "parameters": tool["inputSchema"]}
                            for tool in listed]
            result = await client.call_tool(*script.turn([]))
            script.turn([block.text for block in result.content])
        yield run


@contextlib.asynccontextmanager
async def llama_index(script):
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse
    from llama_index.core.llms.mock import MockFunctionCallingLLM
    from llama_index.core.tools import ToolSelection
    from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

    class Scripted(MockFunctionCallingLLM):
        async def achat_with_tools(self, tools, user_msg=None, chat_history=None, **_):
            script.tools = [function(tool.metadata.to_openai_tool(skip_length_check=True))
                            for tool in tools]
            script.system = "".join(one.content for one in chat_history if one.role == "system")
            call = script.turn([one.content for one in chat_history if one.role == "tool"])
            return ChatResponse(message=ChatMessage("done", role="assistant"), raw={"call": call})

        def get_tool_calls_from_response(self, response, **_):
            call = response.raw["call"]
            if not call:
                return []
            return [ToolSelection(tool_id="c1", tool_name=call[0], tool_kwargs=call[1])]

    client = BasicMCPClient(BINARY, args=SERVER["args"], env=SERVER["env"], timeout=60)
    tools = await McpToolSpec(client=client).to_tool_list_async()
    agent = FunctionAgent(tools=tools, llm=Scripted(), streaming=False)

    async def run():
        await agent.run(user_msg="go")
    yield run


# mcp 1 ------------------------------------------------------------------------


def scripted_chat_model(script, strict=None):
    """Returns a chat model of LangChain that follows the script."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.utils.function_calling import convert_to_openai_tool

    class Scripted(BaseChatModel):
        @property
        def _llm_type(self):
            return "scripted"

        def bind_tools(self, tools, **_):
            script.tools = [function(convert_to_openai_tool(tool, strict=strict))
                            for tool in tools]
            return self

        def _generate(self, messages, stop=None, run_manager=None, **_):
            script.system = "".join(one.text for one in messages if one.type == "system")
            call = script.turn([text for message in messages if message.type == "tool"
                                for text in texts_of(message.content)])
            calls = [{"name": call[0], "args": call[1], "id": "c1"}] if call else []
            message = AIMessage(content="" if call else "done", tool_calls=calls)
            return ChatResult(generations=[ChatGeneration(message=message)])

    return Scripted()


@contextlib.asynccontextmanager
async def langchain(script, strict=None):
    from langchain.agents import create_agent
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_mcp_adapters.tools import load_mcp_tools

    client = MultiServerMCPClient({"daysheet": {"transport": "stdio", **SERVER}})
    async with client.session("daysheet") as session:
        agent = create_agent(scripted_chat_model(script, strict), await load_mcp_tools(session))
        yield lambda: agent.ainvoke({"messages": [("user", "go")]})


def langchain_strict(script):
    return langchain(script, strict=True)


@contextlib.asynccontextmanager
async def mcp_use(script):
    from mcp_use import MCPAgent, MCPClient

    client = MCPClient.from_dict({"mcpServers": {"daysheet": SERVER}})
    agent = MCPAgent(llm=scripted_chat_model(script), client=client, memory_enabled=False)
    try:
        yield lambda: agent.run("go")
    finally:
        await client.close_all_sessions()


@contextlib.asynccontextmanager
async def smolagents(script, calling=False):
    import mcp
    from smolagents import CodeAgent, MCPClient, Model, ToolCallingAgent
    from smolagents.models import (ChatMessage, ChatMessageToolCall,
                                   ChatMessageToolCallFunction, MessageRole, get_tool_json_schema)

    class Scripted(Model):
        def generate(self, messages, **_):
            script.system = "".join(text for message in messages
                                    if message.role == MessageRole.SYSTEM
                                    for text in texts_of(message.content))
            call = script.turn([text for message in messages
                                if message.role == MessageRole.TOOL_RESPONSE
                                for text in texts_of(message.content)])
            name, arguments = call or ("final_answer", {"answer": "done"})
            if not calling:
                given = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
                code = f"<code>\nprint({name}({given}))\n</code>"
                return ChatMessage(role=MessageRole.ASSISTANT, content=code)
            wanted = ChatMessageToolCallFunction(name=name, arguments=arguments)
            return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[
                ChatMessageToolCall(function=wanted, id="c1", type="function")])

    parameters = mcp.StdioServerParameters(**SERVER)
    with MCPClient(parameters, structured_output=False) as tools:
        kind = ToolCallingAgent if calling else CodeAgent
        agent = kind(tools=tools, model=Scripted(), verbosity_level=0)
        script.tools = [function(get_tool_json_schema(tool)) for tool in tools]

        async def run():
            await asyncio.to_thread(agent.run, "go", max_steps=3)
        yield run


def smolagents_calling(script):
    return smolagents(script, calling=True)


@contextlib.asynccontextmanager
async def strands(script):
    import mcp
    from strands import Agent
    from strands.models import Model
    from strands.tools.mcp import MCPClient

    class Scripted(Model):
        def update_config(self, **_):
            pass

        def get_config(self):
            return {}

        def structured_output(self, *_, **__):
            raise NotImplementedError

        async def stream(self, messages, tool_specs=None, system_prompt=None, **_):
            script.system = system_prompt
            script.tools = [{"name": tool["name"], "parameters": tool["inputSchema"]["json"]}
                            for tool in tool_specs]
            call = script.turn([block["text"] for message in messages
                                for part in message["content"] if "toolResult" in part
                                for block in part["toolResult"]["content"]])
            start = {"toolUse": {"toolUseId": "c1", "name": call[0]}} if call else {}
            delta = {"toolUse": {"input": json.dumps(call[1])}} if call else {"text": "done"}
            yield {"messageStart": {"role": "assistant"}}
            yield {"contentBlockStart": {"start": start}}
            yield {"contentBlockDelta": {"delta": delta}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "tool_use" if call else "end_turn"}}

    parameters = mcp.StdioServerParameters(**SERVER)
    with MCPClient(lambda: mcp.stdio_client(parameters), startup_timeout=60) as client:
        def ask():
            Agent(model=Scripted(), tools=client.list_tools_sync(), callback_handler=None)("go")

        async def run():
            await asyncio.to_thread(ask)
        yield run


# The program ------------------------------------------------------------------

# The package of each probe.
PACKAGES = {
    openai_agents: "openai-agents", openai_agents_strict: "openai-agents",
    google_genai: "google-genai",
    pydantic_ai: "pydantic-ai-slim", pydantic_ai_strict: "pydantic-ai-slim",
    fastmcp: "fastmcp", llama_index: "llama-index-tools-mcp",
    langchain: "langchain-mcp-adapters", langchain_strict: "langchain-mcp-adapters",
    mcp_use: "mcp-use", smolagents: "smolagents", smolagents_calling: "smolagents",
    strands: "strands-agents",
}


def said(error):
    """Returns the text of an exception, and of those in a group."""
    inner = [said(one) for one in getattr(error, "exceptions", [])]
    return "\n".join([f"{type(error).__name__}: {error}", *inner])


async def main():
    probe = next(probe for probe in PACKAGES if probe.__name__ == NAME)
    script, answers = Script(), []
    async with probe(script) as run:
        for tool, arguments in json.loads(CALLS):
            if "ids" in arguments and arguments["ids"] is None:
                found = ROW.findall("".join(answers[0].get("texts") or []))
                arguments = {**arguments, "ids": found[:2]}
            script.call, script.given = (tool, arguments), None
            try:
                await run()
                answers.append({"texts": script.given})
            except Exception as error:  # A finding, which frameworks.py judges.
                answers.append({"raised": said(error)})
    version = importlib.metadata.version(PACKAGES[probe])
    return {"version": version, "tools": script.tools, "system": script.system, "answers": answers}


if __name__ == "__main__":
    print("\n" + json.dumps(asyncio.run(main()), ensure_ascii=False))
