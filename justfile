# What a contributor types; `just` alone lists it. CONTRIBUTING.md says when to use which.

set positional-arguments := true

# Tests of the core with more than 500 random cases.
slow_tests := "any_blocks_can_be_planned windows_fit_the_budget_and_grow_with_it gap:: every_document_ random:: fit::any_answer_keeps_the_budget_invariants vocabularies_are_current"

_list:
    @{{ just_executable() }} --list --unsorted

# Build the program.
build:
    cargo build

# Run all tests.
test *args:
    cargo test --no-fail-fast "$@"

# Run the tests of one suite whose path contains NAME: `just t core text::`, `just t it send::`.
t suite *args:
    cargo test --test "$@"

# Run the tests of the core, without the long random runs, and those of the adapters.
fast:
    cargo test --test core -- {{ prepend("--skip ", slow_tests) }}
    cargo test --test adapters

# Rewrite stale generated files, except the vocabularies: the first run writes and fails, the second has to pass. A task that costs more than docs/reference/requests.md says fails both.
fix:
    -cargo test --test it -- generated:: levels::docs_describe_what_each_level_allows requests::
    cargo test --test it -- generated:: levels::docs_describe_what_each_level_allows requests::

# Format.
fmt:
    cargo fmt --all

# Check formatting and lints, as the gate does.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
    cargo clippy --no-default-features --locked -- -D warnings

# Run the gate.
gate:
    .ci/run

# Run all benchmarks of docs/concepts/benchmarks.md and write it (`just bench page --mail DIR` with tokens and budgets of your own mail), or some: `just bench tokens budget`. `cargo bench` lists them.
bench *names:
    if [ $# = 0 ]; then set -- page; fi; cargo bench -- "$@"

# Set other people's servers beside ours on the same tasks, and write docs/concepts/peers.md; on Linux.
peers *rows:
    cargo build --profile dist
    tests/interop/peers/run target/dist/daysheet --page docs/concepts/peers.md "$@"

# Make the packages of a release with the static program, install them and start it from them; on Linux on x86-64.
release:
    rustup target add x86_64-unknown-linux-musl
    cargo build --all-features --locked
    cargo build --release --locked --bin daysheet --target x86_64-unknown-linux-musl
    DAYSHEET_RELEASE_BINARY=target/x86_64-unknown-linux-musl/release/daysheet tests/interop/run target/debug/daysheet release

# Mutate one file and run the tests of its crate; of the program, the tests nearest to it, or those named.
mutants file *tests:
    cargo mutants --file {{ file }} -- {{ if tests == "" { "$('" + just_executable() + "' _nearest " + file + ")" } else { tests } }}

# Feed a target of `fuzz/` with what a fuzzer makes up; needs cargo-fuzz.
fuzz target seconds="60":
    cp Cargo.lock fuzz/Cargo.lock
    python3 fuzz/seed.py
    cargo fuzz run -O -s none {{ target }} -- -max_total_time={{ seconds }} -timeout=10 -dict=fuzz/corpus/{{ target }}.dict

# What of the program's tests is nearest to a file: by this table, else by its name or that of a folder it is in; all of them if nothing is.
_nearest file:
    #!/usr/bin/env bash
    case $1 in
        src/core/* | schemas/* | providers/*) exit ;;
        src/oauth* | src/accounts*) near=sign_in:: ;;
        src/tools*) near="generated:: request:: args::" ;;
        src/main.rs) near=cli:: ;;
        src/pipeline/access/*) near="reach:: checks::" ;;
        src/pipeline/answer/*) near="outputs:: merge::" ;;
        src/pipeline/settings/*) near=manage:: ;;
        src/pipeline/mail/draft/*) near=drafts:: ;;
        src/pipeline/mail/search* | src/pipeline/mail/gather*) near="merge:: gmail::" ;;
        src/pipeline/mail/read/* | src/pipeline/lookup* | src/pipeline/changes*) near="gmail:: both::" ;;
        *)
            path=${1%.rs}
            until [ "$path" = . ] || [ -e "tests/it/${path##*/}.rs" ]; do path=$(dirname "$path"); done
            if [ "$path" != . ]; then near="${path##*/}::"; fi
            ;;
    esac
    echo "--test it -- $near"

# Build the docs of the code.
doc *args:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items --all-features --locked "$@"

# Build the pages of docs/ as a site, below target/site; installs mdBook if it is missing.
docs:
    mdbook --version >/dev/null 2>&1 || cargo install mdbook --version 0.5.4 --locked
    mdbook build

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
