//! Attachments as text: the content that workers read from files, as rows, fenced texts and notes.
//!
//! Files are fetched and read here. `render` writes their content, and `findings` the notes on it.

use daysheet_core::budget::LongText;
use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::progress;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event::Invitation;
use daysheet_core::flatten::RowObject;
use daysheet_core::ids::MessageId;
use daysheet_core::provider::Account;
use daysheet_core::row::RowTable;
use daysheet_core::schemas::{ATTACHMENT_TEXT, CONTACT, INSIDE, INVITATION, Table};
use daysheet_core::text::fence::OURS;
use daysheet_core::text::{Note, brief, note, ours};
use daysheet_extract::{
    AnswerLine, ContentBlock, ExtractRequest, FileKind, InnerFile, ReadingEnd, RowsOf,
};
use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout_at};

use super::chosen::{
    AT_ONCE, AttachmentSources, ChosenAttachment, chosen_by, file_bytes, media, named_attachment,
    no_attachments, read_sources, reads_none,
};
use super::findings;
use super::render::{self, FileText, WholeText};
use crate::pipeline::context::Context;
use crate::pipeline::handles::assign_handles;
use crate::pipeline::local_files::file_reader;
use crate::pipeline::mail::files::file_of;
use crate::pipeline::rows::{rows_of, zone_line};
use crate::store::HandleKind;
use crate::tools::ColumnChoice;
use crate::tools::mail::{MAX_READ, MailAttachment};
use crate::worker::{Worker, WorkerEnd};

/// Blocks and rows of one file in an answer.
const MAX_BLOCKS: usize = 500;

/// The size of text, in bytes, after which further files are left to another call: an output keeps
/// little more.
const ENOUGH: usize = 768 << 10;
/// The columns of events and of people that a file can fill.
const EVENTS: &[&str] =
    &["message", "kind", "start", "end", "title", "where", "organizer", "people", "repeats"];
const PEOPLE: &[&str] = &["name", "emails", "company", "role", "phone"];

/// A file to read.
pub(super) struct WantedFile {
    chosen: ChosenAttachment,
    /// The path to a file inside it: `a3/2/1` is `[2, 1]`.
    inside: Vec<u32>,
    /// True if its message or thread was named, and not the file.
    spread: bool,
}

impl WantedFile {
    /// Returns the id by which a call names the file.
    fn id(&self) -> String {
        let parts = self.inside.iter().map(|part| format!("/{part}"));
        format!("{}{}", self.chosen.handle, parts.collect::<String>())
    }

    /// Returns the part of the attachment that is read; `None` for the whole attachment.
    fn inner_path(&self) -> Option<String> {
        let parts: Vec<String> = self.inside.iter().map(u32::to_string).collect();
        (!parts.is_empty()).then(|| parts.join("/"))
    }
}

/// The lines that a worker returned for a file.
struct ReadFile {
    name: String,
    lines: Vec<AnswerLine>,
    ended: WorkerEnd,
}

/// The answer under construction.
struct GrowingAnswer {
    texts: RowTable,
    events: RowTable,
    people: RowTable,
    inside: RowTable,
    /// The long texts, and notes.
    response: WholeAnswer,
}

impl GrowingAnswer {
    fn new() -> Result<Self> {
        let table = |table: &'static Table, names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            Ok::<_, Error>(RowTable::new(table, ColumnChoice::Named(names).columns_of(table)?))
        };
        let all = |table: &'static Table| RowTable::new(table, table.fields.iter().collect());
        Ok(Self {
            texts: all(&ATTACHMENT_TEXT),
            events: table(&INVITATION, EVENTS)?,
            people: table(&CONTACT, PEOPLE)?,
            inside: all(&INSIDE),
            response: WholeAnswer::default(),
        })
    }

    /// Returns the size of its texts in bytes.
    fn size(&self) -> usize {
        self.response.texts.iter().map(|text| text.text.len()).sum()
    }

    fn response(mut self, zone: &jiff::tz::TimeZone) -> WholeAnswer {
        self.texts.drop_empty();
        let tables = [self.texts, self.events, self.people, self.inside];
        let there = |table: &RowTable| !table.is_empty();
        self.response.document.tables.extend(tables.into_iter().filter(there));
        zone_line(&mut self.response.document, zone);
        self.response
    }
}

