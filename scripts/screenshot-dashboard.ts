import { browserMissing } from '../test/support/browser.ts'
import { startMonitored } from '../test/support/prometheus/monitored.ts'
import { prometheusMissing, startPrometheus } from '../test/support/prometheus/prometheus.ts'
import { startSink } from '../test/support/smtp-sink.ts'
import { keepBusy } from './dashboard/busy.ts'
import { pageOf } from './dashboard/page.ts'
import { askPanels } from './dashboard/panels.ts'
import { takePicture, useFonts } from './take-picture.ts'

// Takes the picture of the dashboard that stands in `docs/`, of five minutes that a Prometheus reads: run it after the dashboard has changed.
const missing = browserMissing ?? prometheusMissing
if (missing) throw new Error(missing)
const seconds = 300
useFonts()
const sink = await startSink()
const monitored = await startMonitored({ SMTP_URL: sink.url })
const prometheus = await startPrometheus(monitored.metrics, 1)
try {
  await keepBusy(monitored, sink, seconds)
  const end = Math.floor(Date.now() / 1_000)
  const span = { start: end - seconds, end, step: 2 }
  await takePicture('dashboard', pageOf(await askPanels(prometheus, span, '20s'), span), { width: 1_600 })
} finally {
  await prometheus.close()
  await monitored.close()
  await sink.close()
}
