//! What somebody may have meant by a name that nobody knows.

/// Names longer than this are not compared.
const MAX_COMPARED_CHARS: usize = 64;

/// The name among `known` that differs least from `name`, unless it differs too much to have been meant.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    if length > MAX_COMPARED_CHARS {
        return None;
    }
    let wanted = name.to_lowercase();
    let allowed = (length / 3).max(1);
    known
        .into_iter()
        .filter(|candidate| candidate.chars().count() <= MAX_COMPARED_CHARS)
        .map(|candidate| (strsim::osa_distance(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}
