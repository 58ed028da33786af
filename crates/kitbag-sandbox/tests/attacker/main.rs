//! The program that attacks from inside, and the one that stands for the server outside. Each attack does what a hostile
//! script would; it is not told whether it is confined.

#[cfg(target_os = "linux")]
mod program;

fn main() {
    #[cfg(target_os = "linux")]
    program::main();
}
