import { enoughInSecond, samplerNames } from '../telemetry/sampling.ts'
import { oneOf, port, type Setting, text, Unfit } from './parsers.ts'

/** What is seen of the installation from outside: its log, its figures, its traces. */
export const telemetrySettings = {
  ACCESS_LOG: oneOf(
    'Whether each request has a line in the log, at `info`: method, route, status, milliseconds, service, account, request id. Without it, at `debug`.',
    'off',
    ['off', 'on'],
  ),
  LOG_LEVEL: oneOf('How much is logged (JSON lines on standard error); `debug` has a line for every request.', 'info', [
    'fatal',
    'error',
    'warn',
    'info',
    'debug',
    'trace',
    'silent',
  ]),
  METRICS_PORT: port(
    'A port of this machine alone that tells metrics (Prometheus), at /metrics. Without it nobody is told.',
    '9464',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    why: 'Where traces are sent: a collector that takes OTLP over HTTP; `/v1/traces` is added. Without it nothing is traced.',
    example: 'http://localhost:4318',
    read(given: string | undefined) {
      if (given === undefined) return
      if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol))
        throw new Unfit('is an address that begins with http:// or https://')
      return given.replace(/\/+$/, '')
    },
  } satisfies Setting<string | undefined>,
  OTEL_EXPORTER_OTLP_HEADERS: {
    why: 'Headers for that collector, as `name=value` separated by commas, values percent-encoded.',
    example: 'authorization=Basic%20dXNlcjpzZWNyZXQ=',
    read(given: string | undefined): Readonly<Record<string, string>> {
      try {
        const pairs = (given ?? '')
          .split(',')
          .filter(Boolean)
          .map(pair => pair.split(/=(.*)/s).map(part => decodeURIComponent(part.trim())))
        return Object.fromEntries(new Headers(pairs.map(([name = '', value = '']) => [name, value])))
      } catch {
        throw new Unfit('is a list like name=value,name=value')
      }
    },
  } satisfies Setting<Readonly<Record<string, string>>>,
  OTEL_SERVICE_NAME: text('What traces call this installation.', 'tillbridge'),
  OTEL_TRACES_SAMPLER: oneOf(
    "Which requests are traced: `always_on` all, `always_off` none, `traceidratio` the share OTEL_TRACES_SAMPLER_ARG. With `parentbased_` in front, a caller's `traceparent` decides, and the rest applies to requests without one.",
    'parentbased_traceidratio',
    samplerNames,
  ),
  OTEL_TRACES_SAMPLER_ARG: {
    why: `The share of \`…traceidratio\`, from 0 to 1. Without it all are traced as long as a process is asked less than ${enoughInSecond} times a second, and about so many of more.`,
    example: '0.1',
    read(given: string | undefined) {
      if (given === undefined) return
      const share = /^[\d.]+$/.test(given) ? Number(given) : Number.NaN
      if (!(share >= 0 && share <= 1)) throw new Unfit('is a number from 0 to 1')
      return share
    },
  } satisfies Setting<number | undefined>,
} as const
