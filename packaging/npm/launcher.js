#!/usr/bin/env node
// Starts the program of this platform, which npm installed as a package of its own.
//
// The program gets this process's stdin, stdout and stderr. Signals are passed on, and the exit
// code is the program's, so that a client that ends this process ends the server, too.

"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

// The program does not know this variable.
const { DAYSHEET_BINARY: chosen, ...env } = process.env;

/** Returns the path of the program, or ends with the next step if it is missing. */
function program() {
  if (chosen) return chosen;
  const name = `@daysheet/${process.platform}-${process.arch}`;
  const file = process.platform === "win32" ? "daysheet.exe" : "daysheet";
  try {
    return require.resolve(`${name}/bin/${file}`);
  } catch {
    console.error(
      `daysheet: the package ${name} is not installed: install daysheet again without ` +
        "--omit=optional, or set DAYSHEET_BINARY to a program that you have built",
    );
    process.exit(1);
  }
}

const path = program();
const child = spawn(path, process.argv.slice(2), { stdio: "inherit", env });

child.on("error", (error) => {
  console.error(`daysheet: ${path} does not start (${error.code}): install daysheet again`);
  process.exit(1);
});

// A terminal sends these to both processes; the program ends first, and this one after it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
  process.on(signal, () => child.kill(signal));
}

child.on("exit", (code, signal) => {
  process.exit(signal ? 128 + constants.signals[signal] : code);
});
