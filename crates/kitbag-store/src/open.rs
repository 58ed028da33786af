//! Opening a store: made where there is none, migrated where it is old, set aside where it is damaged.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::{EngineError, StoreError, is_damage};
use crate::files::{Files, Hold};
use crate::schema::{self, APPLICATION_ID, CONSENT_TABLES, Migrated, SCHEMA_VERSION};
use crate::timestamp::Timestamp;
use crate::{audit, pins, servers, skills, workspaces};

/// How often an opening starts over because another process changed what it had seen.
const MAX_ROUNDS: usize = 16;

/// The bytes of a page of the file: its length is a multiple of them.
const PAGE_BYTES: u64 = 4_096;

/// The most bytes that the log of committed changes keeps on disk once they are in the database.
const KEPT_LOG_BYTES: u64 = 8 * 1024 * 1024;

/// How a store behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreOptions {
    /// How long to wait for other processes before [`StoreError::Busy`].
    pub patience: Duration,
    /// About how many bytes of audit records are kept; the oldest give way.
    pub audit_bytes: u64,
}

impl StoreOptions {
    /// Ten seconds of patience, and 100 MiB of audit.
    pub const STANDARD: Self =
        Self { patience: Duration::from_secs(10), audit_bytes: 100 * 1024 * 1024 };
}

/// What was found damaged at an opening, and where it lies now. A person should be told.
#[derive(Debug)]
pub struct SetAside {
    /// The file as it was.
    pub from: PathBuf,
    /// The files it was moved to, the database's first where there was one.
    pub to: Vec<PathBuf>,
    /// What is the matter with it.
    pub damage: Damage,
}

impl fmt::Display for SetAside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}; ", self.from.display(), self.damage)?;
        match self.to.first() {
            Some(to) => write!(f, "it was moved to `{}`, and an empty store begun", to.display())?,
            None => write!(f, "an empty store was begun")?,
        }
        write!(f, ": what was approved, trusted or pinned is asked again")
    }
}

/// What is the matter with a store's file.
#[derive(Debug)]
#[non_exhaustive]
pub enum Damage {
    /// It holds nothing at all, which no store ever does.
    Empty,
    /// It is gone, and its log of changes is still there.
    Gone,
    /// The engine cannot read it.
    Unreadable(EngineError),
    /// The engine reads it, and finds it inconsistent: the first fault.
    Inconsistent(String),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "is empty"),
            Self::Gone => write!(f, "is gone, and its log of changes is left"),
            Self::Unreadable(error) => write!(f, "cannot be read ({error})"),
            Self::Inconsistent(fault) => write!(f, "is inconsistent ({fault})"),
        }
    }
}

/// A connection that may be used, and what keeps others from replacing the file under it.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) files: Files,
    pub(crate) connection: Connection,
    /// Held shared as long as the store is open.
    pub(crate) lock: File,
    pub(crate) set_aside: Option<SetAside>,
}

/// What a look at the files found.
enum Look {
    Usable(Connection),
    Missing,
    /// Not in the mode that several processes can share.
    Unshared(Connection),
    /// In use it gave an error, though nothing is seen from outside.
    Suspect(Connection),
    Damaged(Damage),
}

/// How thorough a look is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// The header, the schema, and the tables of consent: under a millisecond.
    Quick,
    /// Every page, and every row.
    Full,
}

