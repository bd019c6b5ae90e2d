# What a contributor types; `just` alone lists it. CONTRIBUTING.md says when to use which.

set positional-arguments := true

# The test files that start neither the sandbox nor the program.
fast_files := "arrange budget checks compose config drafts encode files fit free generated hiding ical import layers merge modify outlook_recurrence outputs outward pipeline promises queries query reach recurrence registry request save send sign_in stc store text times unsubscribe verdicts zones"

# What of them is left out: more than 500 random cases, and what starts the sandbox after all.
slow_tests := "any_blocks_are_planned windows_fit_and_grow gap:: every_document_ random:: fit::invariants vocabularies_are_current answers_say_what_json_says"

_list:
    @{{ just_executable() }} --list --unsorted

# Build the program.
build:
    cargo build

# Run all tests.
test *args:
    cargo test "$@"

# Run the tests whose path contains NAME: `just t registry::`.
t name *args:
    cargo test --test it "$@"

# Run the tests that need no sandbox and no long property runs.
fast:
    @{{ just_executable() }} {{ if `cargo nextest --version 2>/dev/null || true` == "" { "_fast-cargo" } else { "_fast-nextest" } }}

_fast-nextest:
    cargo nextest run --test it -E 'test(/^({{ replace(fast_files, " ", "|") }})::/) - test(/{{ replace(slow_tests, " ", "|") }}/)'

# A filter of libtest's matches anywhere in a path, hence the six at the end.
_fast-cargo:
    cargo test --test it -- {{ append("::", fast_files) }} {{ prepend("--skip ", slow_tests + " gmail_writes:: google_calendar:: outlook_writes:: outlook_calendar:: sandbox_mail:: sandbox_graph_mail::") }}

# Rewrite stale generated files: the first run writes and fails, the second has to pass.
fix:
    -cargo test --test it -- generated:: levels::the_docs_say_what_each_level_does
    cargo test --test it -- generated:: levels::the_docs_say_what_each_level_does

# Format.
fmt:
    cargo fmt --all

# Check formatting and lints, as the gate does.
lint:
    cargo fmt --all --check
    cargo clippy --all-targets --locked -- -D warnings
    cargo clippy --all-targets --no-default-features --locked -- -D warnings

# Run the gate.
gate:
    .ci/run

# Run a benchmark; without a name, list them.
bench name="" *args:
    @{{ if name == "" { "ls benches/*.rs | xargs -n1 basename -s .rs" } else { 'cargo bench --bench "$@"' } }}

# Mutate one file and run the tests nearest to it, or those named: `just mutants src/core/query.rs`.
mutants file *tests:
    cargo mutants --file {{ file }} -- --test it -- {{ if tests == "" { "$('" + just_executable() + "' _nearest " + file + ")" } else { tests } }}

# The tests nearest to a file: by this table, else by its name or that of a folder it is in; all of them if there are none.
_nearest file:
    #!/usr/bin/env bash
    case $1 in
        schemas/* | src/project* | src/flatten* | src/row* | src/describe*) echo registry:: ;;
        src/core/text/html*) echo hiding:: text:: ;;
        src/core/text/verdict*) echo verdicts:: ;;
        src/when*) echo times:: zones:: ;;
        src/oauth* | src/accounts*) echo sign_in:: ;;
        src/tools*) echo generated:: request:: ;;
        src/access*) echo levels:: ;;
        src/main.rs) echo cli:: ;;
        src/pipeline/access/*) echo reach:: checks:: ;;
        src/pipeline/answer/*) echo fit:: outputs:: merge:: ;;
        src/pipeline/settings/*) echo arrange:: ;;
        src/pipeline/mail/compose/*) echo drafts:: ;;
        src/pipeline/mail/search* | src/pipeline/mail/gather*) echo merge:: gmail:: ;;
        src/body* | src/pipeline/mail/read/* | src/pipeline/lookup* | src/pipeline/changes*) echo gmail:: both:: ;;
        providers/google/calendar/*) echo google_calendar:: ;;
        providers/google/*) echo gmail:: gmail_writes:: ;;
        providers/microsoft/calendar/recurrence/*) echo outlook_recurrence:: ;;
        providers/microsoft/calendar/*) echo outlook_calendar:: ;;
        providers/microsoft/mail/query/*) echo queries:: both:: ;;
        providers/microsoft/*) echo outlook:: outlook_writes:: ;;
        providers/sandbox/*) echo sandbox ;;
        *)
            path=${1%.rs}
            until [ "$path" = . ] || [ -e "tests/it/${path##*/}.rs" ]; do path=$(dirname "$path"); done
            if [ "$path" != . ]; then echo "${path##*/}::"; fi
            ;;
    esac

# Build the docs of the code.
doc *args:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items --locked "$@"

# Show the main job on the sandbox.
demo *args:
    cargo run -- demo "$@"

# Call one tool on the sandbox: `just call mail_search q='in:inbox from:priya' limit=5`.
call *args:
    cargo run --quiet -- call "$@" --sandbox

# Serve MCP over stdio on the sandbox.
serve *args:
    cargo run --quiet -- serve --sandbox "$@"

# Run the sandbox alone, on a port of its own.
sandbox *args:
    cargo run --quiet -- sandbox "$@"
