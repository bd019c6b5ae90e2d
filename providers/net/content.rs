//! The content of a response while it arrives, plain or compressed by gzip.
//!
//! Content grows up to a limit, however small its compressed form is, and is returned only when
//! complete.

use std::io::Write;

use flate2::write::GzDecoder;

use super::failure::FetchFailure;

/// The number of compressed bytes that are decompressed at once; the result may be a thousand times
/// as long.
const PIECE: usize = 4096;

/// Content up to a limit.
pub(super) struct LimitedContent {
    form: ContentForm,
    most: usize,
}

enum ContentForm {
    Plain(Vec<u8>),
    /// The decoder, and true once data has arrived.
    Gzip(Box<GzDecoder<Vec<u8>>>, bool),
}

impl LimitedContent {
    /// Creates uncompressed content of at most `most` bytes.
    pub(super) const fn plain(most: usize) -> Self {
        Self { form: ContentForm::Plain(Vec::new()), most }
    }

    /// Creates gzip content of at most `most` uncompressed bytes.
    pub(super) fn gzip(most: usize) -> Self {
        Self { form: ContentForm::Gzip(Box::new(GzDecoder::new(Vec::new())), false), most }
    }

    /// Returns the length so far, uncompressed, in bytes.
    pub(super) fn len(&self) -> usize {
        match &self.form {
            ContentForm::Plain(bytes) => bytes.len(),
            ContentForm::Gzip(decoder, _) => decoder.get_ref().len(),
        }
    }

    /// Divides received bytes into pieces for [`add`](Self::add).
    pub(super) fn pieces<'a>(&self, arrived: &'a [u8]) -> std::slice::Chunks<'a, u8> {
        match self.form {
            ContentForm::Plain(_) => arrived.chunks(arrived.len().max(1)),
            ContentForm::Gzip(..) => arrived.chunks(PIECE),
        }
    }

    /// Adds a piece.
    ///
    /// # Errors
    /// [`FetchFailure::Long`] beyond the limit, [`FetchFailure::Broken`] if it is not gzip.
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

    /// Returns the complete content.
    ///
    /// # Errors
    /// As [`add`](Self::add), and [`FetchFailure::Broken`] if the end is missing.
    pub(super) fn finish(self) -> Result<Vec<u8>, FetchFailure> {
        match self.form {
            ContentForm::Plain(bytes) => Ok(bytes),
            // A response without content, such as a 204, may still declare gzip.
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
