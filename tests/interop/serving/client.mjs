// The official TypeScript client over HTTP; for mcp_http.py.
//
//   node client.mjs URL MODE [oauth CALLBACK]
//
// MODE is legacy, auto or a version of the protocol. A token may stand in TOKEN. With
// `oauth` the client signs in by its own code: it prints the address of the sign-in page as
// a line {"visit": …} and reads where the pages led from stdin. Then each line of stdin is
// [METHOD, PARAMS] of the client's, and each line of stdout its result or {"failed": …}.

import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";

const [url, mode, oauth, callback] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (value) => console.log(JSON.stringify(value));
const read = async () => (await lines.next()).value;

const kept = {};
const authProvider = oauth && {
  get redirectUrl() { return callback; },
  get clientMetadata() {
    return {
      client_name: "interop",
      application_type: "native",
      redirect_uris: [callback],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  },
  state: () => (kept.state ??= crypto.randomUUID()),
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  redirectToAuthorization: (address) => { kept.visit = address.href; },
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  codeVerifier: () => kept.verifier,
  saveDiscoveryState: (state) => { kept.discovery = state; },
  discoveryState: () => kept.discovery,
};

const transport = () =>
  new StreamableHTTPClientTransport(new URL(url), {
    authProvider,
    requestInit: process.env.TOKEN && { headers: { authorization: `Bearer ${process.env.TOKEN}` } },
  });
const client = () =>
  new Client(
    { name: "interop", version: "1" },
    { versionNegotiation: { mode: ["legacy", "auto"].includes(mode) ? mode : { pin: mode } } },
  );

let session = client();
try {
  const first = transport();
  try {
    await session.connect(first);
  } catch (error) {
    // The negotiation wraps it in an error of its own.
    if (!kept.visit) throw error;
    say({ visit: kept.visit });
    await first.finishAuth(new URL(await read()).searchParams);
    session = client();
    await session.connect(transport());
  }
  say({ version: session.getNegotiatedProtocolVersion(), scope: kept.tokens?.scope });
} catch (error) {
  say({ failed: String(error) });
  process.exit(1);
}
for (let line = await read(); line !== undefined; line = await read()) {
  const [method, params] = JSON.parse(line);
  try {
    say(await session[method](params));
  } catch (error) {
    say({ failed: String(error) });
  }
}
await session.close();
process.exit(0);
