import { request } from 'node:https'
import { type Running, startService } from './rig/processes.ts'
import { median, type Section, tenths } from './rig/report.ts'

const starts = 5

/** Measures the time from the start of the command to the first response. The command starts the bundled PostgreSQL, on which nothing else can run. */
export async function measureColdStart(directory: string): Promise<Section> {
  // The first start of all migrates the database.
  await (await startService(directory)).stop()
  const seconds: number[] = []
  for (let start = 0; start < starts; start++) {
    const from = performance.now()
    const service = await startService(directory)
    await healthy(service)
    seconds.push((performance.now() - from) / 1_000)
    await service.stop()
  }
  const middle = median(seconds)
  return {
    title: 'Cold start',
    about:
      '`tillbridge start` on a database that exists, the bundled PostgreSQL included, until the first 200 over HTTPS.',
    tables: [
      {
        caption: 'Seconds',
        head: ['', ...seconds.map((_, i) => `start ${i + 1}`), 'median'],
        rows: [['seconds', ...seconds.map(tenths), tenths(middle)]],
      },
    ],
    targets: [{ label: 'cold start', expected: '< 3 s', actual: `${tenths(middle)} s`, met: middle < 3 }],
  }
}

const healthy = ({ port, ca }: Running) =>
  new Promise<void>((resolve, reject) => {
    const requested = request(
      { host: '127.0.0.1', servername: 'localhost', port, ca, path: '/health/ready' },
      response => {
        response.resume()
        if (response.statusCode === 200) resolve()
        else reject(new Error(`The first answer was ${response.statusCode}.`))
      },
    )
    requested.on('error', reject).end()
  })
