"""Where events go: a local log, Prometheus, Langfuse, OpenTelemetry; each is imported only when it is switched on."""
