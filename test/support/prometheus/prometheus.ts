import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createDirectory, pickPort, startCommand, stopServer, waitUntil } from '../processes.ts'
import { timeoutMs } from './monitored-server.ts'

/** The reason to skip a test if Prometheus isn't installed; undefined if it is. */
export const prometheusMissing =
  spawnSync('prometheus', ['--version']).error && 'prometheus (Debian: prometheus) is not installed'

const rules = fileURLToPath(new URL('../../../deploy/prometheus/rules.yml', import.meta.url))

/**
 * Starts Debian's Prometheus, which scrapes one server as docs/operate/monitor.md describes, with our rules. Resolves
 * after the first successful scrape.
 */
export async function startPrometheus(target: string, intervalSeconds: number) {
  const home = createDirectory()
  const port = pickPort()
  const config = join(home, 'prometheus.json')
  const scrape = { scrape_interval: `${intervalSeconds}s`, scrape_timeout: `${intervalSeconds}s` }
  writeFileSync(
    config,
    JSON.stringify({
      global: { ...scrape, evaluation_interval: '1s' },
      rule_files: [rules],
      scrape_configs: [{ job_name: 'tillbridge', static_configs: [{ targets: [target] }] }],
    }),
  )
  const options = [`--storage.tsdb.path=${join(home, 'tsdb')}`, `--web.listen-address=127.0.0.1:${port}`]
  const running = startCommand([`--config.file=${config}`, ...options], {}, { program: ['prometheus'] })

  /** Returns the data of a request to the HTTP API of Prometheus. */
  async function query<T>(path: string, parameters: Record<string, string> = {}): Promise<T> {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(parameters)}`)
    const { status, data, error } = (await response.json()) as { status: string; data: T; error?: string }
    assert.equal(status, 'success', error ?? '')
    return data
  }

  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  await waitUntil(isReady, 'Prometheus is ready', timeoutMs)
  interface Targets {
    activeTargets: { health: string; lastError: string }[]
  }
  let lastError = ''
  const isScraped = async () => {
    const [scraped] = (await query<Targets>('targets')).activeTargets
    lastError = scraped?.lastError ?? ''
    return scraped?.health === 'up'
  }
  await waitUntil(isScraped, 'Prometheus scrapes the server', timeoutMs).catch(error =>
    assert.fail(`${error}: ${lastError}`),
  )
  return { query, close: () => stopServer(running) }
}

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>
