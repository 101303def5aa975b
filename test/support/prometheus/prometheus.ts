import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { begin, directory, somePort, stop, until } from '../processes.ts'
import { patienceMs } from './monitored.ts'

/** Why there is no Prometheus here; undefined where there is one. */
export const prometheusMissing =
  spawnSync('prometheus', ['--version']).error && 'prometheus (Debian: prometheus) is not installed'

const rules = fileURLToPath(new URL('../../../deploy/prometheus/rules.yml', import.meta.url))

/** Debian's Prometheus, which reads one service as docs/operate/monitor.md has it, with our rules; it has read it once. */
export async function startPrometheus(target: string, everySeconds: number) {
  const home = directory()
  const port = somePort()
  const config = join(home, 'prometheus.json')
  const scrape = { scrape_interval: `${everySeconds}s`, scrape_timeout: `${everySeconds}s` }
  writeFileSync(
    config,
    JSON.stringify({
      global: { ...scrape, evaluation_interval: '1s' },
      rule_files: [rules],
      scrape_configs: [{ job_name: 'tillbridge', static_configs: [{ targets: [target] }] }],
    }),
  )
  const places = [`--storage.tsdb.path=${join(home, 'tsdb')}`, `--web.listen-address=127.0.0.1:${port}`]
  const running = begin([`--config.file=${config}`, ...places], {}, { program: ['prometheus'] })

  /** What its HTTP API answers. */
  async function ask<T>(path: string, parameters: Record<string, string> = {}): Promise<T> {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(parameters)}`)
    const { status, data, error } = (await answer.json()) as { status: string; data: T; error?: string }
    assert.equal(status, 'success', error ?? '')
    return data
  }

  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until(isReady, 'Prometheus is ready', patienceMs)
  interface Targets {
    activeTargets: { health: string; lastError: string }[]
  }
  let why = ''
  const isRead = async () => {
    const [target] = (await ask<Targets>('targets')).activeTargets
    why = target?.lastError ?? ''
    return target?.health === 'up'
  }
  await until(isRead, 'Prometheus reads the service', patienceMs).catch(error => assert.fail(`${error}: ${why}`))
  return { ask, close: () => stop(running) }
}

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>
