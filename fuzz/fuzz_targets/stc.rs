//! STC as `daysheet check` reads it: documents it reads are written and read again.
#![no_main]

use daysheet_core::encode::stc::StcVersion;
use daysheet_core::encode::stc::parse::parse;
use daysheet_core::encode::stc::write::write;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(value) = parse(text) else { return };
    for version in [StcVersion::One, StcVersion::Two] {
        let written = write(&value, version);
        let again = parse(&written).expect("what we write can be read");
        assert_eq!(again.to_json(), value.to_json(), "{written}");
    }
});
