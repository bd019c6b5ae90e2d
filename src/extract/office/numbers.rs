//! Numbers of list paragraphs, as a person sees them.

use std::collections::{HashMap, HashSet};

use daysheet_core::text::numeral::numeral;

use crate::ReadFailure;
use crate::xml::{XmlEvent, XmlReader};

/// Maximum characters of a label.
const LONG: usize = 40;
/// Maximum levels of a list.
const LEVELS: usize = 9;

/// A level of a list.
#[derive(Debug, Clone)]
struct NumberingLevel {
    /// `decimal`, `lowerLetter`, `bullet`, …
    format: String,
    /// The pattern of the label: `%1.%2.`.
    text: String,
    start: u32,
}

/// The lists of a document, with their counts.
#[derive(Default)]
pub struct ListNumbering {
    plans: HashMap<String, Vec<NumberingLevel>>,
    /// The plan of each list, and the start values by level that it overrides.
    lists: HashMap<String, (String, HashMap<usize, u32>)>,
    counts: HashMap<String, Vec<Option<u32>>>,
    restarted: HashSet<String>,
}

impl ListNumbering {
    /// Parses `word/numbering.xml`.
    pub fn read(text: &str) -> Result<Self, ReadFailure> {
        let mut numbers = Self::default();
        let (mut plan, mut list, mut level) = (String::new(), String::new(), 0);
        let mut xml = XmlReader::with_namespaces(text, &["w"]);
        while let Some(event) = xml.step()? {
            let XmlEvent::Start(element) = event else { continue };
            let val = || element.attr("val").unwrap_or_default();
            let number = |name: &str| element.number(name).unwrap_or_default() as usize;
            let plans = &mut numbers.plans;
            let current =
                plans.get_mut(&plan).and_then(|levels: &mut Vec<NumberingLevel>| levels.last_mut());
            match element.name().as_str() {
                "abstractNum" => {
                    plan = element.attr("abstractNumId").unwrap_or_default();
                    plans.insert(plan.clone(), Vec::new());
                }
                "num" => {
                    list = element.attr("numId").unwrap_or_default();
                    // The `lvl` within a list's `lvlOverride` must not be added to the plan read
                    // last.
                    plan = String::new();
                }
                "abstractNumId" => {
                    numbers.lists.insert(list.clone(), (val(), HashMap::new()));
                }
                "lvlOverride" => level = number("ilvl"),
                "startOverride" => {
                    if let Some((_, starts)) = numbers.lists.get_mut(&list) {
                        starts.insert(level, number("val") as u32);
                    }
                }
                "lvl" => {
                    let fresh =
                        NumberingLevel { format: String::new(), text: String::new(), start: 1 };
                    if let Some(levels) = plans.get_mut(&plan).filter(|plan| plan.len() < LEVELS) {
                        levels.push(fresh);
                    }
                }
                "start" => current.into_iter().for_each(|level| level.start = number("val") as u32),
                "numFmt" => current.into_iter().for_each(|level| level.format = val()),
                "lvlText" => current
                    .into_iter()
                    .for_each(|level| level.text = val().chars().take(LONG).collect()),
                _ => {}
            }
        }
        Ok(numbers)
    }

    /// Returns the label of the next paragraph of a list, or `None` if the list is unknown.
    pub fn next(&mut self, list: &str, level: usize) -> Option<String> {
        let (plan, starts) = self.lists.get(list)?;
        let levels = self.plans.get(plan)?;
        let this = levels.get(level)?;
        // Lists of the same plan share a count: Word continues one list after another.
        let counts = self.counts.entry(plan.clone()).or_insert_with(|| vec![None; LEVELS]);
        let first = |level: usize| levels.get(level).map_or(1, |level| level.start);
        if !starts.is_empty() && self.restarted.insert(list.to_owned()) {
            // The list restarts, although another one of the same plan has counted already.
            for (level, start) in starts {
                if let Some(count) = counts.get_mut(*level) {
                    *count = start.checked_sub(1);
                }
            }
        }
        for (depth, count) in counts.iter_mut().enumerate() {
            match depth.cmp(&level) {
                std::cmp::Ordering::Less => *count = Some(count.unwrap_or_else(|| first(depth))),
                // A deeper level restarts below each new item.
                std::cmp::Ordering::Equal => {
                    *count =
                        Some(count.map_or_else(|| first(depth), |count| count.saturating_add(1)));
                }
                std::cmp::Ordering::Greater => *count = None,
            }
        }
        if this.format == "bullet" {
            return Some("-".to_owned());
        }
        let mut label = this.text.clone();
        for (depth, (count, level)) in counts.iter().zip(levels).enumerate() {
            let placeholder = format!("%{}", depth + 1);
            if label.contains(&placeholder) {
                label = label.replace(&placeholder, &numeral(count.unwrap_or(1), &level.format));
            }
        }
        Some(label.trim().to_owned())
    }
}
