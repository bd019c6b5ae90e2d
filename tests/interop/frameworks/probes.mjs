// One JavaScript agent framework beside `daysheet serve --sandbox`, for frameworks.py.
//
//   node probes.mjs FRAMEWORK BINARY CALLS
//
// As in probes.py, the framework's own agent runs with a scripted model, and one JSON object with
// what the framework sends to the model is printed. Both frameworks take the AI SDK's mock model.

import { readFileSync } from "node:fs";
import { MockLanguageModelV4 } from "ai/test";

const [name, binary, calls] = process.argv.slice(2);
const SERVER = {
  command: binary,
  args: ["serve", "--sandbox", "--access", "full"],
  env: process.env,
};
const ROW = / {2}(m\d+)(?=\\*t|\t)/g;
const script = { call: null, given: null, tools: null, system: "" };

// The texts of a tool's output in the form that providers of the AI SDK read.
function textsOf(output) {
  if (output.type === "content") return output.value.map((part) => part.text);
  return [typeof output.value === "string" ? output.value : JSON.stringify(output.value)];
}

function answer({ prompt, tools }) {
  script.tools = tools.map((tool) => ({ name: tool.name, parameters: tool.inputSchema }));
  const system = prompt.filter((message) => message.role === "system");
  script.system = system.map((message) => message.content).join("\n");
  const outputs = prompt
    .filter((message) => message.role === "tool")
    .flatMap((message) => message.content.map((part) => part.output));
  script.given = outputs.length === 0 ? null : outputs.flatMap(textsOf);
  const [toolName, input] = script.call;
  const content = script.given
    ? { type: "text", text: "done" }
    : { type: "tool-call", toolCallId: "c1", toolName, input: JSON.stringify(input) };
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const unified = script.given ? "stop" : "tool-calls";
  return { content: [content], finishReason: { unified, raw: unified }, usage, warnings: [] };
}

const model = new MockLanguageModelV4({ doGenerate: async (options) => answer(options) });

const probes = {
  // https://ai-sdk.dev: the tools of its MCP client in generateText.
  async ai_sdk() {
    const { generateText, stepCountIs } = await import("ai");
    const { createMCPClient } = await import("@ai-sdk/mcp");
    const { Experimental_StdioMCPTransport } = await import("@ai-sdk/mcp/mcp-stdio");
    const client = await createMCPClient({ transport: new Experimental_StdioMCPTransport(SERVER) });
    const tools = await client.tools();
    return {
      run: () => generateText({ model, tools, prompt: "go", stopWhen: stepCountIs(3) }),
      close: () => client.close(),
    };
  },

  async mastra() {
    const { Agent } = await import("@mastra/core/agent");
    const { MCPClient } = await import("@mastra/mcp");
    const client = new MCPClient({ servers: { daysheet: SERVER } });
    const agent = new Agent({
      id: "probe",
      name: "probe",
      instructions: "go",
      model,
      tools: await client.listTools(),
    });
    return { run: () => agent.generate("go", { maxSteps: 3 }), close: () => client.disconnect() };
  },
};

const packages = { ai_sdk: "ai", mastra: "@mastra/mcp" };

const { run, close } = await probes[name]();
const answers = [];
for (const [tool, given] of JSON.parse(calls)) {
  const input = { ...given };
  if (input.ids === null) {
    input.ids = [...answers[0].texts.join("").matchAll(ROW)].slice(0, 2).map((found) => found[1]);
  }
  // Mastra puts the name of the server before the name of the tool.
  script.call = [name === "mastra" ? `daysheet_${tool}` : tool, input];
  script.given = null;
  try {
    await run();
    answers.push({ texts: script.given });
  } catch (error) {
    // A finding, which frameworks.py judges.
    answers.push({ raised: `${error.name}: ${error.message}` });
  }
}
await close();
const manifest = new URL(`node_modules/${packages[name]}/package.json`, import.meta.url);
const { version } = JSON.parse(readFileSync(manifest, "utf8"));
console.log(`\n${JSON.stringify({ version, ...script, answers })}`);
