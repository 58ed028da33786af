//! `kitbag serve --http`.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};
use std::time::Duration;

use insta::assert_snapshot;
use kitbag_testkit::Project;
use rustix::process::{Pid, Signal, kill_process};

use crate::kitbag::{Outcome, command, kitbag};

/// How long an answer may take on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_mins(1);

const TOKEN_FILE: &str = "home/.kitbag/data/http-token";

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}"#;

/// A server that listens; it ends with the test.
struct Listening {
    child: Child,
    stderr: BufReader<ChildStderr>,
    address: SocketAddr,
    announced: String,
}

impl Listening {
    fn start(project: &Project, arguments: &[&str]) -> Self {
        let line = [&["serve", "--http"], arguments].concat();
        let mut child = command(project, &line)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut announced = String::new();
        for _ in 0..2 {
            stderr.read_line(&mut announced).unwrap();
        }
        let url = announced.split_once("http://").map(|(_, rest)| rest);
        let address = url.and_then(|url| url.split_once("/mcp")).map(|(address, _)| address);
        let address = address.unwrap_or_else(|| panic!("no address: {announced}")).parse().unwrap();
        Self { child, stderr, address, announced }
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    /// Waits for its end: the exit code, and all else that it wrote.
    fn ended(&mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).unwrap();
        self.child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }

