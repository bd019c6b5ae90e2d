// The official TypeScript client over stdio; for release.py.
//
//   node list_tools.mjs COMMAND [ARGUMENT…]
//
// Prints the names of the server's tools as JSON.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "interop", version: "1" });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
const { tools } = await client.listTools();
console.log(JSON.stringify(tools.map((tool) => tool.name).sort()));
await client.close();
