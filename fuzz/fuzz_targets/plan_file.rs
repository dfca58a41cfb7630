//! Saved plans: no bytes may panic or hang; what is read and is sound writes and reads as the same plan.

#![no_main]

use checkfu::plan;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(read) = plan::read(bytes) else { return };
    let again = plan::read(plan::write(&read).as_bytes()).expect("what was written can be read");
    assert_eq!(read, again);
    assert_eq!(plan::digest(&read), plan::digest(&again));
    let _ = (plan::check(&read), plan::exit_code(&read));
});
