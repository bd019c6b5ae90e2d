//! Attachments: listed, saved, returned.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::access::Access;
use crate::budget::LongText;
use crate::compose::names;
use crate::error::{Error, Kind, Result};
use crate::flatten::{Context, Room};
use crate::pipeline::{Pipeline, Response, rows_of};
use crate::project::project;
use crate::provider::Account;
use crate::provider::BodyForm;
use crate::provider::mail::AttachmentInfo;
use crate::row::Cell;
use crate::schemas::{ATTACHMENT, Level, MESSAGE};
use crate::store::HandleKind;
use crate::text;
use crate::text::{note, ours, quoted};
use crate::tools::mail::{AttachmentRequest, FileForm};

/// The beginning of the URI of an attachment; its handle follows.
pub const URI: &str = "daysheet://attachment/";
/// The maximum size of an attachment that is returned in an answer, in bytes.
const LARGEST_INLINE: u64 = 1 << 20;
/// Tokens of an answer apart from the attachment.
const BESIDES: usize = 200;
/// The maximum columns of a name that is shown.
const NAME: usize = 120;

/// A requested attachment, before it is fetched.
struct NamedFile {
    account: Account,
    message: String,
    file: AttachmentInfo,
}

impl Pipeline {
    pub(in crate::pipeline) async fn attachment(
        &self,
        request: AttachmentRequest,
    ) -> Result<Response> {
        let file = self.handle(HandleKind::Attachment, &request.id).await?;
        let is_message = matches!(
            HandleKind::parse(&request.id),
            Some((HandleKind::Message | HandleKind::Thread | HandleKind::Draft, _))
        );
        let form = match (request.form, is_message) {
            (None, true) => FileForm::List,
            (form, _) => form.unwrap_or(FileForm::File),
        };
        if form == FileForm::List {
            return match file {
                Some((owner, id)) => {
                    let account = self.accounts.by_id(&owner).await?;
                    let (message, _) = split_id(&id);
                    self.files_of(account, message.to_owned()).await
                }
                None => {
                    let (account, id) = self.named_message(&request.id, None).await?;
                    self.files_of(account, id).await
                }
            };
        }
        if form == FileForm::File {
            self.needs(Access::Organize, "saving a file (as=inline and as=link do not save)")?;
        }
        let handle = request.id.clone();
        let file = self.named_file(&handle, file).await?;
        match form {
            FileForm::Inline => self.file_inline(&handle, file).await,
            FileForm::Link => Ok(link(&handle, &file.file)),
            FileForm::File | FileForm::List => self.save_file(request, file).await,
        }
    }

    /// Returns the bytes and the media type of an attachment, by the URI of a link.
    ///
    /// # Errors
    /// [`Kind::NotFound`] if there is no such attachment, or no longer;
    /// [`Kind::Argument`] if it is too large; those of the provider.
    pub async fn attachment_bytes(&self, uri: &str) -> Result<(Vec<u8>, String)> {
        let handle = uri.strip_prefix(URI).unwrap_or(uri);
        let file = self.handle(HandleKind::Attachment, handle).await?;
        let request = self.named_file(handle, file).await?;
        let bytes = self.file_bytes(&request, self.config.largest_file).await?;
        self.mark_tainted().await?;
        Ok((bytes, media(&request.file)))
    }

    async fn named_file(&self, handle: &str, found: Option<(String, String)>) -> Result<NamedFile> {
        let Some((owner, id)) = found else {
            return Err(Error::argument(format!("{} is not an attachment", text::brief(handle)))
                .next("give one such as a3; as=list shows those of a message"));
        };
        let account = self.accounts.by_id(&owner).await?;
        let mailbox = self.connect.mailbox(&account)?;
        let (message, file) = self.file_named(mailbox.as_ref(), handle, &id).await?;
        Ok(NamedFile { account, message, file })
    }

    async fn file_bytes(&self, request: &NamedFile, most: u64) -> Result<Vec<u8>> {
        if request.file.size > most {
            return Err(Error::argument(format!(
                "{} is {} bytes, more than {most}",
                display_name(&request.file.name),
                request.file.size
            ))
            .next("open it in the mail program, or raise `largest_file` in the settings"));
        }
        let mailbox = self.connect.mailbox(&request.account)?;
        mailbox.file(&request.message, &request.file.id, most).await
    }

