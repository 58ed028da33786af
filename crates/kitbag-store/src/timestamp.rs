//! A point in time, given by the caller: this crate reads no clock.

use std::fmt;
use std::time::{Duration, SystemTime};

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

/// Milliseconds since 1970-01-01 in UTC; as text, RFC 3339 such as `2026-11-30T23:45:28.120Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The point so many milliseconds after 1970, before it where negative.
    pub const fn from_unix_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// The milliseconds since 1970.
    pub const fn unix_millis(self) -> i64 {
        self.0
    }

    /// The point as part of a file name, to the second: `20261130T234528Z`.
    pub(crate) fn compact(self) -> String {
        let (year, month, day, hour, minute, second) = self.fields();
        format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
    }

    /// The fields of the civil calendar, in UTC.
    fn fields(self) -> (i64, i64, i64, i64, i64, i64) {
        let seconds = self.0.div_euclid(1_000);
        let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (year, month, day) = civil(days);
        (year, month, day, second / 3_600, second / 60 % 60, second % 60)
    }
}

/// The Gregorian year, month and day that lie `days` after 1970-01-01.
///
/// Years are counted from March, so that the day a leap year adds is the last of its year.
fn civil(days: i64) -> (i64, i64, i64) {
    /// From 0000-03-01 to 1970-01-01.
    const BEFORE_1970: i64 = 719_468;
    /// Four centuries, after which the calendar repeats.
    const ERA: i64 = 146_097;
    let (era, of_era) =
        ((days + BEFORE_1970).div_euclid(ERA), (days + BEFORE_1970).rem_euclid(ERA));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

impl From<SystemTime> for Timestamp {
    /// Takes a clock's reading; what lies outside 292 million years is cut to them.
    fn from(time: SystemTime) -> Self {
        let millis = |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => Self(millis(after)),
            Err(before) => Self(-millis(before.duration())),
        }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day, hour, minute, second) = self.fields();
        let milli = self.0.rem_euclid(1_000);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
    }
}

impl ToSql for Timestamp {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl FromSql for Timestamp {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        i64::column_result(value).map(Self)
    }
}