/// Opens the store at `path`; `now` names what must be set aside.
pub(crate) fn open(
    path: &Path,
    now: Timestamp,
    options: &StoreOptions,
) -> Result<Ready, StoreError> {
    let files = Files::prepare(path)?;
    let lock = files.lock_file()?;
    files.check()?;
    let mut set_aside = None;
    for _ in 0..MAX_ROUNDS {
        if !files.take(&lock, Hold::Shared, options.patience)? {
            break;
        }
        let look = look(&files, options, Depth::Quick)?;
        if let Look::Usable(mut connection) = look {
            bring_up_to_date(&files, &mut connection, options)?;
            return Ok(Ready { files, connection, lock, set_aside });
        }
        // Made, changed and replaced is only what nobody has open; then it is looked at again.
        files.release(&lock)?;
        let patience =
            if matches!(look, Look::Suspect(_)) { Duration::ZERO } else { options.patience };
        let alone = files.take(&lock, Hold::Alone, patience)?;
        match (look, alone) {
            (look, true) => {
                drop(look);
                set_aside = mend(&files, now, options)?.or(set_aside);
                files.release(&lock)?;
            }
            (Look::Suspect(mut connection), false) => {
                if files.take(&lock, Hold::Shared, options.patience)? {
                    bring_up_to_date(&files, &mut connection, options)?;
                    return Ok(Ready { files, connection, lock, set_aside });
                }
            }
            (Look::Damaged(damage), false) => {
                return Err(StoreError::InUse { path: files.database, what: damage.to_string() });
            }
            (Look::Missing, false) => {
                return Err(StoreError::InUse { path: files.database, what: "is gone".to_owned() });
            }
            (_, false) => break,
        }
    }
    Err(StoreError::Busy { path: files.database, waited: options.patience })
}

/// Opens one more connection to a store that is open.
pub(crate) fn connect_again(
    files: &Files,
    options: &StoreOptions,
) -> Result<Connection, StoreError> {
    connect(&files.database, options)
        .and_then(|connection| tidy_up_at_the_end(&connection).map(|()| connection))
        .map_err(|error| StoreError::engine(&files.database, options.patience, error))
}

fn bring_up_to_date(
    files: &Files,
    connection: &mut Connection,
    options: &StoreOptions,
) -> Result<(), StoreError> {
    let fault = |error| StoreError::engine(&files.database, options.patience, error);
    tidy_up_at_the_end(connection).map_err(fault)?;
    if schema::version(connection).map_err(fault)? == SCHEMA_VERSION {
        return Ok(());
    }
    match schema::migrate(connection).map_err(fault)? {
        Migrated::Current => Ok(()),
        Migrated::Newer(found) => Err(newer(files, found)),
    }
}

pub(crate) fn newer(files: &Files, found: u32) -> StoreError {
    StoreError::Newer { path: files.database.clone(), found, known: SCHEMA_VERSION }
}

/// Looks at what lies at the path, and changes nothing.
fn look(files: &Files, options: &StoreOptions, depth: Depth) -> Result<Look, StoreError> {
    match files.length()? {
        None if files.log_is_left() => return Ok(Look::Damaged(Damage::Gone)),
        None => return Ok(Look::Missing),
        Some(0) => return Ok(Look::Damaged(Damage::Empty)),
        // With a log, the rest of the page may still be to come.
        Some(length) if length % PAGE_BYTES != 0 && !files.log_is_left() => {
            let fault = "its last page is cut off".to_owned();
            return Ok(Look::Damaged(Damage::Inconsistent(fault)));
        }
        Some(_) => {}
    }
    match inspect(files, options, depth) {
        Ok(look) => look,
        Err(error) if is_damage(&error) => Ok(Look::Damaged(Damage::Unreadable(error.into()))),
        Err(error) => Err(StoreError::engine(&files.database, options.patience, error)),
    }
}

fn inspect(
    files: &Files,
    options: &StoreOptions,
    depth: Depth,
) -> rusqlite::Result<Result<Look, StoreError>> {
    let connection = connect(&files.database, options)?;
    let id: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    if tables == 0 {
        return Ok(Ok(Look::Damaged(Damage::Inconsistent("it has no tables".to_owned()))));
    }
    if id != APPLICATION_ID {
        return Ok(Err(StoreError::Foreign(files.database.clone())));
    }
    let version = schema::version(&connection)?;
    if version > SCHEMA_VERSION {
        return Ok(Err(newer(files, version)));
    }
    if version == 0 {
        return Ok(Ok(Look::Damaged(Damage::Inconsistent("it has no version".to_owned()))));
    }
    if connection.is_readonly("main")? {
        if files.is_locked_against_writing() {
            return Ok(Err(StoreError::ReadOnly(files.database.clone())));
        }
        let fault = "its header allows no writing".to_owned();
        return Ok(Ok(Look::Damaged(Damage::Inconsistent(fault))));
    }
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if let Some(fault) = first_fault(&connection, version, depth)? {
        return Ok(Ok(Look::Damaged(Damage::Inconsistent(fault))));
    }
    Ok(Ok(if mode != "wal" {
        Look::Unshared(connection)
    } else if depth == Depth::Quick && files.is_suspect() {
        Look::Suspect(connection)
    } else {
        Look::Usable(connection)
    }))
}

