//! What an item is worth to a reader, as a number from 0 to 1.
//!
//! A [`Strategy`] says which of the things known of an item decide; each tool
//! has one by default ([`resolve`]). The numbers only have to stand in the right
//! order and at a sensible distance: the allocator ([`plan`](super::plan))
//! compares them with what the item costs. Nothing here reads an item; a tool
//! says in a [`Hint`] what it knows.

use crate::schemas::Level;

/// What the least of a list is worth, against 1.0 for the first.
const LEAST: f64 = 0.3;
/// What is left of a message's value with each newer one.
const FADING: f64 = 0.95;
/// A message of which is not known whether it needs an answer.
const UNSETTLED: f64 = 0.6;
/// So many lines from an end, what a line is worth above the least has halved.
const HALF_LINES: f64 = 20.0;
/// What the first of a list has ahead of the last when both match alike.
const ORDER: f64 = 0.01;
/// An image below this many bytes is a signature's logo.
const LOGO: u64 = 16 * 1024;
/// What a logo is worth, below everything else.
const LOGO_VALUE: f64 = 0.05;
/// How much more the largest file of a kind is worth than the smallest.
const SIZE_SPAN: f64 = 0.2;
/// From this size on a file is the largest.
const LARGE: f64 = 16.0 * 1024.0 * 1024.0;
/// The size of one step at the beginning of the logarithm.
const SMALL: f64 = 1024.0;

/// How items are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// The order of the list: 1.0 for the first, in a line to 0.3 for the last.
    ElementCount,
    /// Age: 1.0 for the newest, 0.95 of that for each older one.
    Cascading,
    /// The state of a conversation: needs an answer 1.0, settled 0.3, not known
    /// 0.6. Its first and last messages are pinned.
    ThreadLevel,
    /// Kind and size of a file: see [`Media`].
    SizeProportional,
    /// The ends of a text: 1.0, falling to 0.3 far from both.
    HeadTail,
    /// All alike: 1.0.
    Uniform,
    /// The share of the query's words: 1.0 for all, 0.3 for none; among equals
    /// the order of the list.
    QueryMatch,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::ElementCount,
        Self::Cascading,
        Self::ThreadLevel,
        Self::SizeProportional,
        Self::HeadTail,
        Self::Uniform,
        Self::QueryMatch,
    ];

    /// The word for it in the configuration.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ElementCount => "element_count",
            Self::Cascading => "cascading",
            Self::ThreadLevel => "thread_level",
            Self::SizeProportional => "size_proportional",
            Self::HeadTail => "head_tail",
            Self::Uniform => "uniform",
            Self::QueryMatch => "query_match",
        }
    }

    /// The one with this word, exactly.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|each| each.word() == word)
    }
}

/// The kinds of files, for [`Strategy::SizeProportional`]. Each has a band of
/// values; within it a larger file is worth more, by the logarithm of its size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Media {
    /// Invitations and calendars: 0.8 to 1.0.
    Calendar,
    /// Text, web pages, tables as text, letters: 0.8 to 1.0.
    Text,
    /// PDF and office documents: 0.6 to 0.8.
    Document,
    /// Images: 0.35 to 0.55; below 16 KiB, as in signatures, 0.05.
    Image,
    /// Packed files: 0.1 to 0.3.
    Archive,
    /// Video and sound: 0.1 to 0.3.
    Video,
    /// Everything else: 0.1 to 0.3.
    #[default]
    Unknown,
}

impl Media {
    /// The kind of a file, by its media type, or by the ending of its name when
    /// the type says nothing.
    pub fn of(media_type: &str, name: &str) -> Self {
        let media_type = media_type.split(';').next().unwrap_or_default();
        let media_type = media_type.trim().to_ascii_lowercase();
        let name = name.trim().to_ascii_lowercase();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let by_name = Self::of_ending(ending);
        match Self::of_type(&media_type) {
            Self::Unknown => by_name,
            // Calendars are often sent as plain text.
            Self::Text if by_name == Self::Calendar => by_name,
            by_type => by_type,
        }
    }

