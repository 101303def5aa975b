import { Agent, request } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { startSimulatorProcess } from '../simulator/control/process.ts'
import { sql } from '../src/database/db.ts'
import { addAccount, addPassword } from '../src/store/accounts/accounts.ts'
import { setBackOffice } from '../src/store/backoffice/connections.ts'
import { addService } from '../src/store/tenancy/services.ts'
import { ask, type Bench, type Sample } from './rig/bench.ts'
import type { Loaded } from './rig/database.ts'
import { type Running, startService } from './rig/processes.ts'
import { medianBy, percent, type Section, tenths, whole } from './rig/report.ts'
import { scenariosOf } from './rig/scenarios.ts'

const name = 'bench-breaker'
/** Requests per second: writes of the service whose back office fails, and reads of the other service. */
const rates = { writes: 40, reads: 200 }
/** Limit: the slowest response of the neighbour may take this many times as long. */
const maxRatio = 1.2
/**
 * Minimum seconds of a measurement. Unanswered calls time out after ten seconds, and the circuit opens only after
 * that.
 */
const leastSeconds = 12

/** States of the back office. */
const states = ['alive', 'gone', 'silent'] as const
type State = (typeof states)[number]

/** Measures how much slower one service's reads are while another service's back office is down. */
export async function measureBreaker(bench: Bench, loaded: Loaded): Promise<Section> {
  const { db, keys } = loaded
  const simulator = await startSimulatorProcess()
  await db.run(sql`delete from service where name = ${name}`)
  const created = await addService(db, name, { currency: 'AUD', writesPerMinute: 'off', readsPerMinute: 'off' })
  if (!created) throw new Error('it was just deleted')
  await setBackOffice(db, keys, created, { driver: 'apparel21', url: simulator.url, country: 'AU' })
  const password = (await addAccount(db, keys, name, created, 'maintainer')) ?? (await addPassword(db, keys, name))
  const service = await startService(bench.directory, {
    DATABASE_URL: loaded.url,
    RUN_JOBS: 'false',
    LOG_LEVEL: 'fatal',
  })
  const scenario = (await scenariosOf(loaded)).find(candidate => candidate.name === 'customers, first page')
  if (!scenario) throw new Error('there is such a scenario')
  const seconds = Math.max(bench.seconds, leastSeconds)
  const samples = new Map<State, Sample[]>(states.map(state => [state, []]))
  const responses = new Map<State, Map<number, number>>(states.map(state => [state, new Map()]))
  try {
    for (let round = 0; round < bench.rounds; round++)
      for (const state of states) {
        bench.say(`  ${state}`)
        if (state === 'gone') await simulator.remote.addFault({ kind: 'down' })
        if (state === 'silent') await simulator.remote.addFault({ kind: 'hang' })
        const neighbour = lookUpVouchers(service, password, responses.get(state) ?? new Map())
        samples.get(state)?.push(await ask(bench, service, scenario, { connections: 32, rate: rates.reads, seconds }))
        await neighbour.stop()
        await simulator.remote.clearFaults()
        await waitUntilClosed(service, password)
      }
  } finally {
    await service.stop()
    await simulator.stop()
    await db.run(sql`delete from service where name = ${name}`)
  }
  const medians = states.map(state => ({ state, ...medianBy(samples.get(state) ?? [], sample => sample.p99) }))
  const [alive] = medians
  return {
    title: "A neighbour's dead back office",
    about: `One service asks its back office for vouchers, ${rates.writes} times a second, whatever the answers are; another one, in the same process, reads ${rates.reads} pages of customers a second. The back office answers (alive), cuts every connection (gone), or takes them and never answers (silent).`,
    tables: [
      {
        caption: 'Reads of the other service',
        head: ['back office', 'pages/s', 'p50 ms', 'p99 ms', 'against alive', 'answers of the first one'],
        rows: medians.map(({ state, answersPerSecond, p50, p99 }) => [
          ...[state, whole(answersPerSecond), tenths(p50), tenths(p99)],
          percent(p99 / (alive?.p99 ?? Number.NaN)),
          [...(responses.get(state) ?? [])].map(([status, count]) => `${count} of ${status}`).join(', '),
        ]),
      },
    ],
    targets: medians.slice(1).map(({ state, p99 }) => ({
      label: `p99 of reads, the neighbour's back office ${state}`,
      expected: `at most ${percent(maxRatio)} of alive`,
      actual: percent(p99 / (alive?.p99 ?? Number.NaN)),
      met: p99 <= maxRatio * (alive?.p99 ?? Number.NaN),
    })),
  }
}

const body = JSON.stringify({ number: '6000001', pin: '1234' })

/** Sends one look-up. Returns its status, or 0 if there was no response. */
function lookUp({ port, ca }: Running, password: string, agent: Agent): Promise<number> {
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
function lookUpVouchers(service: Running, password: string, counts: Map<number, number>) {
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
async function waitUntilClosed(service: Running, password: string) {
  const agent = new Agent()
  for (let good = 0; good < 3; ) {
    good = (await lookUp(service, password, agent)) === 200 ? good + 1 : 0
    await delay(100)
  }
  agent.destroy()
}
