//! The pages of the providers' consoles in order, and the programs that can replace some of them.

use std::process::{Command, Stdio};

/// A page of a console.
pub(super) struct ConsolePage {
    pub(super) url: &'static str,
    /// The entries to make on it.
    pub(super) entries: &'static str,
}

/// A command that does the work of a page.
pub(super) struct ConsoleProgram {
    pub(super) program: &'static str,
    /// Arguments that succeed with a line if the program is signed in.
    signed_in: &'static [&'static str],
    pub(super) args: &'static [&'static str],
    /// The effect, for the question.
    pub(super) effect: &'static str,
}

/// The pages of Google's console.
const GOOGLE: &[ConsolePage] = &[
    ConsolePage {
        url: "https://console.cloud.google.com/projectcreate",
        entries: "Enter any project name, and press Create.",
    },
    ConsolePage {
        url: "https://console.cloud.google.com/flows/enableapi?apiid=gmail.googleapis.com,\
              calendar-json.googleapis.com,people.googleapis.com",
        entries: "Choose the project, and enable Gmail API, Google Calendar API and People API.",
    },
    ConsolePage {
        url: "https://console.cloud.google.com/auth/overview",
        entries: "Press Get started. App name: any. Audience: Internal if it is offered, else \
                  External. Then, under Audience, press Publish app: in Testing mode, sign-ins end \
                  after 7 days.",
    },
    ConsolePage {
        url: "https://console.cloud.google.com/auth/clients/create",
        entries: "Application type: Desktop app. Press Create, and download the JSON.",
    },
];

/// The pages of Microsoft's admin center.
const MICROSOFT: &[ConsolePage] = &[
    ConsolePage {
        url: "https://entra.microsoft.com/#view/Microsoft_AAD_RegisteredApps/CreateApplicationBlade",
        entries: "Name: any. Supported account types: any organizational directory and personal \
                  Microsoft accounts. Redirect URI: Public client/native, http://localhost. Press \
                  Register.",
    },
    ConsolePage {
        url: "https://entra.microsoft.com/#view/Microsoft_AAD_RegisteredApps/ApplicationsListBlade",
        entries: "Open the app. Under Authentication, Advanced settings, set Allow public client \
                  flows to Yes, and save. Copy Application (client) ID from its overview.",
    },
];

/// The command that enables Google's APIs in the current project.
const GCLOUD: ConsoleProgram = ConsoleProgram {
    program: "gcloud",
    signed_in: &["auth", "list", "--filter=status:ACTIVE", "--format=value(account)"],
    args: &[
        "services",
        "enable",
        "gmail.googleapis.com",
        "calendar-json.googleapis.com",
        "people.googleapis.com",
    ],
    effect: "enables the APIs of the second page in gcloud's current project",
};

/// The command that registers an app with Microsoft, and prints its id.
const AZ: ConsoleProgram = ConsoleProgram {
    program: "az",
    signed_in: &["account", "show", "--output", "tsv"],
    args: &[
        "ad",
        "app",
        "create",
        "--display-name",
        "Daysheet",
        "--sign-in-audience",
        "AzureADandPersonalMicrosoftAccount",
        "--requested-access-token-version",
        "2",
        "--public-client-redirect-uris",
        "http://localhost",
        "--is-fallback-public-client",
        "true",
        "--query",
        "appId",
        "--output",
        "tsv",
    ],
    effect: "registers an app, instead of the pages below",
};

/// Returns the pages of a provider.
pub(super) fn pages(provider: &str) -> &'static [ConsolePage] {
    if provider == "google" { GOOGLE } else { MICROSOFT }
}

/// Returns the program for a provider, if it is installed and signed in.
pub(super) fn program(provider: &str) -> Option<&'static ConsoleProgram> {
    let program = if provider == "google" { &GCLOUD } else { &AZ };
    let line = program.run(program.signed_in)?;
    (!line.is_empty()).then_some(program)
}

impl ConsoleProgram {
    /// Runs the program, and returns its output if it succeeds.
    pub(super) fn run(&self, args: &[&str]) -> Option<String> {
        let mut command = Command::new(self.program);
        command.args(args).stdin(Stdio::null()).stderr(Stdio::null());
        let output = command.output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}