    fn of_type(media_type: &str) -> Self {
        let (kind, rest) = media_type.split_once('/').unwrap_or_default();
        let has = |parts: &[&str]| parts.iter().any(|part| rest.contains(part));
        match kind {
            "text" if rest == "calendar" => Self::Calendar,
            "text" | "message" => Self::Text,
            "image" => Self::Image,
            "video" | "audio" => Self::Video,
            "application" if rest == "ics" => Self::Calendar,
            // Before what is told by its parts: office formats are "openxml".
            "application"
                if has(&[
                    "pdf",
                    "msword",
                    "ms-word",
                    "ms-excel",
                    "ms-powerpoint",
                    "officedocument",
                    "opendocument",
                    "rtf",
                ]) =>
            {
                Self::Document
            }
            "application" if has(&["json", "xml", "yaml"]) => Self::Text,
            "application" if has(&["zip", "7z", "rar", "x-tar", "bzip", "x-xz", "zstd"]) => {
                Self::Archive
            }
            _ => Self::Unknown,
        }
    }

    fn of_ending(ending: &str) -> Self {
        match ending {
            "ics" | "ical" | "vcs" => Self::Calendar,
            "txt" | "md" | "csv" | "tsv" | "htm" | "html" | "json" | "xml" | "yaml" | "yml"
            | "log" | "eml" | "vcf" => Self::Text,
            "pdf" | "doc" | "docx" | "docm" | "odt" | "rtf" | "xls" | "xlsx" | "xlsm" | "ods"
            | "ppt" | "pptx" | "odp" | "pages" | "numbers" | "key" => Self::Document,
            "png" | "jpg" | "jpeg" | "gif" | "webp" | "bmp" | "tif" | "tiff" | "svg" | "heic" => {
                Self::Image
            }
            "zip" | "7z" | "rar" | "tar" | "gz" | "tgz" | "bz2" | "xz" | "zst" => Self::Archive,
            "mp4" | "mov" | "avi" | "mkv" | "webm" | "mp3" | "m4a" | "wav" | "ogg" | "flac" => {
                Self::Video
            }
            _ => Self::Unknown,
        }
    }

    /// What the smallest file of the kind is worth.
    const fn base(self) -> f64 {
        match self {
            Self::Calendar | Self::Text => 0.8,
            Self::Document => 0.6,
            Self::Image => 0.35,
            Self::Archive | Self::Video | Self::Unknown => 0.1,
        }
    }
}

/// What is known of an item, as far as its tool knows it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Hint {
    /// Its place in the list, from 0.
    pub position: usize,
    /// How many items the list has.
    pub of: usize,
    /// How many messages are newer.
    pub age: usize,
    /// True when it needs an answer, false when it is settled, none when that
    /// is not known.
    pub open: Option<bool>,
    /// Its size; 0 when not known.
    pub bytes: u64,
    /// What kind of file it is.
    pub media: Media,
    /// The share of the query's words that are in it, 0 to 1.
    pub mentions: f64,
}

impl Hint {
    /// 0 for the first of the list, 1 for the last.
    fn along(&self) -> f64 {
        let last = self.of.saturating_sub(1);
        if last == 0 {
            0.0
        } else {
            self.position.min(last) as f64 / last as f64
        }
    }

    /// How many items lie between it and the nearer end.
    fn depth(&self) -> usize {
        let last = self.of.saturating_sub(1);
        self.position.min(last.saturating_sub(self.position))
    }
}

