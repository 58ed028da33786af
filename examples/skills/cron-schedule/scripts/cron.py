"""Explain a five-field cron expression and list when it fires.

The answer depends on the arguments alone: no clock, no file, no network is read (the zone database aside).
JSON goes to standard output, complaints to standard error.
"""

import argparse
import json
import sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
NICKNAMES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
HORIZON_DAYS = 30 * 366
FIRST_YEAR, LAST_YEAR = 1970, 2999
MAX_COUNT = 100
MAX_SKIPPED = 100
MAX_EXPRESSION = 1000


class BadExpression(ValueError):
    """The expression cannot be read; the message names the field."""


class Field:
    """One of the five fields: which values match, and whether it restricts anything."""

    def __init__(self, title, text, low, high, names=(), names_from=0):
        self.title, self.text, self.low, self.high = title, text, low, high
        self.names = {name: index + names_from for index, name in enumerate(names)}
        self.values = set()
        for part in text.split(","):
            self.values.update(self._part(part))
        # The crontab manual: a field that begins with an asterisk leaves the choice to the other day field.
        self.starred = text.startswith("*")

    def _part(self, part):
        span, slash, step_text = part.partition("/")
        step = 1
        if slash:
            step = self._number(step_text, "step")
            if not 1 <= step <= self.high:
                raise self._bad(f"the step `{step_text}` is not between 1 and {self.high}")
        if span == "*":
            first, last = self.low, self.high
        elif "-" in span:
            first_text, _, last_text = span.partition("-")
            first, last = self._value(first_text), self._value(last_text)
            # Sunday is 0 and 7, so `fri-sun` ends in 7.
            if last < first and self.title == "day of week" and last == 0:
                last = 7
            if last < first:
                raise self._bad(f"the range `{span}` runs backwards")
        elif slash:
            first, last = self._value(span), self.high
        else:
            first = last = self._value(span)
        for value in range(first, last + 1, step):
            yield 0 if self.title == "day of week" and value == 7 else value

    def _value(self, text):
        value = self.names.get(text.lower())
        if value is None:
            value = self._number(text, "value")
        if not self.low <= value <= self.high:
            raise self._bad(f"`{text}` is not between {self.low} and {self.high}")
        return value

    def _number(self, text, what):
        if not (text.isascii() and text.isdigit() and len(text) <= 4):
            raise self._bad(f"the {what} `{text}` is not a number" + (" or a name" if self.names else ""))
        return int(text)

    def _bad(self, why):
        return BadExpression(f"{self.title} `{self.text}`: {why}")

    def words(self):
        """The field in words, by its matching values rather than by its spelling."""
        values = sorted(self.values)
        if self.text == "*":
            return f"every {self.title}"
        shown = [self._name(value) for value in values]
        if len(values) > 2 and values == list(range(values[0], values[-1] + 1)):
            return f"{self.title} {shown[0]} to {shown[-1]}"
        return f"{self.title} " + ", ".join(shown)

    def _name(self, value):
        for name, known in self.names.items():
            if known == value:
                return name.capitalize()
        return str(value)


class Schedule:
    """A whole expression."""

    def __init__(self, expression):
        if len(expression) > MAX_EXPRESSION:
            raise BadExpression(f"the expression is longer than {MAX_EXPRESSION} characters")
        words = NICKNAMES.get(expression.strip().lower(), expression).split()
        if words and words[0].startswith("@"):
            raise BadExpression(f"`{words[0]}` names no time (known: {', '.join(sorted(NICKNAMES))})")
        if len(words) != 5:
            hint = "; six or seven fields are Quartz or Spring, not cron" if len(words) in (6, 7) else ""
            raise BadExpression(f"{len(words)} fields where five are needed{hint}")
        self.minute = Field("minute", words[0], 0, 59)
        self.hour = Field("hour", words[1], 0, 23)
        self.day = Field("day of month", words[2], 1, 31)
        self.month = Field("month", words[3], 1, 12, MONTHS, 1)
        self.weekday = Field("day of week", words[4], 0, 7, DAYS)
        self.fields = [self.minute, self.hour, self.day, self.month, self.weekday]

    @property
    def either_day(self):
        return not self.day.starred and not self.weekday.starred

    def on(self, day):
        """Whether the schedule fires at all on this calendar day."""
        if day.month not in self.month.values:
            return False
        by_date = day.day in self.day.values
        by_weekday = day.isoweekday() % 7 in self.weekday.values
        return (by_date or by_weekday) if self.either_day else (by_date and by_weekday)

    def warnings(self):
        found = []
        if self.either_day:
            found.append("both day fields are restricted: it fires when either of them matches, not only when both do")
        for field in (self.minute, self.hour):
            span = field.high - field.low + 1
            first, slash, step = field.text.partition("/")
            if slash and first == "*" and span % int(step):
                found.append(
                    f"`{field.text}` in {field.title} is uneven: {span} is not a multiple of {step}, "
                    f"so the last gap before it starts again is {span % int(step)}"
                )
        if "/" in self.day.text:
            found.append(f"`{self.day.text}` in day of month starts again on every first of the month")
        if self.minute.text == "*" and self.hour.text != "*":
            found.append("it fires in every minute of its hours; for once an hour the minute must be a number")
        if not self.day.text.startswith("*") and min(self.day.values) > 28:
            found.append("months without that day are left out, not moved to their last day")
        return found


