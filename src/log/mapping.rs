//! Which columns of a table mean what.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::input::{InputError, Place, SourceFile, did_you_mean, read_yaml_as};

/// A column mapping file: how a table of attempts is to be read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ColumnMap {
    /// Unit of the columns that hold times: `s`, `ms`, `us` since any origin, or `datetime`.
    pub time_unit: String,
    /// Unit of the columns that hold durations: `s`, `ms` or `us`.
    #[serde(default = "seconds")]
    pub duration_unit: String,
    /// What a row stands for.
    #[serde(default)]
    pub rows: RowsAre,
    /// Names of the columns (or JSON fields).
    pub columns: Columns,
}

/// What a row stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowsAre {
    /// One attempt at a target.
    #[default]
    Attempts,
    /// A whole request: of its attempts the last is seen, if any.
    Requests,
}

fn seconds() -> String {
    "s".into()
}

/// Names of the columns.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Columns {
    /// What all attempts of one request share.
    pub request: String,
    /// Where the attempt went; of rows that are requests the last, and absent where nobody knows.
    #[serde(default)]
    pub target: Option<String>,
    /// When it was sent; of rows that are requests, when it arrived.
    pub sent: String,
    /// When it ended; or give `took`.
    #[serde(default)]
    pub ended: Option<String>,
    /// How long it took.
    #[serde(default)]
    pub took: Option<String>,
    /// What stays the same when an SDK or application sends the request again.
    #[serde(default)]
    pub action: Option<String>,
    /// How often it had been sent before; 0 for the first time.
    #[serde(default)]
    pub resent: Option<String>,
    /// What two requests for the same thing share, such as a hash of the prompt: one that comes within a
    /// minute of a failure of the same is that one, sent again. Not needed with `action`.
    #[serde(default)]
    pub fingerprint: Option<String>,
    /// Of rows that are requests: how many attempts it took.
    #[serde(default)]
    pub attempts: Option<String>,
    /// Route class.
    #[serde(default)]
    pub class: Option<String>,
    /// Who runs the target.
    #[serde(default)]
    pub provider: Option<String>,
    /// The model.
    #[serde(default)]
    pub model: Option<String>,
    /// Where it runs.
    #[serde(default)]
    pub region: Option<String>,
    /// Position of the target's group among the class's groups, from 0.
    #[serde(default)]
    pub group: Option<String>,
    /// When the request arrived; the first attempt's sending where absent.
    #[serde(default)]
    pub arrived: Option<String>,
    /// When headers came.
    #[serde(default)]
    pub headers: Option<String>,
    /// When the first output came.
    #[serde(default)]
    pub first_output: Option<String>,
    /// HTTP status; 0 or empty where there was none.
    #[serde(default)]
    pub status: Option<String>,
    /// Failure class, as `docs/scenario-reference.md` lists them; found from the status where absent.
    #[serde(default)]
    pub failure: Option<String>,
    /// Whether the gateway or the caller gave it up.
    #[serde(default)]
    pub cancelled: Option<String>,
    /// Wait hint of its answer, a duration.
    #[serde(default)]
    pub retry_after: Option<String>,
    /// Input tokens.
    #[serde(default)]
    pub input_tokens: Option<String>,
    /// Of those, read from a cache.
    #[serde(default)]
    pub cached_tokens: Option<String>,
    /// Output tokens.
    #[serde(default)]
    pub output_tokens: Option<String>,
    /// The bill in dollars.
    #[serde(default)]
    pub cost: Option<String>,
    /// Columns that only our ledger has.
    #[serde(skip)]
    pub(super) ours: Option<Ours>,
}

/// What only our ledger has, by its own names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ours;