/// Reads attachments, or the attachments of the named messages and threads.
pub(super) async fn read_files(ctx: &Context, request: &MailAttachment) -> Result<WholeAnswer> {
    let worker = ctx.config.worker.as_ref().ok_or_else(reads_none)?;
    let mut notes = Vec::new();
    let wanted = wanted_files(ctx, &request.ids, &mut notes).await?;
    let sources = read_sources(ctx, wanted.iter().map(|one| &one.chosen)).await;
    // Before they are counted, so that pictures do not use up the limit.
    let wanted = without_pictures(wanted, &sources, &mut notes);
    let one_file = request.page.is_some() || request.sheet.is_some();
    if wanted.len() > if one_file { 1 } else { MAX_READ } {
        let what = if one_file {
            "`page` and `sheet` are for one file".to_owned()
        } else {
            format!("{} attachments are more than {MAX_READ}", wanted.len())
        };
        return Err(Error::argument(what).next("give fewer ids; as=list shows those there are"));
    }
    progress::expect("attachments", wanted.len());
    let reading = FileReading { worker, sources: &sources, request };
    let answer = read_wanted(ctx, &reading, &wanted, &mut notes).await?;
    let mut response = answer.response(&ctx.config.zone);
    response.notes.append(&mut notes);
    Ok(response)
}

/// The means of reading the files of a call.
struct FileReading<'a> {
    /// The process that reads files.
    worker: &'a Worker,
    /// The messages of the files.
    sources: &'a AttachmentSources,
    /// The arguments of the call.
    request: &'a MailAttachment,
}

/// Reads files, a few at once, as far as the size and the time of one call allow.
async fn read_wanted(
    ctx: &Context,
    reading: &FileReading<'_>,
    wanted: &[WantedFile],
    notes: &mut Vec<Note>,
) -> Result<GrowingAnswer> {
    let mut answer = GrowingAnswer::new()?;
    let ends = Instant::now() + reading.worker.call_time();
    let mut late: Vec<String> = Vec::new();
    for (at, some) in wanted.chunks(AT_ONCE).enumerate() {
        let rest = || wanted.iter().skip(at * AT_ONCE).map(WantedFile::id);
        if answer.size() > ENOUGH {
            let rest: Vec<String> = rest().collect();
            notes.push(note!(
                "not read, to limit the size of this answer: {}",
                ours(rest.join(", "))
            ));
            break;
        }
        if Instant::now() >= ends {
            late.extend(rest());
            break;
        }
        let read = some.iter().map(|one| timeout_at(ends, read_file(ctx, reading, one)));
        let read = join_all(read).await;
        progress::done("attachments", some.len());
        for (one, read) in some.iter().zip(read) {
            match read {
                Ok(Ok(file)) => add_file(ctx, &mut answer, one, file).await?,
                // The error of a single file is the error of the call.
                Ok(Err(error)) if wanted.len() == 1 => return Err(error),
                Ok(Err(error)) => notes.push(Note::from(&error).under(ours(one.id()))),
                Err(_elapsed) => late.push(one.id()),
            }
        }
    }
    if late.len() == wanted.len() {
        return Err(Error::new(
            ErrorKind::Timeout,
            "reading took longer than one call may read files",
        )
        .next("give fewer ids, or save files with as=file"));
    }
    if !late.is_empty() {
        notes.push(note!(
            "not read, to limit the time of this call: {}; give them in another one",
            ours(late.join(", "))
        ));
    }
    Ok(answer)
}

/// Returns the files that ids refer to. Among several ids, one without files is a note.
async fn wanted_files(
    ctx: &Context,
    ids: &[String],
    notes: &mut Vec<Note>,
) -> Result<Vec<WantedFile>> {
    let mut wanted: Vec<WantedFile> = Vec::new();
    for id in ids {
        let (handle, inside) = split(id);
        let spread = !matches!(HandleKind::parse(&handle), Some((HandleKind::Attachment, _)));
        let found = match chosen_by(ctx, &handle, notes).await {
            Ok(found) if found.is_empty() => Err(no_attachments(id)),
            found => found,
        };
        let found = match found {
            Ok(found) => found,
            Err(error) if ids.len() > 1 => {
                notes.push(Note::from(&error).under(ours(brief(id))));
                continue;
            }
            Err(error) => return Err(error),
        };
        for chosen in found {
            let one = WantedFile { chosen, inside: inside.clone(), spread };
            if !wanted.iter().any(|other| other.id() == one.id()) {
                wanted.push(one);
            }
        }
    }
    Ok(wanted)
}

