import { request } from 'node:https'
import { type RunningService, startService } from './rig/processes.ts'
import { formatTenths, getMedian, type Section } from './rig/report.ts'

const starts = 5

/** Measures the time from the start of the command to the first response. The command starts the bundled PostgreSQL, so no other part can use it. */
export async function measureColdStart(directory: string): Promise<Section> {
  // The very first start also migrates the database.
  await (await startService(directory)).stop()
  const seconds: number[] = []
  for (let start = 0; start < starts; start++) {
    const from = performance.now()
    const service = await startService(directory)
    await requireHealthy(service)
    seconds.push((performance.now() - from) / 1_000)
    await service.stop()
  }
  const medianSeconds = getMedian(seconds)
  return {
    title: 'Cold start',
    about:
      '`tillbridge start` on an existing database, including the start of the bundled PostgreSQL, until the first 200 over HTTPS.',
    tables: [
      {
        caption: 'Seconds',
        head: ['', ...seconds.map((_, i) => `start ${i + 1}`), 'median'],
        rows: [['seconds', ...seconds.map(formatTenths), formatTenths(medianSeconds)]],
      },
    ],
    targets: [
      { label: 'cold start', expected: '< 3 s', actual: `${formatTenths(medianSeconds)} s`, met: medianSeconds < 3 },
    ],
  }
}

/** Requests the readiness check. Throws if its status isn't 200. */
const requireHealthy = ({ port, ca }: RunningService) =>
  new Promise<void>((resolve, reject) => {
    const requested = request(
      { host: '127.0.0.1', servername: 'localhost', port, ca, path: '/health/ready' },
      response => {
        response.resume()
        if (response.statusCode === 200) resolve()
        else reject(new Error(`The first response has the status ${response.statusCode}.`))
      },
    )
    requested.on('error', reject).end()
  })
