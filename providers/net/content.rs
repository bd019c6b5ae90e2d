//! The content of a response while it arrives: as it is, or compressed by gzip.
//!
//! It grows up to a limit, however small the compressed form is, and is handed over only whole.

use std::io::Write;

use flate2::write::GzDecoder;

use super::FetchFailure;

/// How much of compressed content is read at once, in bytes. It may be a thousand times as long.
const PIECE: usize = 4096;

/// Content up to a limit.
pub(super) struct LimitedContent {
    form: ContentForm,
    most: usize,
}

enum ContentForm {
    Plain(Vec<u8>),
    /// Compressed; true once anything has arrived.
    Gzip(Box<GzDecoder<Vec<u8>>>, bool),
}

impl LimitedContent {
    /// Content that is sent as it is, of at most `most` bytes.
    pub(super) const fn plain(most: usize) -> Self {
        Self { form: ContentForm::Plain(Vec::new()), most }
    }

    /// Content that is sent compressed, of at most `most` bytes without compression.
    pub(super) fn gzip(most: usize) -> Self {
        Self { form: ContentForm::Gzip(Box::new(GzDecoder::new(Vec::new())), false), most }
    }

    /// Its length so far, in bytes.
    pub(super) fn len(&self) -> usize {
        match &self.form {
            ContentForm::Plain(bytes) => bytes.len(),
            ContentForm::Gzip(decoder, _) => decoder.get_ref().len(),
        }
    }

    /// Divides what arrived into the pieces that [`add`](Self::add) takes.
    pub(super) fn pieces<'a>(&self, arrived: &'a [u8]) -> std::slice::Chunks<'a, u8> {
        match self.form {
            ContentForm::Plain(_) => arrived.chunks(arrived.len().max(1)),
            ContentForm::Gzip(..) => arrived.chunks(PIECE),
        }
    }

    /// Adds a piece.
    ///
    /// # Errors
    /// [`FetchFailure::Long`] over the limit, [`FetchFailure::Broken`] if it is not gzip.
    pub(super) fn add(&mut self, piece: &[u8]) -> Result<(), FetchFailure> {
        match &mut self.form {
            ContentForm::Plain(bytes) => {
                if bytes.len().saturating_add(piece.len()) > self.most {
                    return Err(FetchFailure::Long);
                }
                bytes.extend_from_slice(piece);
            }
            ContentForm::Gzip(decoder, begun) => {
                *begun = true;
                decoder.write_all(piece).map_err(undone)?;
                if decoder.get_ref().len() > self.most {
                    return Err(FetchFailure::Long);
                }
            }
        }
        Ok(())
    }

    /// Returns all of it.
    ///
    /// # Errors
    /// As [`add`](Self::add), and if the end is missing.
    pub(super) fn finish(self) -> Result<Vec<u8>, FetchFailure> {
        match self.form {
            ContentForm::Plain(bytes) => Ok(bytes),
            // The answer to a request for nothing, such as 204.
            ContentForm::Gzip(_, false) => Ok(Vec::new()),
            ContentForm::Gzip(decoder, true) => {
                let bytes = decoder.finish().map_err(undone)?;
                if bytes.len() > self.most { Err(FetchFailure::Long) } else { Ok(bytes) }
            }
        }
    }
}

fn undone(error: std::io::Error) -> FetchFailure {
    FetchFailure::Broken(format!("its response cannot be decompressed: {error}"))
}
