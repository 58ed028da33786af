//! `kitbag tour`: real skills, a real server, a real client, in a minute.

mod client;
mod examples;
mod stops;

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::process::ExitCode;

use anyhow::Context as _;

use self::client::Client;
use crate::cli::TourArgs;
use crate::environment::Environment;
use crate::failure::Failure;

pub(crate) fn run(environment: &Environment, arguments: &TourArgs) -> Result<ExitCode, Failure> {
    let mut out = anstream::stdout().lock();
    walk(environment, arguments, &mut out)?;
    Ok(ExitCode::SUCCESS)
}

/// Sets up a home of its own, so that the tour shows the same to everybody and touches nothing of theirs.
fn walk(
    environment: &Environment,
    arguments: &TourArgs,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let home = tempfile::Builder::new().prefix("kitbag-tour-").tempdir()?;
    let root = home.path().canonicalize()?;
    let skills = root.join(".kitbag").join("skills");
    if let Some(directory) = &arguments.skills {
        let directory = environment.cwd.join(directory);
        let real = directory
            .canonicalize()
            .with_context(|| format!("`{}` cannot be read", directory.display()))?;
        fs::create_dir_all(root.join(".kitbag"))?;
        symlink(real, &skills)?;
    } else {
        fs::create_dir_all(&skills)?;
        examples::unpack(&skills)?;
    }
    let mut client = Client::start(&root)?;
    stops::all(out, &mut client, &root)?;
    client.finish()
}
