//! Numbered jobs in parallel, their results in order.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

/// Works through the jobs below `count` on the threads of the current pool, and hands each result
/// to `take` in the order of the jobs, as soon as all before it are there.
///
/// Whoever is free takes the next job, so that few results wait for their turn. Where `stop` comes
/// to be true no further job is begun; those begun are completed, and what was taken is a run
/// without gaps. Gives the number of results taken.
pub fn in_order<T: Send>(
    count: usize,
    stop: impl Fn() -> bool + Sync,
    work: impl Fn(usize) -> T + Sync,
    take: impl FnMut(usize, T) + Send,
) -> usize {
    let next = AtomicUsize::new(0);
    let queue = Mutex::new(Queue { taken: 0, waiting: BTreeMap::new(), take });
    (0..count).into_par_iter().for_each(|_| {
        if stop() {
            return;
        }
        let job = next.fetch_add(1, Ordering::Relaxed);
        let result = work(job);
        queue.lock().expect("no job panics while it holds the queue").add(job, result);
    });
    queue.into_inner().expect("no job panicked").taken
}

struct Queue<T, F> {
    taken: usize,
    waiting: BTreeMap<usize, T>,
    take: F,
}

impl<T, F: FnMut(usize, T)> Queue<T, F> {
    fn add(&mut self, job: usize, result: T) {
        self.waiting.insert(job, result);
        while let Some(result) = self.waiting.remove(&self.taken) {
            (self.take)(self.taken, result);
            self.taken += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squares(threads: usize, count: usize, stop_at: usize) -> (usize, Vec<usize>) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let done = AtomicUsize::new(0);
        let mut seen = Vec::new();
        let taken = pool.install(|| {
            in_order(
                count,
                || done.load(Ordering::Relaxed) >= stop_at,
                |job| {
                    done.fetch_add(1, Ordering::Relaxed);
                    job * job
                },
                |job, square| {
                    assert_eq!(job * job, square);
                    seen.push(job);
                },
            )
        });
        (taken, seen)
    }

    #[test]
    fn results_come_in_order_at_any_number_of_threads() {
        for threads in [1, 2, 5] {
            let (taken, seen) = squares(threads, 1_000, usize::MAX);
            assert_eq!((taken, seen), (1_000, (0..1_000).collect()));
        }
    }

    #[test]
    fn an_early_end_leaves_no_gap() {
        for threads in [1, 3] {
            let (taken, seen) = squares(threads, 1_000, 100);
            assert!((100..100 + threads).contains(&taken), "{taken}");
            assert_eq!(seen, (0..taken).collect::<Vec<_>>());
        }
    }
}
