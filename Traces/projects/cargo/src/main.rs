use std::ffi::CString;
use std::os::raw::{c_char, c_int};

extern "C" {
    fn count_words(text: *const c_char) -> c_int;
}

fn main() {
    let text = CString::new("ab cd ef ghi").unwrap();
    println!("{}", unsafe { count_words(text.as_ptr()) });
}
