use super::*;
use crate::draw::{NameHash, Purpose, stream};

/// One of the Azure traces of 2023; `None`, said on stderr, where the data is not there.
fn azure(file: &str) -> Option<Vec<Row>> {
    let path = format!("{}/../shared/data/{file}", env!("CARGO_MANIFEST_DIR"));
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: {path} is not there");
        return None;
    };
    let row = |line: &str| {
        let mut cells = line.split(',');
        // 2023-11-16 18:15:46.6805900: within one day, so the time of day is enough.
        let time = cells.next()?.split_once(' ')?.1;
        let clock: Vec<f64> =
            time.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        let seconds = clock[0] * 3600.0 + clock[1] * 60.0 + clock[2];
        Some(Row {
            at_us: (seconds * 1e6).round() as u64,
            input: cells.next()?.parse().ok()?,
            output: cells.next()?.trim().parse().ok()?,
            session: 0,
            label: String::new(),
        })
    };
    Some(text.lines().skip(1).map(|line| row(line).expect("a row of the trace")).collect())
}

fn about(name: &str) -> About {
    About {
        name: name.into(),
        description: "A test.".into(),
        source: "rows".into(),
        licence: "none".into(),
        date: "2026-01-01".into(),
    }
}

fn row(at_us: u64, input: u32, output: u32, session: u64) -> Row {
    Row { at_us, input, output, session, label: String::new() }
}

fn read(text: &str) -> Result<Profile, String> {
    let profile: Profile = serde_saphyr::from_str(text).map_err(|e| e.to_string())?;
    profile.check().map_err(|e| e.to_string())?;
    Ok(profile)
}

/// Requests of each second from the profile's start, and the sorted lengths of each minute, of
/// one dealing.
fn dealt(profile: &Profile) -> (Vec<u32>, Vec<[Vec<u32>; 2]>) {
    let mut draws = stream(5, Purpose::TraceShuffle, NameHash::of("chat"));
    let mut counts = Vec::new();
    let mut lengths = Vec::new();
    for minute in &profile.minutes {
        let all = minute.deal(0..minute.counts.len(), &mut draws);
        let mut seconds = vec![0; minute.counts.len()];
        for request in &all {
            seconds[(request.at_us / 1_000_000) as usize] += 1;
        }
        counts.extend(seconds);
        let mut pair = [
            all.iter().map(|request| request.input).collect::<Vec<_>>(),
            all.iter().map(|request| request.output).collect::<Vec<_>>(),
        ];
        pair.iter_mut().for_each(|list| list.sort_unstable());
        lengths.push(pair);
    }
    (counts, lengths)
}

#[test]
fn azure_traces_have_the_published_figures() {
    for (file, rate, requests) in
        [("azure_conv.csv", 5.530, 19_366), ("azure_code.csv", 2.566, 8_819)]
    {
        let Some(rows) = azure(file) else { return };
        let profile = Profile::from_trace(&rows, about(file)).expect("sorted rows");
        assert_eq!(profile.requests(), requests);
        let span_s = (rows[rows.len() - 1].at_us - rows[0].at_us) as f64 / 1e6;
        // One over the mean gap, printed to three decimals.
        assert!(((requests - 1) as f64 / span_s - rate).abs() <= 0.0005, "{file}");
        assert_eq!(profile.seconds(), span_s as u64 + 1);
        assert!(profile.to_yaml().len() < 200_000, "{file}: {}", profile.to_yaml().len());
    }
}

#[test]
fn azure_conversations_use_453_thousand_tokens_a_minute() {
    let Some(rows) = azure("azure_conv.csv") else { return };
    let profile = Profile::from_trace(&rows, about("conv")).expect("sorted rows");
    let (_, lengths) = dealt(&profile);
    let tokens: u64 = lengths.iter().flatten().flatten().map(|&t| u64::from(t)).sum();
    let per_minute = tokens as f64 / (profile.seconds() as f64 / 60.0);
    assert!((per_minute - 453e3).abs() < 1e3, "{per_minute}");
}

/// Counted from the rows alone, not by way of the profile.
#[test]
fn dealing_keeps_every_second_and_every_minute_of_the_trace() {
    let Some(rows) = azure("azure_code.csv") else { return };
    let profile = Profile::from_trace(&rows, about("code")).expect("sorted rows");
    let (counts, lengths) = dealt(&profile);
    let second = |row: &Row| ((row.at_us - rows[0].at_us) / 1_000_000) as usize;
    let mut seconds = vec![0; counts.len()];
    let mut minutes = vec![[Vec::new(), Vec::new()]; lengths.len()];
    for row in &rows {
        seconds[second(row)] += 1;
        minutes[second(row) / 60][0].push(row.input);
        minutes[second(row) / 60][1].push(row.output);
    }
    minutes.iter_mut().flatten().for_each(|list| list.sort_unstable());
    assert_eq!(counts, seconds);
    assert_eq!(lengths, minutes);
}

