//! A browser spoken to over its DevTools protocol, through a pair of pipes: no port, no driver.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use std::{env, thread};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Names the program goes by.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// No fancy, and nothing of the network.
const FLAGS: &str = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
                     --disable-background-networking --disable-component-update --disable-sync \
                     --remote-debugging-pipe";
/// Longer than any answer takes on a crowded machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with one tab.
pub(crate) struct Browser {
    child: Child,
    to: File,
    from: Receiver<Value>,
    sent: u64,
    session: Option<String>,
    /// What the browser told without being asked.
    pub(crate) events: Vec<Value>,
    // Kept until the browser has ended: its profile and its pipes.
    _folder: TempDir,
}

/// The browser on this machine; `None` where there is none.
pub(crate) fn found() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let places = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let mut places = places;
    places.find(|place| place.is_file())
}

impl Browser {
    /// Starts it.
    pub(crate) fn start(program: &Path) -> Browser {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = |name: &str| {
            let path = folder.path().join(name);
            let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo runs");
            assert!(made.success(), "a pipe can be made");
            path
        };
        let (to, from) = (pipe("to"), pipe("from"));
        let script =
            format!("exec \"$0\" {FLAGS} --user-data-dir=\"$1\" about:blank 3<\"$2\" 4>\"$3\"");
        let child = Command::new("sh")
            .args(["-c", &script])
            .arg(program)
            .arg(folder.path().join("profile"))
            .args([&to, &from])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell starts");
        // Either end of a pipe waits for the other, so both sides open them in one order.
        let to = OpenOptions::new().write(true).open(to).expect("the browser's shell opens it");
        let from = File::open(from).expect("the browser's shell opens it");
        let (tell, told) = channel();
        thread::spawn(move || {
            for message in BufReader::new(from).split(0).map_while(Result::ok) {
                let message = serde_json::from_slice(&message).expect("the browser writes JSON");
                if tell.send(message).is_err() {
                    break;
                }
            }
        });
        let (session, events) = (None, Vec::new());
        let mut browser =
            Browser { child, to, from: told, sent: 0, session, events, _folder: folder };
        let tab = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let tab = json!({"targetId": tab["targetId"], "flatten": true});
        let session = browser.call("Target.attachToTarget", tab)["sessionId"].clone();
        browser.session = session.as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network", "Accessibility"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Calls a method of the protocol, and gives its result.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.sent += 1;
        let mut message = json!({"id": self.sent, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(message.to_string().as_bytes()).expect("the browser reads");
        self.to.write_all(&[0]).expect("the browser reads");
        loop {
            let mut answer = self.next();
            if answer["id"] == self.sent {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].take();
            }
            self.events.push(answer);
        }
    }

    fn next(&mut self) -> Value {
        self.from.recv_timeout(PATIENCE).expect("the browser answers")
    }

    /// Opens a file at this width, and waits until it is complete.
    pub(crate) fn open(&mut self, file: &Path, width: u32) {
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        self.events.clear();
        let path = file.to_str().expect("a path in UTF-8");
        let opened = self.call("Page.navigate", json!({"url": format!("file://{path}")}));
        assert!(opened["errorText"].is_null(), "{opened}");
        let loaded = |event: &Value| event["method"] == "Page.loadEventFired";
        while !self.events.iter().any(loaded) {
            let event = self.next();
            self.events.push(event);
        }
    }

    /// What an expression of the page is.
    pub(crate) fn look(&mut self, expression: &str) -> Value {
        let ask = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.call("Runtime.evaluate", ask);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].take()
    }

    /// Whether the system is to say that it is dark.
    pub(crate) fn prefer_dark(&mut self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": value}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Moves, presses or lets go the mouse.
    pub(crate) fn mouse(&mut self, kind: &str, (x, y): (f64, f64)) {
        let held = if kind == "mouseMoved" { "none" } else { "left" };
        let event = json!({"type": kind, "x": x, "y": y, "button": held, "clickCount": 1});
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Presses a key and lets it go.
    pub(crate) fn key(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({"type": kind, "key": key}));
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Its own children end with it: it is told to go, and killed where it does not hear.
        self.session = None;
        let close = json!({"id": 0, "method": "Browser.close"}).to_string();
        let told = self.to.write_all(close.as_bytes()).and_then(|()| self.to.write_all(&[0]));
        if told.is_err() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
