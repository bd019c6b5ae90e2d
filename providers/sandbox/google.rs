//! The common parts of Google's APIs: parameters, bodies, masks, errors.

pub(super) mod batch;
pub(super) mod body;
pub(super) mod error;
pub(super) mod fields;
pub(super) mod params;