#[test]
fn shipped_profiles_are_computed_from_the_traces() {
    for (file, shipped) in [
        ("azure_conv.csv", include_str!("../../models/traffic/azure-2023-conversation.yaml")),
        ("azure_code.csv", include_str!("../../models/traffic/azure-2023-code.yaml")),
    ] {
        let profile = read(shipped).expect("a valid profile");
        let Some(rows) = azure(file) else { continue };
        let about = About {
            name: profile.name.clone(),
            description: profile.description.clone(),
            source: profile.source.clone(),
            licence: profile.licence.clone(),
            date: profile.date.clone(),
        };
        assert_eq!(Profile::from_trace(&rows, about).expect("sorted rows").to_yaml(), shipped);
    }
}

#[test]
fn a_profile_reads_back_from_its_text() {
    let mut rows: Vec<Row> = (0..500_u64)
        .map(|i| row(i * i * 700, (i * 37 % 90) as u32, (i % 7) as u32 + 1, i % 40))
        .collect();
    rows[3].label = "GPT-4".into();
    let profile = Profile::from_trace(&rows, about("a \"quoted\" name: #1")).expect("sorted");
    assert!(profile.sessions.is_some() && profile.labels["GPT-4"] == 0.002);
    assert_eq!(read(&profile.to_yaml()), Ok(profile));
}

#[test]
fn text_shows_runs_and_differences() {
    let rows = [row(0, 5, 2, 0), row(1, 5, 9, 0), row(4_100_000, 7, 2, 0)];
    let yaml = Profile::from_trace(&rows, about("x")).expect("sorted").to_yaml();
    let minute = "  - counts: \"2 0*3 1\"\n    input: \"5 0 2\"\n    output: \"2 0 7\"\n";
    assert!(yaml.ends_with(minute), "{yaml}");
}

#[test]
fn rows_out_of_order_and_no_rows_make_no_profile() {
    assert_eq!(Profile::from_trace(&[], about("x")), None);
    assert_eq!(Profile::from_trace(&[row(2, 1, 1, 0), row(1, 1, 1, 0)], about("x")), None);
}

#[test]
fn sessions_are_turns_and_gaps() {
    let second = 1_000_000;
    let times = [(0, 1), (1, 2), (10, 1), (30, 1), (31, 3), (41, 3)];
    let rows = times.map(|(at, session)| row(at * second, 1, 1, session));
    let sessions = Profile::from_trace(&rows, about("x")).expect("sorted").sessions;
    let sessions = sessions.expect("two sessions have several turns");
    assert_eq!(sessions.turns, [1, 1, 1]);
    assert_eq!((sessions.gaps_ms[0], sessions.gaps_ms[20]), (10_000, 20_000));
    let apart = [row(0, 1, 1, 1), row(1, 1, 1, 2)];
    assert_eq!(Profile::from_trace(&apart, about("x")).expect("sorted").sessions, None);
}

#[test]
fn contradictions_are_refused() {
    let good = "{format: 1, name: a, description: b, source: c, licence: d, date: e, \
                minutes: [{counts: '1 1', input: '3 1', output: '2 0'}]}";
    assert_eq!(read(good).map(|p| p.requests()), Ok(2));
    for (from, to, says) in [
        ("format: 1", "format: 2", "format 2"),
        ("'1 1'", "'1 2'", "counts 3 requests"),
        ("'1 1'", "'1 x'", "found `x`"),
        ("'1 1'", "'1*99999999'", "found `1*99999999`"),
        ("'3 1'", "'99999999 99'", "add up to more"),
        ("'1 1', input: '3 1', output: '2 0'", "'0', input: '', output: ''", "no requests"),
        ("minutes: [", "minutes: [{counts: '1', input: '1', output: '1'}, ", "expected 60"),
        ("date: e", "date: e, sessions: {turns: [0], gaps_ms: [1, 2]}", "counts no session"),
        ("date: e", "date: e, sessions: {turns: [1], gaps_ms: [2, 1]}", "ascend"),
        ("date: e", "date: e, rows: 3", "rows"),
    ] {
        let error = read(&good.replace(from, to)).expect_err(to);
        assert!(error.contains(says), "{to}: {error}");
    }
}
