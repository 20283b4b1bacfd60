//! The known name a misspelt one was meant to be.

/// The name nearest to `wrong`, if one is near enough to be meant.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A long name is no more than compared by its beginning: the comparison is quadratic.
    let wrong: String = wrong.chars().take(80).collect();
    let mut best: Option<(f64, &str)> = None;
    for name in known {
        let likeness = likeness(&wrong, name);
        // Strictly better only: of equals the first is offered, whatever the order of calls.
        if likeness > best.map_or(0.5, |(most, _)| most) {
            best = Some((likeness, name));
        }
    }
    best.map(|(_, name)| name)
}

/// How like two names are, from 0 to 1: 1 where they differ in capitals at most.
pub(crate) fn likeness(one: &str, other: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(&one.to_lowercase(), &other.to_lowercase())
}

/// What to tell who wrote `wrong`: the nearest name, or all the known ones of this `kind`.
pub fn did_you_mean<'a, I>(wrong: &str, kind: &str, known: I) -> String
where
    I: IntoIterator<Item = &'a str>,
    I::IntoIter: Clone,
{
    let known = known.into_iter();
    if let Some(name) = nearest(wrong, known.clone()) {
        return format!("did you mean `{name}`?");
    }
    let mut names: Vec<String> = known.take(25).map(|name| format!("`{name}`")).collect();
    if names.len() == 25 {
        names[24] = "…".into();
    }
    match names.len() {
        0 => format!("no {kind} is known here"),
        1 => format!("the only {kind} here is {}", names[0]),
        _ => format!("known here: {}", names.join(", ")),
    }
}
