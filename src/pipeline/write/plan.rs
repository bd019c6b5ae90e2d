//! The course of a call that writes events or answers. The tool reads the arguments and checks each
//! item. Then the user is asked whether the items may reach other people ([`agree`]), and the items
//! are written or rehearsed in order ([`write_each`]). [`write_report`] builds the answer.

use daysheet_core::access::AccessLevel;
use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::{ClientPrompts, MaybeDryRun};
use daysheet_core::call::progress;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::text::{Note, ours};
use jiff::tz::TimeZone;

use crate::pipeline::context::Context;
use crate::pipeline::titles::ItemNames;
use crate::pipeline::write::confirm::{
    AskPolicy, GuardedWrite, WriteAudience, confirm, is_watchful,
};
use crate::pipeline::write::report::{ItemOutcome, WriteReport, write_report};

/// The number of items that a question names.
const NAMED: usize = 10;

/// The number of items that a note on several names.
const LABELS: usize = 8;

/// An item of a call that writes, after its checks.
pub(crate) trait PlannedWrite {
    /// Returns the names of the item in the answer.
    fn names(&self) -> ItemNames;

    /// Describes the write in a question: its object, and the effect on it, which may be empty.
    fn description(&self, zone: &TimeZone) -> (String, String);

    /// Returns the text that the write sends to other people, such as an event's description.
    fn outgoing_text(&self) -> Option<&str> {
        None
    }

    /// Returns the notes on the item that hold whether it is written or not.
    fn remarks(&self) -> Vec<Note> {
        Vec::new()
    }

    /// Returns the result and the detail of an item that is unchanged or refused, and not written.
    fn settled(&self) -> Option<(&'static str, String)> {
        None
    }

    /// Returns the people whom the write reaches; `None` if it concerns only the user.
    async fn audience(&self, ctx: &Context) -> Result<Option<WriteAudience>>;

    /// Checks that the service would accept the write. Returns the result, and the detail of its
    /// outcome. Tools without a dry run do not call it.
    ///
    /// # Errors
    /// The refusal of the service.
    async fn rehearse(
        &self,
        ctx: &Context,
        _report: &mut WriteReport,
    ) -> Result<(&'static str, String)> {
        Ok(("planned", self.description(&ctx.config.zone).1))
    }

    /// Writes the item, and adds the event or the outcome to the report.
    ///
    /// # Errors
    /// The failure of the write.
    async fn write(&mut self, ctx: &Context, report: &mut WriteReport) -> Result<()>;
}

/// A call that writes events or answers, apart from its items.
pub(crate) struct WriteCall<'a> {
    /// The operation, as outcomes name it.
    pub(crate) op: &'static str,
    /// The operation in a question, such as `Delete`.
    pub(crate) verb: &'static str,
    /// The object of a single item in a question, such as `an invitation`.
    pub(crate) object: &'static str,
    /// The last lines of the question, each with a line feed before it.
    pub(crate) message: String,
    pub(crate) caller: &'a dyn ClientPrompts,
    pub(crate) dry_run: bool,
    /// True if every failure is an outcome, even the failure of the only item.
    pub(crate) reports_failures: bool,
}

/// Asks about the items, writes or rehearses them, and returns the answer.
pub(crate) async fn carry_out<W: PlannedWrite>(
    ctx: &Context,
    call: &WriteCall<'_>,
    mut items: Vec<W>,
    mut report: WriteReport,
) -> Result<WholeAnswer> {
    agree(ctx, call, &items, &mut report.notes).await?;
    write_each(ctx, call, &mut items, &mut report).await?;
    write_report(ctx, report).await
}

/// Refuses items that must not reach their audience. The audience is read again after the user has
/// agreed, because the versions of events do not cover it completely.
pub(crate) async fn agree<W: PlannedWrite>(
    ctx: &Context,
    call: &WriteCall<'_>,
    items: &[W],
    notes: &mut Vec<Note>,
) -> Result<()> {
    // Finding the audience takes requests, of which none is needed if no write can be refused.
    if !is_watchful(ctx).await? {
        return Ok(());
    }
    let pending: Vec<&W> = items.iter().filter(|item| item.settled().is_none()).collect();
    let mut reaching = Vec::new();
    for item in &pending {
        let audience = item.audience(ctx).await?;
        reaching.extend(audience.map(|audience| (item, audience)));
    }
    if reaching.is_empty() {
        return Ok(());
    }
    let mut all = WriteAudience::default();
    for (_, audience) in &reaching {
        all.join(audience);
    }
    let described: Vec<_> =
        reaching.iter().map(|(item, _)| item.description(&ctx.config.zone)).collect();
    let content = content(reaching.iter().map(|(item, _)| item.outgoing_text()), &described);
    let question = question(call, pending.len(), described);
    let guarded = GuardedWrite {
        needs: AccessLevel::Send,
        what: "writing an event with other people",
        question,
        content,
        asks: AskPolicy::New,
        sent_from: None,
        instead: "ask the user to do it in the calendar program".to_owned(),
        command: "daysheet call".to_owned(),
    };
    // A dry run is refused as the real call would be, and asks no question.
    let caller = &MaybeDryRun { caller: call.caller, dry_run: call.dry_run };
    if !confirm(ctx, &guarded, &all, caller, notes).await? {
        return Ok(());
    }
    for (item, known) in reaching {
        if item.audience(ctx).await? != Some(known) {
            let item = item.names().note;
            let what = format!("the people on {item} are not those the user was asked about");
            return Err(Error::new(ErrorKind::Conflict, what)
                .next("nothing was written; call again if it is still right"));
        }
    }
    Ok(())
}