/// Reads one file.
async fn read_file(
    ctx: &Context,
    reading: &FileReading<'_>,
    wanted: &WantedFile,
) -> Result<ReadFile> {
    let FileReading { worker, sources, request } = *reading;
    let named = named_attachment(&wanted.chosen, sources)?;
    let size = usize::try_from(named.file.size).unwrap_or(usize::MAX);
    // The place is taken before the file is fetched, so that waiting calls hold no files in memory.
    let place = worker.place(file_reader(ctx), size).await;
    let bytes = file_bytes(ctx, &named, ctx.config.largest_file).await?;
    let file = named.file;
    let asked = ExtractRequest {
        media: match &file.charset {
            Some(charset) => format!("{}; charset=\"{charset}\"", media(&file)),
            None => media(&file),
        },
        name: file.name,
        inside: wanted.inside.clone(),
        page: request.page.unwrap_or(1),
        sheet: request.sheet.clone(),
        zone: ctx.config.zone.iana_name().unwrap_or("UTC").to_owned(),
    };
    let (lines, ended) = place.file(&asked, &bytes).await?;
    // A part that does not exist is an error of the call, not a note on the file.
    if let Some(AnswerLine::End(ReadingEnd { failure: Some(failure), .. })) = lines.last()
        && let Some(error) = findings::no_such_part(failure, &asked)
    {
        return Err(error);
    }
    Ok(ReadFile { name: asked.name, lines, ended })
}

/// The content of a file, as the lines of a worker are added.
#[derive(Default)]
struct FileContent {
    /// The kind of the file, if the worker recognized it.
    kind: Option<FileKind>,
    /// The last line of the worker, with its findings.
    end: Option<ReadingEnd>,
    /// The sheets, and at the end the text of a file without sheets.
    texts: Vec<FileText>,
    /// The text of a file without sheets.
    whole: WholeText,
    /// The notes on the file.
    notes: Vec<Note>,
}

/// Adds the lines read from a file to the answer.
async fn add_file(
    ctx: &Context,
    answer: &mut GrowingAnswer,
    wanted: &WantedFile,
    file: ReadFile,
) -> Result<()> {
    let mut content = FileContent::default();
    for line in file.lines {
        add_line(ctx, answer, wanted, line, &mut content).await?;
    }
    let FileContent { kind, end, mut texts, whole, mut notes } = content;
    let id = wanted.id();
    texts.extend(whole.text(&id, kind));
    let alone = matches!(texts.as_slice(), [one] if !one.text.is_empty());
    if texts.is_empty() {
        // A row without a text, for the kind of the file and the notes on it.
        texts.push(FileText::default());
    }
    let first = answer.response.texts.len();
    let mut objects = Vec::new();
    for text in texts {
        let row = answer.texts.len() + objects.len();
        let mut object = add_text(&mut answer.response, &id, row, text);
        object.extend([
            ("id".to_owned(), Value::from(wanted.chosen.id.as_str())),
            ("part".to_owned(), wanted.inner_path().into()),
            ("name".to_owned(), file.name.as_str().into()),
            ("kind".to_owned(), kind.map(FileKind::name).into()),
        ]);
        objects.push(Value::Object(object));
    }
    let account = &wanted.chosen.account;
    let rows = rows_like(ctx, &answer.texts, &objects, account, &mut notes).await?;
    answer.texts.append(rows);
    notes.extend(findings::about(kind, end.as_ref(), file.ended));
    let about = if alone { format!("b{}", first + 1) } else { id };
    answer.response.notes.extend(notes.into_iter().map(|note| note.under(ours(&about))));
    Ok(())
}

/// Adds a line of a worker: rows to the answer, everything else to the content of its file.
async fn add_line(
    ctx: &Context,
    answer: &mut GrowingAnswer,
    wanted: &WantedFile,
    line: AnswerLine,
    content: &mut FileContent,
) -> Result<()> {
    let (id, account) = (wanted.id(), &wanted.chosen.account);
    let notes = &mut content.notes;
    match line {
        AnswerLine::Kind(found) => content.kind = Some(found),
        AnswerLine::End(found) => content.end = Some(found),
        AnswerLine::Block(ContentBlock::Text(text)) => content.whole.add(text),
        // A worker returns fewer, but its output is not trusted.
        AnswerLine::Block(ContentBlock::Sheet(_)) if content.texts.len() >= MAX_BLOCKS => {}
        AnswerLine::Block(ContentBlock::Sheet(sheet)) => {
            content.texts.push(render::sheet(sheet, &id));
        }
        AnswerLine::Block(ContentBlock::Rows { table, objects, more, next }) => {
            let message = wanted.chosen.message().id;
            let objects = objects.into_iter().take(MAX_BLOCKS);
            match table {
                RowsOf::Invitation => {
                    let events = objects.filter_map(|one| invitation(one, &message));
                    let events: Vec<Invitation> = events.collect();
                    let new = rows_like(ctx, &answer.events, &events, account, notes).await?;
                    answer.events.append(new);
                }
                RowsOf::Contact => {
                    let people: Vec<Value> =
                        objects.map(|one| cleared(&one, PEOPLE, message.as_str())).collect();
                    let new = rows_like(ctx, &answer.people, &people, account, notes).await?;
                    answer.people.append(new);
                }
            }
            notes.extend(findings::more_rows(table, more, &id, next));
        }
        AnswerLine::Block(ContentBlock::Files { files, more, next }) => {
            let objects: Vec<Value> =
                files.iter().take(MAX_BLOCKS).map(|file| inside(file, wanted, &id)).collect();
            let new = rows_like(ctx, &answer.inside, &objects, account, notes).await?;
            answer.inside.append(new);
            notes.extend(findings::more_files(more, &id, next));
        }
    }
    Ok(())
}

