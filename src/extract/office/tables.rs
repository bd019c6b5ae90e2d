//! Tables of Word documents, as far as they decide on the visibility of their text: backgrounds,
//! merged cells, and hidden or deleted rows.

use std::collections::HashSet;

use super::styles::{DocxStyles, shading};
use crate::ReadFailure;
use crate::run_style::InkColour;
use crate::xml::{XmlElement, XmlReader};

/// The state of the open table, row and cell.
#[derive(Default, Clone)]
pub struct TableBackground {
    /// The colour behind the table.
    pub table: Option<InkColour>,
    /// The colour behind the cell.
    pub cell: Option<InkColour>,
    /// True if the row is a tracked deletion.
    pub deleted: bool,
    /// True if the row is too flat to show text.
    pub flat: bool,
    /// True if the row is marked as hidden.
    pub hidden: bool,
    /// The column of the cell, and the columns in which a cell continues in the next row.
    pub column: usize,
    merging: HashSet<usize>,
    /// The number of columns of the cell.
    pub wide: usize,
    /// True if a merged cell covers the cell.
    pub covered: bool,
}

impl TableBackground {
    /// Begins a cell.
    pub fn begin_cell(&mut self) {
        (self.column, self.wide) = (self.column + self.wide, 1);
        (self.cell, self.covered) = (None, false);
    }

    /// Records whether the cell is merged with the one above it: `restart` begins a merged cell;
    /// `continue` continues it if there is one.
    fn merge(&mut self, down: Option<&str>, across: bool) {
        // A cell without a value of `vMerge` continues.
        let goes_on = down.is_some_and(|kind| kind != "restart");
        self.covered = across || goes_on && self.merging.contains(&self.column);
        match down {
            Some(_) => drop(self.merging.insert(self.column)),
            None => drop(self.merging.remove(&self.column)),
        }
    }

    /// Reads the background of the table.
    pub fn read_table(
        &mut self,
        styles: &DocxStyles,
        xml: &mut XmlReader<'_>,
    ) -> Result<(), ReadFailure> {
        let mut background = None;
        xml.within(|property| match property.name().as_str() {
            "tblStyle" => {
                let style = property.attr("val").unwrap_or_default();
                background = background.or(styles.text_style(&style).background);
            }
            "shd" => background = shading(property).or(background),
            _ => {}
        })?;
        self.table = background;
        Ok(())
    }

    /// Reads the properties of a row that decide on the visibility of its text.
    pub fn read_row(&mut self, xml: &mut XmlReader<'_>) -> Result<(), ReadFailure> {
        let (mut deleted, mut flat, mut hidden, mut before) = (false, false, false, 0);
        xml.within(|property| match property.name().as_str() {
            "del" => deleted = true,
            "hidden" => hidden = property.attr("val").is_none() || property.flag("val"),
            "trHeight" => {
                let exact = property.attr("hRule").is_some_and(|rule| rule == "exact");
                flat = exact && property.number("val").is_some_and(|height| height < 40.0);
            }
            "gridBefore" => before = columns(property),
            _ => {}
        })?;
        (self.deleted, self.flat, self.hidden) = (deleted, flat, hidden);
        self.wide = before;
        Ok(())
    }

    /// Reads the background of a cell, and the cells that it is merged with.
    pub fn read_cell(&mut self, xml: &mut XmlReader<'_>) -> Result<(), ReadFailure> {
        let (mut background, mut wide, mut down, mut across) = (None, 1, None, false);
        xml.within(|property| match property.name().as_str() {
            "shd" => background = shading(property).or(background),
            "gridSpan" => wide = columns(property),
            "vMerge" => down = Some(property.attr("val").unwrap_or_default()),
            "hMerge" => across = property.attr("val").is_none_or(|kind| kind != "restart"),
            _ => {}
        })?;
        (self.cell, self.wide) = (background, wide);
        self.merge(down.as_deref(), across);
        Ok(())
    }
}

/// Returns the number of columns that a property states.
fn columns(property: &XmlElement<'_>) -> usize {
    property.number("val").unwrap_or(1.0).clamp(0.0, 100.0) as usize
}