impl ColumnMap {
    /// Reads a mapping.
    ///
    /// # Errors
    /// The file holds a mistake.
    pub fn read(file: &SourceFile) -> Result<ColumnMap, InputError> {
        let map: ColumnMap = read_yaml_as("a mapping of columns", file)?;
        let at = Place::root(file);
        let units = ["s", "ms", "us", "datetime"];
        for (key, unit, known) in [
            ("time_unit", &map.time_unit, &units[..]),
            ("duration_unit", &map.duration_unit, &units[..3]),
        ] {
            if !known.contains(&unit.as_str()) {
                return Err(at
                    .key(key)
                    .error(format!("no such unit is called `{unit}`"))
                    .fix(did_you_mean(unit, "unit", known.iter().copied())));
            }
        }
        if map.columns.ended.is_none() == map.columns.took.is_none() {
            let message = "name either `ended` or `took`";
            return Err(at.key("columns").error(message).fix("a row needs its end, once"));
        }
        let attempts = map.rows == RowsAre::Attempts;
        if attempts && map.columns.target.is_none() {
            let error = at.key("columns").key("target").error("is missing");
            return Err(
                error.fix("name it, or say `rows: requests` where a row is a whole request")
            );
        }
        if attempts && map.columns.attempts.is_some() {
            let error = at.key("columns").key("attempts").error("is of rows that are requests");
            return Err(error.fix("say `rows: requests`, or leave it out"));
        }
        Ok(map)
    }

    /// Our own ledger.
    pub(super) fn ledger() -> ColumnMap {
        let some = |name: &str| Some(name.to_owned());
        ColumnMap {
            time_unit: "s".into(),
            duration_unit: "s".into(),
            rows: RowsAre::Attempts,
            columns: Columns {
                request: "request".into(),
                target: some("target"),
                sent: "sent_s".into(),
                ended: some("ended_s"),
                took: None,
                action: some("correlation"),
                resent: None,
                fingerprint: None,
                attempts: None,
                class: some("class"),
                provider: some("provider"),
                model: some("model"),
                region: some("region"),
                group: some("group"),
                arrived: some("arrived_s"),
                headers: some("headers_s"),
                first_output: some("first_output_s"),
                status: some("status"),
                failure: some("failure"),
                cancelled: some("cancelled"),
                retry_after: None,
                input_tokens: some("input_tokens"),
                cached_tokens: some("cached_tokens"),
                output_tokens: some("output_tokens"),
                cost: some("cost_usd"),
                ours: Some(Ours),
            },
        }
    }

    /// Every column that is named.
    pub(super) fn named(&self) -> impl Iterator<Item = &str> {
        let c = &self.columns;
        let optional = [
            &c.fingerprint,
            &c.attempts,
            &c.ended,
            &c.took,
            &c.action,
            &c.resent,
            &c.class,
            &c.provider,
            &c.model,
            &c.region,
            &c.group,
            &c.arrived,
            &c.headers,
            &c.first_output,
            &c.status,
            &c.failure,
            &c.cancelled,
            &c.retry_after,
            &c.input_tokens,
            &c.cached_tokens,
            &c.output_tokens,
            &c.cost,
        ];
        let first = [Some(&c.request), c.target.as_ref(), Some(&c.sent)];
        let all = first.into_iter().flatten().chain(optional.into_iter().flatten());
        all.map(String::as_str)
    }

    pub(super) fn blind_to(&self) -> Vec<String> {
        let columns = &self.columns;
        let known = [&columns.action, &columns.fingerprint, &columns.resent];
        let without = [
            (
                known.into_iter().find(|column| column.is_some()).unwrap_or(&None),
                "requests that an SDK or application sends again are not recognised: demand may be counted too high",
            ),
            (
                &columns.first_output,
                "the first output is not seen: an answer's time is laid on its first token",
            ),
            (&columns.retry_after, "wait hints are not seen: none is simulated"),
            (
                &columns.output_tokens,
                "tokens are not seen: every request is taken for one of 500 in and 200 out",
            ),
            (
                &columns.cost,
                "bills are not seen: prices are zero until you put them into the cards",
            ),
            (
                &columns.group,
                "groups are not seen: whoever is tried first is taken for primary, the rest for fallbacks in the order of their use",
            ),
        ];
        let of = |(column, words): &(&Option<String>, &str)| {
            column.is_none().then(|| (*words).to_owned())
        };
        let failures = [&columns.status, &columns.failure];
        let unseen = failures.iter().all(|column| column.is_none()).then(|| {
            "whether a call failed is not seen: every one is taken to have been answered".to_owned()
        });
        unseen.into_iter().chain(without.iter().filter_map(of)).collect()
    }
}