/// What an item is worth, 0 to 1.
pub fn value(strategy: Strategy, hint: &Hint) -> f64 {
    match strategy {
        Strategy::ElementCount => 1.0 - (1.0 - LEAST) * hint.along(),
        Strategy::Cascading => FADING.powf(hint.age as f64),
        Strategy::ThreadLevel => match hint.open {
            Some(true) => 1.0,
            Some(false) => LEAST,
            None => UNSETTLED,
        },
        Strategy::SizeProportional => file(hint),
        Strategy::HeadTail => {
            LEAST + (1.0 - LEAST) * 0.5_f64.powf(hint.depth() as f64 / HALF_LINES)
        }
        Strategy::Uniform => 1.0,
        Strategy::QueryMatch => {
            // What is no number is no match.
            let found = hint.mentions > 0.0;
            let mentions = if found { hint.mentions.min(1.0) } else { 0.0 };
            LEAST + (1.0 - LEAST) * mentions - ORDER * hint.along()
        }
    }
}

fn file(hint: &Hint) -> f64 {
    if hint.media == Media::Image && (1..LOGO).contains(&hint.bytes) {
        return LOGO_VALUE;
    }
    let size = (hint.bytes as f64 / SMALL).ln_1p() / (LARGE / SMALL).ln_1p();
    hint.media.base() + SIZE_SPAN * size.min(1.0)
}

/// True when an answer without the item is none: the first and the last message
/// of a conversation.
pub fn pinned(strategy: Strategy, hint: &Hint) -> bool {
    strategy == Strategy::ThreadLevel
        && (hint.position == 0 || hint.position == hint.of.saturating_sub(1))
}

/// How much of an item's value its rendering at this level carries.
pub const fn share(level: Level) -> f64 {
    match level {
        Level::Key => 0.6,
        Level::Core => 0.85,
        Level::More => 1.0,
    }
}

/// How much of a text's value a part of it carries: the root of its share, as
/// the first lines say most. Everything of nothing is 1.0.
pub fn part(shown: usize, total: usize) -> f64 {
    if shown >= total {
        1.0
    } else {
        (shown as f64 / total as f64).sqrt()
    }
}

/// The tools whose items are not all alike.
const DEFAULTS: &[(&str, Strategy)] = &[
    ("mail_search", Strategy::ElementCount),
    ("mail_read", Strategy::ThreadLevel),
    ("mail_attachment", Strategy::SizeProportional),
    ("calendar_search", Strategy::ElementCount),
    ("changes", Strategy::ElementCount),
    ("output_read", Strategy::HeadTail),
];

/// The strategy for a tool: an override for exactly its name, else one for the
/// same tool under another client's name for it, else the tool's own, else
/// [`Strategy::Uniform`]. Of several the first counts. A list in order is
/// [`Strategy::QueryMatch`] of itself when words were `searched` for.
pub fn resolve(tool: &str, overrides: &[(String, Strategy)], searched: bool) -> Strategy {
    let bare = bare(tool);
    let given = |same: &dyn Fn(&str) -> bool| {
        let found = overrides.iter().find(|(name, _)| same(name));
        found.map(|(_, strategy)| *strategy)
    };
    given(&|name| name == tool)
        .or_else(|| given(&|name| self::bare(name) == bare))
        .or_else(|| {
            let found = DEFAULTS.iter().find(|(name, _)| *name == bare);
            found.map(|(_, strategy)| match strategy {
                Strategy::ElementCount if searched => Strategy::QueryMatch,
                own => *own,
            })
        })
        .unwrap_or(Strategy::Uniform)
}

/// A tool's name without what clients put before it: `mcp__daysheet__lookup`,
/// `daysheet.lookup`, `mcp_daysheet_lookup`, `work/lookup`.
fn bare(tool: &str) -> &str {
    let sign = |c: char| matches!(c, '_' | '-' | '.' | '/' | ':');
    if let Some((_, rest)) = tool.rsplit_once("daysheet")
        && rest.starts_with(sign)
    {
        return rest.trim_start_matches(sign);
    }
    let end = tool.rsplit(['.', '/', ':']).next().unwrap_or(tool);
    end.rsplit_once("__").map_or(end, |(_, name)| name)
}
