// Mounts oidc-provider, an authorization server that others wrote, where
// Microsoft and Google have theirs; for oidc.py.
//
//   node oidc.mjs PORT
//
// Its own pages ask who one is and whether one consents. Every client here has
// to bring PKCE, and every refresh rotates the refresh token; one that is used
// twice ends its grant. What the partner does not do by itself is done around
// it, and nothing else:
// - paths: it knows one endpoint of a kind, the providers put it elsewhere.
// - `prompt`: it drops `offline_access` unless the prompt is `consent`, which
//   Microsoft does not ask for.
// - `interval` and `slow_down` of RFC 8628: it sends neither. Here codes are
//   polled every second, and one poll of a client in SLOWED is told to slow down.
// - revocation without a client: Google takes the token alone.
// Under /control the test reads what happened and delays token answers.

import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Provider, errors } from "oidc-provider";

const port = Number(process.argv[2]);
const base = `http://127.0.0.1:${port}`;

const GOOGLE = { client_id: "interop.apps.googleusercontent.com", client_secret: "interop-secret" };
const SCOPES = [
  "openid", "profile", "email", "offline_access",
  "User.Read", "Mail.Read", "Mail.Read.Shared", "MailboxSettings.Read", "Contacts.Read", "People.Read",
  "Calendars.ReadWrite", "Calendars.ReadWrite.Shared",
  "https://www.googleapis.com/auth/gmail.readonly",
  "https://www.googleapis.com/auth/contacts.readonly",
  "https://www.googleapis.com/auth/contacts.other.readonly",
];
const CODE = "urn:ietf:params:oauth:grant-type:device_code";
// Seconds that an access token and a device code last; clients may have others.
const ACCESS = 2;
const DEVICE = 120;
const BRIEF = "interop-brief";
const SLOWED = "interop-slowed";
// Access tokens of this client are fresh for two seconds even to a program that
// wants a minute to spare.
const LONGER = "interop-longer";

// Kept for good, unlike in the partner's own memory, which forgets the oldest of
// a thousand: a refresh token that was used must be known as such.
const storage = new Map();
class Memory {
  constructor(model) {
    this.model = model;
  }
  key(id) {
    return `${this.model}:${id}`;
  }
  async upsert(id, payload) {
    storage.set(this.key(id), { ...payload });
  }
  async find(id) {
    return storage.get(this.key(id));
  }
  async by(name, value) {
    for (const [key, payload] of storage) {
      if (key.startsWith(`${this.model}:`) && payload[name] === value) return payload;
    }
    return undefined;
  }
  async findByUid(uid) {
    return this.by("uid", uid);
  }
  async findByUserCode(userCode) {
    return this.by("userCode", userCode);
  }
  async consume(id) {
    storage.get(this.key(id)).consumed = Math.floor(Date.now() / 1000);
  }
  async destroy(id) {
    storage.delete(this.key(id));
  }
  async revokeByGrantId(grantId) {
    for (const [key, payload] of storage) {
      if (payload.grantId === grantId) storage.delete(key);
    }
  }
}

const native = {
  application_type: "native",
  response_types: ["code"],
  redirect_uris: ["http://localhost", "http://localhost/", "http://127.0.0.1/"],
};
const publicClient = (client_id) => ({
  ...native,
  client_id,
  grant_types: ["authorization_code", "refresh_token", CODE],
  token_endpoint_auth_method: "none",
});
const killed = Array.from({ length: 10 }, (_, number) => `interop-killed-${number}`);