/// Adds a text of the file `id` and the notes on it to the response; returns the members of its
/// row, which is the one with the number `row`.
fn add_text(
    response: &mut WholeAnswer,
    id: &str,
    row: usize,
    text: FileText,
) -> Map<String, Value> {
    let block = (!text.text.is_empty()).then(|| format!("b{}", response.texts.len() + 1));
    // Marks of our own lines are not characters of the file.
    let chars = text.text.chars().filter(|char| *char != OURS).count();
    let about = block.as_deref().unwrap_or(id);
    response.notes.extend(text.notes.into_iter().map(|note| note.under(ours(about))));
    if let Some(name) = block.clone() {
        let row = Some((0, row));
        response.texts.push(LongText { name, text: text.text, row, ..LongText::default() });
    }
    [
        ("block", Value::from(block)),
        ("sheet", text.sheet.into()),
        ("range", text.range.into()),
        ("chars", chars.into()),
        ("shown", chars.into()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into_iter()
    .collect()
}

/// Makes rows with the columns of a table from objects of ours.
async fn rows_like<'a, O>(
    ctx: &Context,
    table: &RowTable,
    objects: &'a [O],
    account: &Account,
    notes: &mut Vec<Note>,
) -> Result<RowTable>
where
    RowObject<'a>: From<&'a O>,
{
    let mut rows = rows_of(&ctx.local(), table.table(), table.columns(), objects, notes);
    assign_handles(ctx, &mut rows, account).await?;
    Ok(rows)
}

/// Splits an id into the attachment's id and the path to a file inside it: `a3/2/1`.
fn split(id: &str) -> (String, Vec<u32>) {
    let mut parts = id.split('/');
    let handle = parts.next().unwrap_or_default();
    let inside: Option<Vec<u32>> = parts.map(|part| part.parse().ok()).collect();
    match (HandleKind::parse(handle), inside) {
        (Some((HandleKind::Attachment, _)), Some(inside)) => (handle.to_owned(), inside),
        // An id of a provider may contain slashes.
        _ => (id.to_owned(), Vec::new()),
    }
}

/// Leaves out the pictures among other files of a message, which are not read.
fn without_pictures(
    wanted: Vec<WantedFile>,
    sources: &AttachmentSources,
    notes: &mut Vec<Note>,
) -> Vec<WantedFile> {
    let is_picture = |one: &WantedFile| {
        let source = sources.get(&one.chosen.message());
        let source = source.and_then(|source| source.as_ref().ok());
        let file = source.and_then(|source| file_of(source, one.chosen.ids()).ok());
        one.spread && file.is_some_and(|file| media(&file).starts_with("image/"))
    };
    let (pictures, files): (Vec<WantedFile>, Vec<WantedFile>) =
        wanted.into_iter().partition(is_picture);
    match (pictures.is_empty(), files.is_empty()) {
        (true, _) => files,
        (false, true) => pictures,
        (false, false) => {
            let ids: Vec<String> = pictures.iter().map(WantedFile::id).collect();
            notes.push(note!("pictures, which are not read: {}", ours(ids.join(", "))));
            files
        }
    }
}

/// Returns a worker's object with only these members, and the id of its message.
fn cleared(object: &Value, columns: &[&str], message: &str) -> Value {
    let members = columns.iter().filter_map(|name| {
        let value = match *name {
            "message" => Value::from(message),
            name => object.get(name)?.clone(),
        };
        Some(((*name).to_owned(), value))
    });
    Value::Object(members.collect::<Map<_, _>>())
}

/// Returns an event that a worker read from a file of a message, without what only a calendar can
/// say of it; `None` if it is not an event.
fn invitation(object: Value, message: &MessageId) -> Option<Invitation> {
    let read: Invitation = serde_json::from_value(object).ok()?;
    Some(Invitation { message: message.clone(), ..read.of_file() })
}

/// Returns a file inside another as an object of its table.
fn inside(file: &InnerFile, wanted: &WantedFile, id: &str) -> Value {
    json!({
        "of": wanted.chosen.id,
        "part": format!("{id}/{}", file.part),
        "name": file.name,
        "size": file.size,
        "folder": file.folder,
        "encrypted": file.encrypted,
    })
}
