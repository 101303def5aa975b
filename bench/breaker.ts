import { Agent, request } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { startSimulatorProcess } from '../simulator/control/process.ts'
import { sql } from '../src/database/db.ts'
import { addAccount, addPassword } from '../src/store/accounts/accounts.ts'
import { setBackOffice } from '../src/store/backoffice/connections.ts'
import { addService } from '../src/store/tenancy/services.ts'
import { type Bench, measureRequest, type Sample } from './rig/bench.ts'
import type { LoadedDatabase } from './rig/database.ts'
import { type RunningService, startService } from './rig/processes.ts'
import { formatPercent, formatTenths, formatWhole, getMedianBy, type Section } from './rig/report.ts'
import { buildScenarios } from './rig/scenarios.ts'

const name = 'bench-breaker'
/** Requests per second: writes of the service whose back office fails, and reads of the other service. */
const rates = { writes: 40, reads: 200 }
/** Maximum ratio of the p99 of the other service's reads to that with a healthy back office. */
const maxRatio = 1.2
/**
 * Minimum seconds of a measurement. Calls without a response time out after ten seconds, and the circuit breaker opens only after
 * that.

 */
const minSeconds = 12

/** States of the back office. */
const states = ['alive', 'gone', 'silent'] as const
type State = (typeof states)[number]

/** Measures how much slower one service's reads are while another service's back office is down. */
export async function measureBreaker(bench: Bench, loaded: LoadedDatabase): Promise<Section> {
  const { db, keys } = loaded
  const simulator = await startSimulatorProcess()
  await db.run(sql`delete from service where name = ${name}`)
  const created = await addService(db, name, { currency: 'AUD', writesPerMinute: 'off', readsPerMinute: 'off' })
  if (!created) throw new Error(`the service ${name} already exists`)
  await setBackOffice(db, keys, created, { driver: 'apparel21', url: simulator.url, country: 'AU' })
  const password = (await addAccount(db, keys, name, created, 'maintainer')) ?? (await addPassword(db, keys, name))
  const service = await startService(bench.directory, {
    DATABASE_URL: loaded.url,
    RUN_JOBS: 'false',
    LOG_LEVEL: 'fatal',
  })
  const scenario = (await buildScenarios(loaded)).find(candidate => candidate.name === 'customers, first page')
  if (!scenario) throw new Error('the scenario "customers, first page" is missing')
  const seconds = Math.max(bench.seconds, minSeconds)
  const samples = new Map<State, Sample[]>(states.map(state => [state, []]))
  const responses = new Map<State, Map<number, number>>(states.map(state => [state, new Map()]))
  try {
    for (let round = 0; round < bench.rounds; round++)
      for (const state of states) {
        bench.say(`  ${state}`)
        if (state === 'gone') await simulator.remote.addFault({ kind: 'down' })
        if (state === 'silent') await simulator.remote.addFault({ kind: 'hang' })
        const neighbour = lookUpVouchers(service, password, responses.get(state) ?? new Map())
        samples
          .get(state)
          ?.push(await measureRequest(bench, service, scenario, { connections: 32, rate: rates.reads, seconds }))
        await neighbour.stop()
        await simulator.remote.clearFaults()
        await waitUntilClosed(service, password)
      }
  } finally {
    await service.stop()
    await simulator.stop()
    await db.run(sql`delete from service where name = ${name}`)
  }
  const medians = states.map(state => ({ state, ...getMedianBy(samples.get(state) ?? [], sample => sample.p99) }))
  const [alive] = medians
  return {
    title: "A neighbour's dead back office",
    about: `One service looks up vouchers in its back office ${rates.writes} times a second, whatever the responses are. Another service in the same process reads ${rates.reads} pages of customers a second. The back office responds (alive), resets every connection (gone), or accepts connections and never responds (silent).`,
    tables: [
      {
        caption: 'Reads of the other service',
        head: ['back office', 'pages/s', 'p50 ms', 'p99 ms', 'share of alive', 'responses of the first service'],
        rows: medians.map(({ state, responsesPerSecond, p50, p99 }) => [
          ...[state, formatWhole(responsesPerSecond), formatTenths(p50), formatTenths(p99)],
          formatPercent(p99 / (alive?.p99 ?? Number.NaN)),
          [...(responses.get(state) ?? [])].map(([status, count]) => `${count} of ${status}`).join(', '),
        ]),
      },
    ],
    targets: medians.slice(1).map(({ state, p99 }) => ({
      label: `p99 of reads, the neighbour's back office ${state}`,
      expected: `at most ${formatPercent(maxRatio)} of alive`,
      actual: formatPercent(p99 / (alive?.p99 ?? Number.NaN)),
      met: p99 <= maxRatio * (alive?.p99 ?? Number.NaN),
    })),
  }
}

const body = JSON.stringify({ number: '6000001', pin: '1234' })

/** Sends one look-up. Returns its status, or 0 if there was no response. */
function lookUp({ port, ca }: RunningService, password: string, agent: Agent): Promise<number> {
  const headers = {
    authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
    'x-service-name': name,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  }
  return new Promise(resolve => {
    const options = { host: 'localhost', port, ca, agent, method: 'POST', path: '/vouchers/lookup', headers }
    const requested = request(options, response => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0))
    })
    requested.once('error', () => resolve(0))
    requested.end(body)
  })
}

/** Sends look-ups at a steady rate, and counts the responses by status. */
function lookUpVouchers(service: RunningService, password: string, counts: Map<number, number>) {
  const agent = new Agent({ keepAlive: true })
  const pending = new Set<Promise<void>>()
  const timer = setInterval(() => {
    const lookup = lookUp(service, password, agent).then(status => {
      counts.set(status, (counts.get(status) ?? 0) + 1)
      pending.delete(lookup)
    })
    pending.add(lookup)
  }, 1_000 / rates.writes)
  return {
    async stop() {
      clearInterval(timer)
      await Promise.all(pending)
      agent.destroy()
    },
  }
}

/** Waits until the circuit breaker is closed again. */
async function waitUntilClosed(service: RunningService, password: string) {
  const agent = new Agent()
  for (let successes = 0; successes < 3; ) {
    successes = (await lookUp(service, password, agent)) === 200 ? successes + 1 : 0
    await delay(100)
  }
  agent.destroy()
}
