//! x
fn main() {
    kitbag_sandbox::become_launcher_if_asked();
}