/// Returns the question about the items that reach other people, of `all` that will be written.
fn question(call: &WriteCall<'_>, all: usize, mut reaching: Vec<(String, String)>) -> String {
    let WriteCall { verb, object, message, .. } = call;
    let count = reaching.len();
    let more = count.saturating_sub(NAMED);
    reaching.truncate(NAMED);
    let head = match (all, count) {
        (1, _) => format!("{verb} {object}?"),
        (all, count) if all == count => format!("{verb} {all} events with other people?"),
        (all, count) => format!("{verb} {all} events, {count} of them with other people?"),
    };
    let between = if all == 1 { "\n" } else { ": " };
    let mut lines = vec![head];
    lines.extend(reaching.into_iter().map(|(what, effect)| {
        if effect.is_empty() { what } else { format!("{what}{between}{effect}") }
    }));
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines.join("\n") + message
}

/// Returns the content of a request for approval: each item that has a text or that the question
/// does not name, with its text.
fn content<'t>(
    texts: impl Iterator<Item = Option<&'t str>>,
    described: &[(String, String)],
) -> String {
    let parts = texts.zip(described).enumerate().filter_map(|(at, (text, (what, effect)))| {
        let text = text.filter(|text| !text.is_empty());
        let item = if effect.is_empty() { what.clone() } else { format!("{what}: {effect}") };
        match text {
            Some(text) => Some(format!("{item}\n\n{text}")),
            None => (at >= NAMED).then_some(item),
        }
    });
    parts.collect::<Vec<_>>().join("\n\n")
}

/// Writes the items in order, or rehearses them. After a failed write that would also affect the
/// remaining items, those are skipped. Equal notes on several items become one.
///
/// # Errors
/// The failure of the only item if it was certainly not written, and the first refusal in a dry
/// run, unless the call reports failures.
pub(crate) async fn write_each<W: PlannedWrite>(
    ctx: &Context,
    call: &WriteCall<'_>,
    items: &mut [W],
    report: &mut WriteReport,
) -> Result<()> {
    let several = items.len() > 1;
    let mut has_ended = false;
    let mut remarks = Vec::new();
    for item in progress::each("events", items) {
        let earlier = std::mem::replace(&mut report.notes, item.remarks());
        let done = if let Some(settled) = item.settled() {
            Ok(Some(settled))
        } else if has_ended {
            report.outcomes.push(ItemOutcome::skipped(item.names().outcome, call.op));
            Ok(None)
        } else if call.dry_run {
            item.rehearse(ctx, report).await.map(Some)
        } else {
            item.write(ctx, report).await.map(|()| None)
        };
        remarks.push((item.names().note, std::mem::replace(&mut report.notes, earlier)));
        match done {
            Ok(outcome) => {
                report.outcomes.extend(outcome.map(|(result, why)| {
                    ItemOutcome::new(item.names().outcome, call.op, result, why)
                }));
            }
            // A rehearsal writes nothing, so its errors are never in doubt.
            Err(error) if call.dry_run && call.reports_failures => {
                let (name, why) = (item.names().outcome, error.to_string());
                report.outcomes.push(ItemOutcome::new(name, call.op, "failed", why));
            }
            Err(error) if call.dry_run && several => return Err(error.context(item.names().note)),
            Err(error) if call.dry_run => return Err(error),
            Err(error) if call.reports_failures || several || error.is_open() => {
                has_ended = error.ends_batch();
                report.outcomes.push(ItemOutcome::failed(item.names().outcome, call.op, &error));
            }
            Err(error) => return Err(error),
        }
    }
    report.notes.extend(grouped_by_note(remarks));
    report.is_rehearsal = call.dry_run;
    Ok(())
}

/// Returns the notes on the items of a call, each once: `e1, e3: no undo: …` if there are several.
pub(crate) fn grouped_by_note(remarks: Vec<(String, Vec<Note>)>) -> Vec<Note> {
    let several = remarks.len() > 1;
    let mut found: Vec<(Note, Vec<String>)> = Vec::new();
    for (label, notes) in remarks {
        for note in notes {
            match found.iter_mut().find(|(known, _)| *known == note) {
                Some((_, labels)) => labels.push(label.clone()),
                None => found.push((note, vec![label.clone()])),
            }
        }
    }
    let under = |(note, labels): (Note, Vec<String>)| {
        let named = labels.iter().take(LABELS).map(String::as_str).collect::<Vec<_>>().join(", ");
        match (several, labels.len().saturating_sub(LABELS)) {
            (false, _) => note,
            (true, 0) => note.under(ours(named)),
            (true, more) => note.under(ours(format!("{named} and {more} more"))),
        }
    };
    found.into_iter().map(under).collect()
}
