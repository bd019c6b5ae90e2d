//! Text of `--help` below the options: the settings, and examples. The texts of options and
//! commands are in their doc comments.

/// The settings, in groups.
pub(super) const ENVIRONMENT: &str = "\
Settings, as environment variables. In the settings file, DAYSHEET_ACCESS is the key access, and
DAYSHEET_HTTP_ISSUER is the key issuer in the section [http].

Files:
  DAYSHEET_HOME                    state folder (default: the platform's data folder)
  DAYSHEET_CONFIG                  settings file (default: config.toml in the state folder)

Sign-in to mailboxes:
  DAYSHEET_GOOGLE_CLIENT_ID        OAuth client of your Google Cloud project
  DAYSHEET_GOOGLE_CLIENT_SECRET    its secret
  DAYSHEET_GOOGLE_CREDENTIALS      instead of both: credentials.json as downloaded from Google
  DAYSHEET_GOOGLE_SERVICE_ACCOUNT  JSON key of a service account with domain-wide delegation, for
                                   account add google --mailbox USER@DOMAIN
  DAYSHEET_MICROSOFT_CLIENT_ID     app registration in Microsoft Entra
  DAYSHEET_MICROSOFT_CLIENT_SECRET its secret, which public clients do not have
  DAYSHEET_MICROSOFT_TENANT        common (default), organizations, consumers, or the GUID or
                                   domain of a directory

Database and keys:
  DAYSHEET_DATABASE                postgres://user:password@host/name, if several instances share
                                   the state (default: SQLite in the state folder)
  DAYSHEET_DATABASE_CONNECTIONS    maximum number of connections to it per process (default: 10)
  DAYSHEET_KEY_STORE               where Daysheet keeps the key that encrypts tokens: keychain
                                   (default; file where there is none) or file
  DAYSHEET_KEYS_FILE, DAYSHEET_KEYS_VALUE, DAYSHEET_KEYS_COMMAND
                                   your own master key instead: a file, the key itself, or a
                                   command that prints it; 32 bytes in Base64 (daysheet store
                                   new-key), with former keys on the lines below
  DAYSHEET_RETENTION_AUDIT, DAYSHEET_RETENTION_SENDS, DAYSHEET_RETENTION_UNDOS,
  DAYSHEET_RETENTION_OUTPUTS, DAYSHEET_RETENTION_CURSORS
                                   days to keep rows (default: 0 for the audit log, which means
                                   for ever, 400 for sends, 30 for the others)

Access and sending:
  DAYSHEET_ACCESS                  what may be changed: read, organize, draft (default), send
                                   or full; read beats --access
  DAYSHEET_TOOLS                   the tools to offer, by name prefix; accounts, lookup and
                                   output_read are always offered
  DAYSHEET_FILES                   folders to attach files from and save them to (default:
                                   Daysheet in the downloads folder)
  DAYSHEET_LARGEST_FILE            the largest such file in MiB (default: 25)
  DAYSHEET_RECIPIENTS              the only addresses and @domains that mail may go to
  DAYSHEET_NEW_RECIPIENTS          confirm (default), refuse or allow mail to people never
                                   written to, once untrusted text has been shown
  DAYSHEET_CONFIRM                 possible (default): the user is asked before mail is sent if the
                                   client can ask; always: all that reaches other people needs the
                                   user's approval
  DAYSHEET_APPROVE                 where the user approves such writes if the client cannot ask:
                                   card (default: in the chat, or else as page), page (or in a
                                   terminal), terminal, or never
  DAYSHEET_REMOTE_PICTURES         drop (default) or allow remote pictures in written mail
  DAYSHEET_SENDS_PER_HOUR, DAYSHEET_RECIPIENTS_PER_HOUR
                                   caps (default: 30 and 200)
  DAYSHEET_MICROSOFT_SIGNATURE     signature of mail from Outlook: text or HTML

Answers:
  DAYSHEET_FORMAT                  toon (default), json or stc
  DAYSHEET_DELIMITER               tab (default), comma or pipe
  DAYSHEET_BUDGET                  maximum number of tokens of an answer (default: 8000)
  DAYSHEET_RESERVE                 tokens of each budget that answers leave free (default: 0)
  DAYSHEET_TOKENIZER               o200k (default) or cl100k
  DAYSHEET_VALUES                  what an answer keeps longest, as tool=function, separated by
                                   commas (docs/concepts/budget.md)
  DAYSHEET_STATS                   whether answers have their size in _meta: asked (default: if the
                                   request's _meta has daysheet/stats: true) or always
  DAYSHEET_OUTPUTS                 where shortened answers are stored in full: memory (default)
                                   or disk
  DAYSHEET_ZONE                    IANA time zone of shown times (default: the system's)
  DAYSHEET_SANDBOX_NOW             the instant at which the clock stands still over a sandbox, such
                                   as 2026-11-16T11:05+01:00; the samples are moved to its week
                                   (default: the clock runs, and they are moved to this week)

HTTP server (serve --http):
  DAYSHEET_HTTP_PUBLIC_URL         URL by which clients reach serve --http, such as
                                   https://mail.example.com
  DAYSHEET_HTTP_HOSTS, DAYSHEET_HTTP_ORIGINS
                                   further values of Host and Origin to accept, separated by
                                   commas (default: only those of the public URL)
  DAYSHEET_HTTP_CERTIFICATE, DAYSHEET_HTTP_KEY
                                   PEM files for TLS: certificate chain and private key
  DAYSHEET_HTTP_PROXY              off (default), or on: a proxy terminates TLS (--behind-proxy)
  DAYSHEET_HTTP_LOG                auto (default: text on a terminal, else json), text or json
  DAYSHEET_HTTP_METRICS            address for Prometheus, such as 127.0.0.1:9464 (default: none)
  OTEL_EXPORTER_OTLP_ENDPOINT      where to export traces by OTLP, such as http://127.0.0.1:4318
                                   (default: no export)
  DAYSHEET_HTTP_ISSUER             OIDC issuer whose access tokens are accepted (--issuer)
  DAYSHEET_HTTP_AUDIENCE           audience of these tokens (default: the public URL of /mcp)
  DAYSHEET_HTTP_ALGORITHMS         allowed signature algorithms, such as RS256,ES256 (default: all
                                   supported ones, which are asymmetric)
  DAYSHEET_HTTP_SCOPE_PREFIX       prefix of daysheet:read and the other scopes in requests of
                                   clients (default: none)
  DAYSHEET_HTTP_INTROSPECTION      off (default), or on: accept opaque tokens, and ask the issuer
                                   about them
  DAYSHEET_HTTP_CLIENT_ID, DAYSHEET_HTTP_CLIENT_SECRET
                                   the server's own client at the issuer, for the pages and
                                   introspection
  DAYSHEET_HTTP_TOKEN_FILE         file with hashes of static tokens, instead of an issuer
                                   (--token-file; daysheet token)

Limits of the HTTP server:
  DAYSHEET_LIMITS_CALLS_AT_ONCE, DAYSHEET_LIMITS_CALLS_PER_MINUTE,
  DAYSHEET_LIMITS_TOKENS_PER_DAY   limits of each person (default: 8, 120, and 0 for no limit)
  DAYSHEET_LIMITS_UPSTREAM_AT_ONCE requests to providers at once, for all people together
                                   (default: 256)
  DAYSHEET_LIMITS_REQUESTS_AT_ONCE requests to the server at once, from all people together
                                   (default: 1024)

Other:
  DAYSHEET_BROWSER                 open (default) or print the address of a sign-in page
  DAYSHEET_LOG                     log filter for stderr, such as debug (default: warn)
  DAYSHEET_GMAIL_URL, DAYSHEET_GOOGLE_CALENDAR_URL, DAYSHEET_GOOGLE_PEOPLE_URL,
  DAYSHEET_GOOGLE_AUTH_URL, DAYSHEET_GOOGLE_TOKEN_URL, DAYSHEET_GOOGLE_REVOKE_URL
                                   other endpoints, such as gmail in the section [endpoints];
                                   plain http on loopback only
  DAYSHEET_GRAPH_URL, DAYSHEET_MICROSOFT_AUTHORITY_URL
                                   the same for Microsoft, such as a national cloud

Only in the settings file:
  [token_command]                  commands that print access tokens, by account, such as
                                   \"google:me@example.com\" = [\"gcloud\", \"auth\",
                                   \"print-access-token\"]; then run account add google
                                   --hint me@example.com";

/// Example calls of `daysheet serve`.
#[cfg(feature = "http")]
pub(super) const SERVE_EXAMPLES: &str = "\
Examples:
  daysheet serve
  daysheet serve --http 127.0.0.1:8750
  daysheet serve --http 0.0.0.0:8750 --public-url https://mail.example.com --behind-proxy \\
    --token-file tokens.txt
  daysheet serve --http 0.0.0.0:8750 --public-url https://mail.example.com --behind-proxy \\
    --issuer https://id.example.com/realms/team";