    async fn save_file(&self, request: AttachmentRequest, found: NamedFile) -> Result<Response> {
        let (folders, overwrite) = (self.folders(), request.overwrite);
        let name = names::clean(&found.file.name);
        let wanted = name.clone();
        // The folder is opened first: an attachment that cannot be saved is not fetched.
        let open = move || {
            let folder = folders.folder(request.dir.as_deref())?;
            folder.free(&wanted, overwrite)?;
            Ok(folder)
        };
        let folder = blocking(open).await?;
        let bytes = self.file_bytes(&found, self.config.largest_file).await?;
        let length = bytes.len();
        let digest = Sha256::digest(&bytes);
        let saved = {
            let name = name.clone();
            blocking(move || folder.save(&name, &bytes, overwrite)).await?
        };
        let mut response = Response::default();
        let hash: String = digest.iter().take(8).map(|b| format!("{b:02x}")).collect();
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let scalars = &mut response.document.scalars;
        scalars.push(("path", Cell::Text(saved.display().to_string())));
        scalars.push(("bytes", Cell::Count(length)));
        scalars.push(("sha256", Cell::Text(hash)));
        if name != found.file.name {
            response.notes.push(note!("originally named {}", quoted(&found.file.name)));
        }
        Ok(response)
    }

    async fn file_inline(&self, handle: &str, request: NamedFile) -> Result<Response> {
        let most = LARGEST_INLINE.min(self.config.largest_file);
        let elsewhere = "save it with as=file, or get its link with as=link";
        let bytes = match request.file.size > most {
            true => Err(Error::argument(format!(
                "{} is larger than {most} bytes",
                display_name(&request.file.name)
            ))),
            false => self.file_bytes(&request, most).await,
        };
        let bytes = bytes.map_err(|error| error.next(elsewhere))?;
        let packed = STANDARD.encode(&bytes);
        let tokens = self.config.tokenizer.count(&packed);
        if tokens + BESIDES > self.config.budget {
            return Err(Error::argument(format!(
                "{} would take {tokens} tokens, more than the budget of {}",
                display_name(&request.file.name),
                self.config.budget
            ))
            .next(elsewhere));
        }
        let mut response = about(&request.file);
        response.document.scalars.push(("base64", Cell::Text("o1".to_owned())));
        response.texts.push(LongText {
            name: "o1".to_owned(),
            text: packed,
            page: true,
            ..LongText::default()
        });
        response.notes.push(note!("{} is between the fences, in Base64", ours(&handle)));
        Ok(response)
    }

    /// Returns the table of a message's attachments.
    async fn files_of(&self, account: Account, id: String) -> Result<Response> {
        let mailbox = self.connect.mailbox(&account)?;
        let projection = project(mailbox.api(), MESSAGE.field("id").as_slice());
        let answers = mailbox.read_messages(&[id], &projection, BodyForm::Parts).await;
        let read = answers
            .into_iter()
            .next()
            .unwrap_or_else(|| Err(Error::new(Kind::NotFound, "it was not answered")))?;
        let columns = ATTACHMENT.up_to(Level::Core);
        let mut response = Response::default();
        let label = self.labels().await?.of(&account.id);
        let context =
            Context { room: Room::One, ..self.context_for(mailbox.api(), &label, &account) };
        let files = &read.attachments;
        let mut rows = rows_of(&context, &ATTACHMENT, &columns, files, &mut response.notes);
        self.assign_handles(&mut rows, &account).await?;
        response.notes.insert(0, note!("attachments: {}", rows.len()));
        response.notes.extend(read.notes);
        response.document.tables.push(rows);
        Ok(response)
    }
}

/// The message and the part of an attachment's lasting id: `MESSAGE/PART`, or
/// `MESSAGE:ATTACHMENT` where ids hold slashes.
pub(super) fn split_id(id: &str) -> (&str, &str) {
    id.split_once(':').or_else(|| id.rsplit_once('/')).unwrap_or((id, id))
}

fn link(handle: &str, file: &AttachmentInfo) -> Response {
    let mut response = about(file);
    let uri = format!("{URI}{handle}");
    response.document.scalars.push(("link", Cell::Text(uri)));
    response.notes.push("read the link as a resource to get the file".into());
    response
}

/// Returns the response that describes an attachment.
fn about(file: &AttachmentInfo) -> Response {
    let mut response = Response::default();
    let scalars = &mut response.document.scalars;
    scalars.push(("name", Cell::Text(text::cell(&file.name))));
    scalars.push(("type", Cell::Text(media(file))));
    let size = i64::try_from(file.size).unwrap_or(i64::MAX);
    scalars.push(("bytes", Cell::Count(size)));
    response
}

fn display_name(name: &str) -> String {
    text::clip(text::cell(name), NAME).0
}

fn media(file: &AttachmentInfo) -> String {
    match text::cell(&file.media) {
        empty if empty.is_empty() => "application/octet-stream".to_owned(),
        media => media,
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| Error::new(Kind::Internal, "a file could not be written"))?
}
