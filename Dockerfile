# syntax=docker/dockerfile:1
# The server as an image: only the program, run by an unprivileged user; the file system may be
# read-only. See docs/guide/serving.md and compose.yaml.

FROM rust:1.95-bookworm AS build
WORKDIR /daysheet
COPY . .
# Without keychain support: a container has no keychain. Relocations are packed, which the C
# library of this image can read and older ones cannot: 2.7 MB less to load.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/daysheet/target \
    RUSTFLAGS="-C link-arg=-Wl,-z,pack-relative-relocs" \
    cargo build --profile dist --locked --bin daysheet \
      --no-default-features --features documents,google,microsoft,http,postgres,sandbox,telemetry \
 && install -D target/dist/daysheet /image/usr/local/bin/daysheet \
 && install -d -m 0700 /image/state

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build --chown=nonroot:nonroot /image/state /state
COPY --from=build /image/usr /usr
ENV DAYSHEET_HOME=/state
EXPOSE 8750
# The image has no shell and no HTTP client: whatever starts the container checks /healthz (is
# it alive?) and /readyz (can it take requests?).
HEALTHCHECK NONE
ENTRYPOINT ["/usr/local/bin/daysheet"]
# Plain HTTP, for a balancer that terminates TLS.
CMD ["serve", "--http", "0.0.0.0:8750", "--behind-proxy"]
