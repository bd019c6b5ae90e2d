//! Lists of addresses, and recipients as callers give them.
#![no_main]

use daysheet_core::compose::people;
use daysheet_core::text;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|list: &str| {
    for address in text::address_list(list) {
        assert!(!address.email.contains('\n'), "a line breaks: {address:?}");
    }
    let _ = people::read("to", &[list.to_owned()]);
    let _ = people::ascii(list);
});