fn first_fault(
    connection: &Connection,
    version: u32,
    depth: Depth,
) -> rusqlite::Result<Option<String>> {
    let checks: Vec<String> = match depth {
        Depth::Full => vec!["PRAGMA integrity_check(1)".to_owned()],
        // An older store may lack one of the tables, and is about to be read as a whole anyway.
        Depth::Quick if version < SCHEMA_VERSION => vec!["PRAGMA quick_check(1)".to_owned()],
        Depth::Quick => {
            CONSENT_TABLES.iter().map(|table| format!("PRAGMA quick_check({table})")).collect()
        }
    };
    for check in checks {
        let verdict: String = connection.query_row(&check, (), |row| row.get(0))?;
        if verdict != "ok" {
            return Ok(Some(verdict));
        }
    }
    if depth == Depth::Full && version == SCHEMA_VERSION {
        // Pages that hang together can still hold rows that nobody wrote.
        skills::scan(connection)?;
        workspaces::scan(connection)?;
        servers::scan(connection)?;
        pins::scan(connection)?;
        audit::scan(connection)?;
    }
    Ok(None)
}

/// Makes the store, makes it one that can be shared, or sets it aside. Whoever calls has the lock alone.
fn mend(
    files: &Files,
    now: Timestamp,
    options: &StoreOptions,
) -> Result<Option<SetAside>, StoreError> {
    let fault = |error| StoreError::engine(&files.database, options.patience, error);
    let depth = if files.is_suspect() { Depth::Full } else { Depth::Quick };
    let mut set_aside = None;
    match look(files, options, depth)? {
        Look::Usable(_) | Look::Suspect(_) => {}
        Look::Unshared(connection) => share(&connection).map_err(fault)?,
        Look::Missing => make(files, options)?,
        Look::Damaged(damage) => {
            let to = files.set_aside(now)?;
            set_aside = Some(SetAside { from: files.database.clone(), to, damage });
            make(files, options)?;
        }
    }
    files.clear_suspicion()?;
    Ok(set_aside)
}

/// Makes a whole store under another name, then gives it its own: nobody ever sees half of one.
fn make(files: &Files, options: &StoreOptions) -> Result<(), StoreError> {
    let fault = |error| StoreError::engine(&files.unfinished, options.patience, error);
    files.begin()?;
    let mut connection = connect(&files.unfinished, options).map_err(fault)?;
    tidy_up_at_the_end(&connection).map_err(fault)?;
    connection.pragma_update(None, "page_size", PAGE_BYTES.cast_signed()).map_err(fault)?;
    share(&connection).map_err(fault)?;
    schema::migrate(&mut connection).map_err(fault)?;
    // Closing moves everything from the log into the file, which may then change its name.
    connection.close().map_err(|(_, error)| fault(error))?;
    files.finish()
}

/// Has the last to close the store move everything from the log into the file.
fn tidy_up_at_the_end(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map(drop)
}

fn share(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA journal_mode = WAL", (), |row| row.get::<_, String>(0)).map(drop)
}

fn connect(path: &Path, options: &StoreOptions) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    // What turns out to be damaged must stay as it is, its log of changes too.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.busy_timeout(options.patience)?;
    connection.set_prepared_statement_cache_capacity(32);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // FULL syncs the log at every commit: what is acknowledged survives the loss of power.
    // One sync costs 0.4 ms on an idle disk and 4 to 8 ms on a busy one (`benches/store.rs`), a batch of 256 no more.
    connection.execute_batch(&format!(
        "PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON; PRAGMA journal_size_limit = {KEPT_LOG_BYTES};"
    ))?;
    Ok(connection)
}