const provider = new Provider(base, {
  adapter: Memory,
  clients: [
    ...["interop", BRIEF, SLOWED, LONGER, ...killed].map(publicClient),
    {
      ...native,
      ...GOOGLE,
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "client_secret_post",
    },
    {
      client_id: "gate",
      client_secret: "gate-secret",
      grant_types: [],
      response_types: [],
      redirect_uris: [],
      token_endpoint_auth_method: "client_secret_basic",
    },
  ],
  scopes: SCOPES,
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  features: {
    deviceFlow: { enabled: true },
    introspection: { enabled: true },
    revocation: { enabled: true },
    devInteractions: { enabled: true },
  },
  pkce: { required: () => true },
  issueRefreshToken: (_, client) => client.grantTypeAllowed("refresh_token"),
  rotateRefreshToken: true,
  routes: {
    authorization: "/authorize",
    token: "/token",
    device_authorization: "/devicecode",
    revocation: "/revoke",
    introspection: "/introspect",
  },
  ttl: {
    AccessToken: (_, __, client) => (client.clientId === LONGER ? 62 : ACCESS),
    DeviceCode: (_, __, client) => (client.clientId === BRIEF ? 3 : DEVICE),
    AuthorizationCode: 60,
    Grant: 3600,
    Interaction: 600,
    RefreshToken: 3600,
    Session: 3600,
  },
  cookies: { keys: ["interop"] },
});

// What happened, by client and grant type.
const seen = {};
const count = (client, what) => {
  seen[client] ??= {};
  seen[client][what] = (seen[client][what] ?? 0) + 1;
};
provider.on("refresh_token.consumed", (token) => count(token.clientId, "rotated"));
provider.on("grant.revoked", (ctx) => count(ctx.oidc.client?.clientId, "grant revoked"));

// Milliseconds that a token request of a client waits before it is worked on,
// and before its answer is sent.
const delays = {};
const polls = new Map();

provider.use(async (ctx, next) => {
  if (ctx.path === "/devicecode") {
    await next();
    if (ctx.status === 200) ctx.body = { ...ctx.body, interval: 1 };
    return;
  }
  if (ctx.path !== "/token") {
    await next();
    return;
  }
  const form = ctx.req.body;
  const client = form.client_id ?? "";
  const kind = form.grant_type === CODE ? "device_code" : form.grant_type;
  const { before = 0, after = 0 } = delays[client] ?? {};
  count(client, `${kind}: asked`);
  await sleep(before);
  // Whoever has gone meanwhile never got through.
  if (ctx.req.socket.destroyed) return;
  const poll = (polls.get(form.device_code) ?? 0) + 1;
  if (kind === "device_code") polls.set(form.device_code, poll);
  if (client === SLOWED && kind === "device_code" && poll === 2) {
    const slow = new errors.SlowDown();
    ctx.status = slow.statusCode;
    ctx.body = { error: slow.error, error_description: slow.error_description };
  } else {
    await next();
  }
  const outcome = ctx.status === 200 ? "granted" : ctx.body?.error;
  count(client, `${kind}: ${outcome}`);
  await sleep(after);
  ctx.res.on("finish", () => count(client, `${kind}: sent`));
});
provider.on("grant.error", (ctx, error) => {
  if (/already used/.test(error.error_detail ?? "")) {
    count(ctx.oidc.client?.clientId, "reuse");
  }
});

const serve = provider.callback();

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
}

function control(url, response) {
  if (url.pathname === "/control/delay") {
    const { client, before, after } = Object.fromEntries(url.searchParams);
    delays[client] = { before: Number(before), after: Number(after) };
  }
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(seen));
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, base);
  if (url.pathname.startsWith("/control/")) {
    control(url, response);
    return;
  }
  const entra = /^\/[^/]+\/oauth2\/v2\.0\/(authorize|token|devicecode)$/.exec(url.pathname);
  if (entra) {
    url.pathname = `/${entra[1]}`;
    if (entra[1] === "authorize") url.searchParams.set("prompt", "consent");
  } else if (url.pathname === "/o/oauth2/v2/auth") {
    url.pathname = "/authorize";
  }
  request.url = url.pathname + url.search;
  if (request.method === "POST" && ["/token", "/revoke"].includes(url.pathname)) {
    request.body = await bodyOf(request);
    if (url.pathname === "/revoke") Object.assign(request.body, GOOGLE);
  }
  await serve(request, response);
});
// By default it closes a connection six seconds after its last answer, the very
// moment of the next poll after `slow_down`.
server.keepAliveTimeout = 60_000;
server.listen(port, "127.0.0.1", () => console.log(`listening ${port}`));
