import { maxTracesPerSecond, samplerNames } from '../telemetry/sampling.ts'
import { boolean, InvalidSetting, integer, ipAddress, oneOf, port, type Setting, string } from './parsers.ts'

/** The settings of logs, metrics and traces. */
export const telemetrySettings = {
  ACCESS_LOG: boolean(
    'Log every request at `info`: method, route, status, milliseconds, service, account, request ID. Otherwise at `debug`.',
    false,
  ),
  LOG_LEVEL: oneOf(
    'Minimum log level (JSON lines on standard error). `debug` includes a line for every request.',
    'info',
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
  ),
  METRICS_PORT: port(
    'The port that exposes Prometheus metrics at /metrics, also in `tillbridge worker`. If unset, no metrics are exposed.',
    '9464',
  ),
  METRICS_HOST: ipAddress(
    'The IP address of that port. Metrics need no credentials, so open it only to a private network, for example of containers: 0.0.0.0.',
    '127.0.0.1',
  ),
  METRICS_MAX_SERVICES: integer(
    'Maximum services per process that the label `service` of request metrics names. Further services are `_OTHER`. 0: no label.',
    0,
    [0, 1_000],
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    description:
      'The OTLP/HTTP collector that traces, and optionally metrics and logs, are sent to. Tillbridge appends `/v1/traces`, `/v1/metrics` or `/v1/logs`. If unset, nothing is sent.',
    example: 'http://localhost:4318',
    read(value: string | undefined) {
      if (value === undefined) return
      if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
        throw new InvalidSetting('must be a URL that begins with http:// or https://')
      return value.replace(/\/+$/, '')
    },
  } satisfies Setting<string | undefined>,
  OTEL_EXPORTER_OTLP_HEADERS: {
    description: 'Headers for that collector: `name=value`, separated by commas, values percent-encoded.',
    example: 'authorization=Basic%20dXNlcjpzZWNyZXQ=',
    read(value: string | undefined): Readonly<Record<string, string>> {
      try {
        const pairs = (value ?? '')
          .split(',')
          .filter(Boolean)
          .map(pair => pair.split(/=(.*)/s).map(part => decodeURIComponent(part.trim())))
        return Object.fromEntries(new Headers(pairs.map(([name = '', content = '']) => [name, content])))
      } catch {
        throw new InvalidSetting('must be a list such as name=value,name=value')
      }
    },
  } satisfies Setting<Readonly<Record<string, string>>>,
  OTEL_SERVICE_NAME: string('The service name in traces, metrics and logs.', 'tillbridge'),
  OTEL_METRICS_EXPORTER: oneOf(
    '`otlp`: pushes the metrics of `/metrics` to that collector, with or without METRICS_PORT. `none`: pushes no metrics.',
    'none',
    ['none', 'otlp'],
  ),
  OTEL_METRIC_EXPORT_INTERVAL: integer('Milliseconds between two pushes of metrics.', 60_000, [1_000, 3_600_000]),
  OTEL_LOGS_EXPORTER: oneOf(
    '`otlp`: sends log lines to that collector, in addition to standard error. `none`: only to standard error.',
    'none',
    ['none', 'otlp'],
  ),
  OTEL_TRACES_SAMPLER: oneOf(
    "Which requests are traced: `always_on` all, `always_off` none, `traceidratio` the ratio in OTEL_TRACES_SAMPLER_ARG. With the prefix `parentbased_`, a caller's `traceparent` decides, and the sampler applies to requests without one.",
    'parentbased_traceidratio',
    samplerNames,
  ),
  OTEL_TRACES_SAMPLER_ARG: {
    description: `The ratio for \`traceidratio\`, from 0 to 1. If unset, a process traces about ${maxTracesPerSecond} requests a second at most, and all if it has fewer.`,
    example: '0.1',
    read(value: string | undefined) {
      if (value === undefined) return
      const ratio = /^[\d.]+$/.test(value) ? Number(value) : Number.NaN
      if (!(ratio >= 0 && ratio <= 1)) throw new InvalidSetting('must be a number from 0 to 1')
      return ratio
    },
  } satisfies Setting<number | undefined>,
} as const
