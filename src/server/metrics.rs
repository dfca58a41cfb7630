//! What Prometheus reads.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::control::embedded::Embedded;

/// The media type of what [`Metrics::text`] makes.
pub(super) const MEDIA: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Done {
    operation: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Named {
    operation: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Refused {
    code: &'static str,
}

/// Counts since the server started.
pub(super) struct Metrics {
    registry: Registry,
    requests: Family<Done, Counter>,
    seconds: Family<Named, Histogram, fn() -> Histogram>,
    errors: Family<Refused, Counter>,
    in_flight: Gauge,
    queued: Gauge,
    bytes: Gauge,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let mut registry = Registry::with_prefix("checkfu");
        let requests = Family::<Done, Counter>::default();
        registry.register("requests", "Requests answered, by operation and status", requests.clone());
        let seconds = Family::new_with_constructor(histogram as fn() -> Histogram);
        registry.register("request_seconds", "Time until the answer began, by operation", seconds.clone());
        let errors = Family::<Refused, Counter>::default();
        registry.register("errors", "Requests refused, by error code", errors.clone());
        let in_flight = Gauge::default();
        registry.register("requests_in_flight", "Requests in work", in_flight.clone());
        let queued = Gauge::default();
        registry.register("writer_queue", "Writes that wait for the writer", queued.clone());
        let bytes = Gauge::default();
        registry.register("database_bytes", "Bytes of the database and its log", bytes.clone());
        Self { registry, requests, seconds, errors, in_flight, queued, bytes }
    }

    /// A request came.
    pub(super) fn began(&self) {
        self.in_flight.inc();
    }

    /// It was answered, or its client went away.
    pub(super) fn ended(&self, operation: &'static str, status: u16, code: &'static str, seconds: f64) {
        self.in_flight.dec();
        self.requests.get_or_create(&Done { operation, status }).inc();
        self.seconds.get_or_create(&Named { operation }).observe(seconds);
        if !code.is_empty() {
            self.errors.get_or_create(&Refused { code }).inc();
        }
    }

    /// All of it as text.
    pub(super) fn text(&self, embedded: &Embedded) -> String {
        self.queued.set(i64::try_from(embedded.queued()).unwrap_or(i64::MAX));
        self.bytes.set(i64::try_from(embedded.bytes()).unwrap_or(i64::MAX));
        let mut text = String::new();
        // Writing to a text does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

fn histogram() -> Histogram {
    Histogram::new(exponential_buckets(0.0005, 2.0, 16))
}
