//! The words of a paragraph, run by run, with the targets of their links.

/// Bytes of a target that are shown.
const LONGEST: usize = 500;

/// The words of a paragraph that is open.
#[derive(Debug, Default)]
pub struct Words {
    text: String,
    /// The targets of links that are open, and where their words begin.
    links: Vec<(String, usize)>,
}

impl Words {
    /// Adds the words of a run.
    pub fn run(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Begins a link; one without a target still has to end.
    pub fn link(&mut self, target: &str) {
        self.links.push((target.to_owned(), self.text.len()));
    }

    /// Ends the link that began last.
    pub fn unlink(&mut self) {
        if let Some((target, from)) = self.links.pop() {
            self.target(&target, from);
        }
    }

    /// Ends the paragraph: returns its words, and the links that go on in the next one.
    pub fn end(mut self) -> (String, Vec<String>) {
        let open = std::mem::take(&mut self.links);
        open.iter().rev().for_each(|(target, from)| self.target(target, *from));
        (self.text, open.into_iter().map(|(target, _)| target).collect())
    }

    fn target(&mut self, target: &str, from: usize) {
        let words = self.text.get(from..).unwrap_or_default();
        if let Some(target) = target_after(words, target) {
            let end = self.text.trim_end().len();
            self.text.insert_str(end, &target);
        }
    }
}

/// Returns what is added to the words of a link: ` <target>`; none if they say it already, if
/// there are none that anybody sees, or if it leads to a place in the file.
pub fn target_after(words: &str, target: &str) -> Option<String> {
    let target: String = target.split_whitespace().collect();
    let last = words.split_whitespace().next_back()?;
    let cut = target.floor_char_boundary(LONGEST);
    let (shown, more) = target.split_at(cut);
    let more = if more.is_empty() { "" } else { "…" };
    let says = bare(last) == bare(&target);
    (target.contains(':') && !says).then(|| format!(" <{shown}{more}>"))
}

/// Returns an address without what people leave out of it.
fn bare(address: &str) -> String {
    let around = |c: char| matches!(c, '<' | '>' | '(' | ')' | '[' | ']' | '"' | ',' | ';' | '.');
    let address = address.trim_matches(around).to_lowercase();
    let schemes = ["https://", "http://", "mailto:", "tel:"];
    let rest = schemes.into_iter().find_map(|scheme| address.strip_prefix(scheme));
    let rest = rest.unwrap_or(&address);
    rest.strip_suffix('/').unwrap_or(rest).to_owned()
}
