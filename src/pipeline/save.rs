//! `calendar_save`: events written safely.
//!
//! Everything is checked for all events before the first is written. A write is
//! carried out once and never tried again; what is told is what the service
//! holds afterwards.

mod change;
pub(super) mod clash;
mod create;
mod exceptions;
mod follow;
mod guests;
mod import;
mod make;
mod place;
mod series;
mod source;
mod span;

pub(super) use change::reference;
pub(super) use create::unsaid;
pub(super) use follow::cut;
pub(super) use guests::{guest, named, others};
pub(super) use source::change as change_of;
pub(super) use span::{Before, read};

use super::{Draft, Pipeline};
use crate::error::Result;
use crate::request::save::Save;
use crate::times::Here;

impl Pipeline {
    pub(super) async fn save_events(&self, asked: Save) -> Result<Draft> {
        match (&asked.id, &asked.ics) {
            (Some(id), _) => self.change_event(id, &asked).await,
            (None, Some(ics)) => self.import(ics, &asked).await,
            (None, None) => self.create_events(&asked).await,
        }
    }

    /// Now, and the zone that times are told in.
    pub(super) fn here(&self) -> Here {
        let clock = self.clock();
        Here {
            now: clock.now,
            zone: clock.zone,
            named: false,
        }
    }
}