def offsets(wall, zone):
    """The instants, as aware times in UTC, that show this wall time: none, one or two."""
    found = []
    for fold in (0, 1):
        instant = wall.replace(tzinfo=zone, fold=fold).astimezone(timezone.utc)
        shown = instant.astimezone(zone).replace(tzinfo=None)
        if shown == wall and instant not in found:
            found.append(instant)
    return found


def runs(schedule, after, zone, count):
    """The first `count` firings after the wall time `after`, and the wall times that were skipped on the way."""
    fired, skipped = [], []
    minutes = [(hour, minute) for hour in sorted(schedule.hour.values) for minute in sorted(schedule.minute.values)]
    day = after.date()
    for _ in range(HORIZON_DAYS):
        if schedule.on(day):
            instants = []
            for hour, minute in minutes:
                wall = datetime(day.year, day.month, day.day, hour, minute)
                if wall <= after:
                    continue
                found = offsets(wall, zone)
                if not found and len(skipped) < MAX_SKIPPED:
                    skipped.append(wall.isoformat(timespec="minutes"))
                for index, instant in enumerate(found):
                    note = None
                    if len(found) == 2:
                        note = f"this wall time comes twice that day ({'first' if index == 0 else 'second'} of two)"
                    instants.append((instant, note))
            # Within a day with a repeated hour the order of the instants is not that of the wall times.
            for instant, note in sorted(instants, key=lambda pair: pair[0]):
                run = {
                    "local": instant.astimezone(zone).isoformat(timespec="minutes"),
                    "utc": instant.strftime("%Y-%m-%dT%H:%MZ"),
                }
                if note:
                    run["note"] = note
                fired.append(run)
                if len(fired) == count:
                    return fired, [wall for wall in skipped if wall <= run["local"][:16]]
        day += timedelta(days=1)
    return fired, skipped


def wall_time(text):
    try:
        parsed = datetime.strptime(text, "%Y-%m-%dT%H:%M")
    except ValueError:
        raise argparse.ArgumentTypeError(f"`{text}` is not a time like 2026-03-27T00:00") from None
    if not FIRST_YEAR <= parsed.year <= LAST_YEAR:
        raise argparse.ArgumentTypeError(f"the year of `{text}` is not between {FIRST_YEAR} and {LAST_YEAR}")
    return parsed


def amount(text):
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_COUNT):
        raise argparse.ArgumentTypeError(f"`{text}` is not a number from 1 to {MAX_COUNT}")
    return int(text)


def zone_named(text):
    try:
        return ZoneInfo(text)
    except (ValueError, OSError, LookupError):
        raise argparse.ArgumentTypeError(f"no time zone `{text}` in the database of this machine") from None


def main():
    parser = argparse.ArgumentParser(
        prog="cron.py",
        description="Explain a five-field cron expression and list when it fires, as JSON.",
        epilog="Exit codes: 0 fine, 1 the expression never fires within 30 years, 2 it cannot be read.",
    )
    parser.add_argument("expression", help='five fields in one argument, such as "30 2 * * 1-5", or a nickname such as @daily')
    parser.add_argument("--after", required=True, type=wall_time, help="list firings after this local time, YYYY-MM-DDTHH:MM")
    parser.add_argument("--zone", default="UTC", help="IANA time zone (default: UTC)")
    parser.add_argument("--count", default=10, type=amount, help=f"how many firings, 1 to {MAX_COUNT} (default: 10)")
    arguments = parser.parse_args()
    try:
        zone = zone_named(arguments.zone)
        schedule = Schedule(arguments.expression)
    except (BadExpression, argparse.ArgumentTypeError) as problem:
        print(f"cron.py: {problem}", file=sys.stderr)
        return 2

    fired, skipped = runs(schedule, arguments.after, zone, arguments.count)
    warnings = schedule.warnings()
    if skipped:
        warnings.append("some wall times do not exist in this zone; what happens then is up to the cron program")
    if any("note" in run for run in fired):
        warnings.append("some wall times come twice in this zone; what happens then is up to the cron program")
    json.dump(
        {
            "expression": arguments.expression,
            "zone": arguments.zone,
            "explanation": [field.words() for field in schedule.fields],
            "days": "either day field" if schedule.either_day else "both day fields",
            "runs": fired,
            "skipped": skipped,
            "warnings": warnings,
        },
        sys.stdout,
        indent=2,
    )
    print()
    if not fired:
        print("cron.py: this expression does not fire within 30 years", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
