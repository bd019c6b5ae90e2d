// An issuer for Daysheet over HTTP: oidc-provider, which others wrote.
//
//   node issuer.mjs PORT RESOURCE CALLBACK
//
// Clients register themselves (RFC 7591), bring PKCE, and name RESOURCE (RFC 8707),
// for which they get access tokens that are JWTs with scopes of Daysheet's. Whoever
// signs in on its pages is who they say. The client `daysheet`, for Daysheet's own
// pages and for introspection, is known beforehand and is led back to CALLBACK.

import { Provider, errors } from "oidc-provider";

const [port, resource, callback] = process.argv.slice(2);
const scopes = ["read", "organize", "draft", "send", "full"].map((level) => `daysheet:${level}`);

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "daysheet",
      client_secret: "daysheet-secret",
      application_type: "native",
      redirect_uris: [callback],
      grant_types: ["authorization_code", "refresh_token"],
    },
  ],
  scopes: ["openid", "offline_access", ...scopes],
  claims: { openid: ["sub", "name"] },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, name: id }) }),
  features: {
    clientIdMetadataDocument: { enabled: true, ack: "draft-02" },
    devInteractions: { enabled: true },
    introspection: { enabled: true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      // Without a resource a token opens nothing here.
      defaultResource: () => undefined,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, indicator) => {
        if (indicator !== resource) throw new errors.InvalidTarget();
        return {
          scope: scopes.join(" "),
          audience: indicator,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "RS256" } },
        };
      },
    },
  },
  pkce: { required: () => true },
  issueRefreshToken: (_, client) => client.grantTypeAllowed("refresh_token"),
  rotateRefreshToken: true,
  ttl: { AccessToken: 3600, AuthorizationCode: 60, Grant: 3600, Interaction: 600, Session: 3600 },
  cookies: { keys: ["interop"] },
});
// Who names no scope asks for the least.
provider.use((ctx, next) => {
  if (ctx.path === "/auth" && !ctx.query.scope) ctx.query = { ...ctx.query, scope: scopes[0] };
  return next();
});
provider.on("server_error", (_, error) => console.error(error));
// By default it closes a connection that was idle for five seconds, under clients that go on.
provider.listen(Number(port), "127.0.0.1").keepAliveTimeout = 60_000;