    /// The status of the answer to an `initialize` with these headers besides the usual ones.
    fn status(&self, host: &str, headers: &[&str]) -> u16 {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
            INITIALIZE.len()
        );
        for header in headers {
            request.push_str(header);
            request.push_str("\r\n");
        }
        write!(stream, "{request}\r\n{INITIALIZE}").unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line.split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .unwrap_or_else(|| panic!("{line}"))
    }

    fn opens_with(&self, token: &str) -> bool {
        self.status("localhost", &[&format!("Authorization: Bearer {token}")]) == 200
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn token(project: &Project) -> String {
    fs::read_to_string(project.path(TOKEN_FILE)).unwrap().trim().to_owned()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

fn refused(project: &Project, arguments: &[&str]) -> Outcome {
    kitbag(project, &[&["serve", "--http"], arguments].concat())
}

#[test]
fn the_token_is_made_for_its_owner_alone_and_used_again() {
    let project = Project::new();
    let mut first = Listening::start(&project, &["127.0.0.1:0"]);
    let port = first.address.port().to_string();
    assert_snapshot!(project.filtered(&first.announced).replace(&port, "[PORT]"), @"
    kitbag serves http://127.0.0.1:[PORT]/mcp
    Clients send `Authorization: Bearer TOKEN`; the token is in [ROOT]/home/.kitbag/data/http-token
    ");
    let made = token(&project);
    assert!(made.len() >= 64 && !first.announced.contains(&made));
    assert_eq!(mode(&project.path(TOKEN_FILE)), 0o600);
    let beside = fs::read_dir(project.path("home/.kitbag/data")).unwrap().count();
    assert_eq!(beside, 1, "nothing but the token is left");
    assert!(first.opens_with(&made));
    first.signal(Signal::TERM);
    assert_eq!(first.ended(), (Some(0), String::new()));
    let mut again = Listening::start(&project, &["127.0.0.1:0"]);
    assert_eq!(token(&project), made);
    assert!(again.opens_with(&made));
    again.signal(Signal::INT);
    assert_eq!(again.ended(), (Some(0), String::new()));
}

#[test]
fn who_shows_no_token_or_comes_from_elsewhere_is_refused() {
    let project = Project::new();
    let server = Listening::start(&project, &["127.0.0.1:0"]);
    let token = token(&project);
    let good = format!("Authorization: Bearer {token}");
    let cut = format!("Authorization: Bearer {}", &token[1..]);
    let basic = format!("Authorization: Basic {token}");
    for (host, headers, status) in [
        ("localhost", &[good.as_str()][..], 200),
        ("127.0.0.1", &[&good, "Origin: http://localhost:3000"], 200),
        ("localhost", &[], 401),
        ("localhost", &["Authorization: Bearer x"], 401),
        ("localhost", &[&cut], 401),
        ("localhost", &[&basic], 401),
        ("localhost", &[&good, &good], 401),
        ("evil.example", &[&good], 403),
        ("localhost.evil.example", &[&good], 403),
        ("localhost", &[&good, "Origin: http://evil.example"], 403),
        ("localhost", &[&good, "Origin: null"], 403),
    ] {
        assert_eq!(server.status(host, headers), status, "{host} {headers:?}");
    }
}

#[test]
fn a_token_file_that_cannot_be_trusted_is_refused() {
    let project = Project::new();
    let file = project.write(TOKEN_FILE, format!("{}\n", "a".repeat(64)));
    let start = || refused(&project, &["127.0.0.1:0"]).text();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    assert_snapshot!(start(), @"

    --- stderr, exit code 3
    error: the token file `[ROOT]/home/.kitbag/data/http-token` can be read by others
    hint: run `chmod 600` on it, or remove it to get a new token
    ");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&file, "rubbish").unwrap();
    assert_snapshot!(start(), @"

    --- stderr, exit code 3
    error: the token file `[ROOT]/home/.kitbag/data/http-token` holds no token
    hint: remove it to get a new one
    ");
    for rubbish in
        [b"".as_slice(), &[0xff; 64], &vec![b'a'; 10_000_000], b"two words of enough length in it."]
    {
        fs::write(&file, rubbish).unwrap();
        assert!(start().contains("holds no token"));
    }
    fs::remove_file(&file).unwrap();
    symlink("nowhere", &file).unwrap();
    assert_snapshot!(start(), @"

    --- stderr, exit code 3
    error: the token file `[ROOT]/home/.kitbag/data/http-token` is a link to nothing
    hint: remove it to get a new token, or name another file with `--token-file`
    ");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_snapshot!(start(), @"

    --- stderr, exit code 3
    error: the token file `[ROOT]/home/.kitbag/data/http-token` is not a regular file
    hint: name another one with `--token-file`
    ");
    fs::remove_dir(&file).unwrap();
    let made = std::process::Command::new("mkfifo").args(["-m", "600"]).arg(&file).status();
    assert!(made.unwrap().success());
    assert_snapshot!(start(), @"

    --- stderr, exit code 3
    error: the token file `[ROOT]/home/.kitbag/data/http-token` is not a regular file
    hint: name another one with `--token-file`
    ");
}

#[test]
fn an_address_that_is_taken_or_that_others_reach_is_refused() {
    let project = Project::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let outcome = refused(&project, &[&address]);
    assert_snapshot!(outcome.text().replace(&address, "[ADDRESS]").replace("48)", "98)"), @"

    --- stderr, exit code 3
    error: cannot listen at `[ADDRESS]`: Address already in use (os error 98)
    hint: another program may use the port; port 0 takes a free one
    ");
    for address in
        ["0.0.0.0:0", "192.0.2.1:80", "[::]:0", "localhost", "127.0.0.1", "127.0.0.1:99999"]
    {
        let outcome = refused(&project, &[address]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{address}");
        assert!(outcome.stderr.contains("127.0.0.1:PORT"), "{}", outcome.stderr);
    }
    assert_snapshot!(refused(&project, &["0.0.0.0:7777"]).stderr, @"
    error: invalid value '0.0.0.0:7777' for '--http <ADDR>': it is not a loopback address; use `127.0.0.1:PORT` or `[::1]:PORT`

    For more information, try '--help'.
    ");
}

#[test]
fn localhost_is_a_loopback_address() {
    let project = Project::new();
    let server = Listening::start(&project, &["localhost:0"]);
    assert!(server.address.ip().is_loopback());
    assert!(server.opens_with(&token(&project)));
}

#[test]
fn two_servers_share_the_token_and_one_that_was_killed_starts_again() {
    let project = Project::new();
    let (mut one, two) = std::thread::scope(|scope| {
        let start = || Listening::start(&project, &["127.0.0.1:0"]);
        let one = scope.spawn(start);
        let two = scope.spawn(start);
        (one.join().unwrap(), two.join().unwrap())
    });
    let token = token(&project);
    assert!(one.opens_with(&token) && two.opens_with(&token));
    one.signal(Signal::KILL);
    assert_eq!(one.ended().0, None);
    let again = Listening::start(&project, &[&one.address.to_string()]);
    assert!(again.opens_with(&token) && two.opens_with(&token));
}

#[test]
fn another_token_file_may_be_named_and_without_a_home_must_be() {
    let project = Project::new();
    let server = Listening::start(&project, &["127.0.0.1:0", "--token-file", "own/token"]);
    assert_eq!(mode(&project.path("work/own/token")), 0o600);
    let token = fs::read_to_string(project.path("work/own/token")).unwrap();
    assert!(server.opens_with(token.trim()));
    let mut homeless = command(&project, &["serve", "--http", "127.0.0.1:0"]);
    homeless.env_remove("HOME");
    assert_snapshot!(crate::kitbag::run(&project, homeless).text(), @"

    --- stderr, exit code 3
    error: there is no home directory for the token
    hint: name a file with `--token-file`
    ");
    let outcome = refused(&project, &["127.0.0.1:0", "--token-file", "/dev/null/token"]);
    assert_snapshot!(outcome.text(), @"

    --- stderr, exit code 3
    error: the token file `/dev/null/token` cannot be read: Not a directory (os error 20)
    ");
}
