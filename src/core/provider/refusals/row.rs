//! The form of a known refusal, and how a row of the table is written.

/// A refusal of a provider that a person can resolve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownRefusal {
    /// The provider's name; empty for both.
    pub provider: &'static str,
    /// The kind of request.
    pub stage: RefusalStage,
    /// Microsoft's numbers, `AADSTS…`.
    pub numbers: &'static [u32],
    /// The codes and reasons of OAuth and of the providers.
    pub words: &'static [&'static str],
    /// Parts of descriptions, in lower case. A description must contain one; empty for any.
    pub phrases: &'static [&'static str],
    /// The texts that a person sees at the provider.
    pub texts: &'static [&'static str],
    /// The problem, as a clause.
    pub why: &'static str,
    /// The next step. Its callers replace `{add}` by the command that signs in, `{setup}` by the
    /// page about the OAuth client, `{client_id}` by a variable, `{api}` by the way to enable APIs,
    /// `{consent}` by the page on which an administrator consents. `{add}` follows `run `, because a
    /// server has a page instead.
    pub next: &'static str,
    /// The effect of a refused refresh on the grant.
    pub end: RefusalMeaning,
}

/// The requests that a refusal concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalStage {
    /// Requests for tokens, by a sign-in or a refresh.
    Tokens,
    /// Only those by a sign-in.
    SignIn,
    /// Only those by a refresh.
    Refresh,
    /// Calls of an API.
    Call,
    /// The provider's page, which does not return to Daysheet.
    Page,
}

/// The effect of a refusal on a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalMeaning {
    /// The OAuth code decides whether the grant has ended.
    AsCoded,
    /// As [`RefusalMeaning::AsCoded`], and the description decides whether it was withdrawn.
    AsDescribed,
    /// As [`RefusalMeaning::AsCoded`], but a grant that ended was withdrawn rather than expired.
    Withdrawn,
    /// The grant has not ended.
    Never,
}

impl KnownRefusal {
    /// Returns a refusal by either provider, with the problem and the next step.
    pub(super) const fn any(
        words: &'static [&'static str],
        [why, next]: [&'static str; 2],
    ) -> Self {
        Self {
            provider: "",
            stage: RefusalStage::Tokens,
            numbers: &[],
            words,
            phrases: &[],
            texts: &[],
            why,
            next,
            end: RefusalMeaning::AsCoded,
        }
    }

    /// Returns a refusal by Google.
    pub(super) const fn google(words: &'static [&'static str], cure: [&'static str; 2]) -> Self {
        Self { provider: "google", ..Self::any(words, cure) }
    }

    /// Returns a refusal by Microsoft.
    pub(super) const fn microsoft(numbers: &'static [u32], cure: [&'static str; 2]) -> Self {
        Self { provider: "microsoft", numbers, ..Self::any(&[], cure) }
    }

    /// Sets the codes.
    pub(super) const fn words(self, words: &'static [&'static str]) -> Self {
        Self { words, ..self }
    }

    /// Sets the parts of the description.
    pub(super) const fn phrases(self, phrases: &'static [&'static str]) -> Self {
        Self { phrases, ..self }
    }

    /// Sets the texts that a person sees.
    pub(super) const fn texts(self, texts: &'static [&'static str]) -> Self {
        Self { texts, ..self }
    }

    /// Sets the requests.
    pub(super) const fn at(self, stage: RefusalStage) -> Self {
        Self { stage, ..self }
    }

    /// Marks a refusal that withdraws a grant.
    pub(super) const fn withdrawn(self) -> Self {
        Self { end: RefusalMeaning::Withdrawn, ..self }
    }

    /// Marks a refusal after which the grant continues.
    pub(super) const fn never(self) -> Self {
        Self { end: RefusalMeaning::Never, ..self }
    }
}
