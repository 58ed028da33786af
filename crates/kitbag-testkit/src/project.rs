//! A place of its own for a process under test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A temporary home and working directory, and commands that see nothing else of the machine.
///
/// The working directory holds an empty `.git`, so that it is a workspace, and nothing above it is a project of
/// anybody's but for the machine's temporary directory.
///
/// All its methods panic when the disk refuses.
#[derive(Debug)]
pub struct Project {
    root: PathBuf,
    _directory: TempDir,
}

impl Project {
    /// An empty home and an empty workspace.
    pub fn new() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("kitbag-project-")
            .tempdir()
            .expect("a temporary directory can be made");
        let root = directory.path().canonicalize().expect("it can be resolved");
        let project = Self { root, _directory: directory };
        fs::create_dir_all(project.path("work/.git")).expect("it can be written");
        fs::create_dir_all(project.path("home")).expect("it can be written");
        project
    }

    /// Where `path` lies, which begins with `home/`, `work/`, or a folder beside them.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Writes a file and the directories it needs.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(path);
        let parent = path.parent().expect("a file lies in a directory");
        fs::create_dir_all(parent).expect("directories can be made");
        fs::write(&path, content).expect("a file can be written");
        path
    }

    /// Writes the `SKILL.md` of a skill with a description and a body.
    pub fn skill(&self, directory: &str, description: &str, body: &str) -> PathBuf {
        let name = Path::new(directory).file_name().expect("a skill's directory has a name");
        let name = name.to_str().expect("tests write UTF-8");
        let text = format!("---\nname: {name}\ndescription: {description}\n---\n{body}");
        self.write(&format!("{directory}/SKILL.md"), text)
    }

    /// The program, in the workspace, with this home and a search path for programs and no other variable.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(self.path("work"))
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command
    }

    /// `text` with this place written as `[ROOT]`, the same in every run.
    pub fn filtered(&self, text: &str) -> String {
        text.replace(&self.root.display().to_string(), "[ROOT]")
    }
}

impl Default for Project {
    fn default() -> Self {
        Self::new()
    }
}
