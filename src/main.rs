//! The `checkfu` command: arguments in, exit code out.

fn main() -> std::process::ExitCode {
    checkfu::cli::run()
}
