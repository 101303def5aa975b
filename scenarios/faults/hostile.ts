import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { Command, InvalidArgumentError } from 'commander'
import { addAccount } from '../../src/store/accounts/accounts.ts'
import { check } from '../support/expectations/check.ts'
import { openInstallation } from '../support/installation.ts'
import { toApiKey } from '../support/operations/client.ts'
import { parseInteger } from '../support/options.ts'
import { formatCounts, quantile, report, say } from '../support/report.ts'
import { readMainThread, readMemory } from '../support/usage.ts'
import { listFirstRequests } from './hostile/first-requests.ts'
import { hostileInputs } from './hostile/inputs.ts'
import type { HostileResults, HostileTask } from './hostile/send.ts'
import { findProcess } from './process-resources.ts'

const listInputs = (text = '') =>
  (Object.keys(hostileInputs) as HostileTask['input'][]).filter(name => name.includes(text))

/** Throws unless the text is a part of the name of an input. */
function requireInput(text: string): string {
  if (!listInputs(text).length)
    throw new InvalidArgumentError(`It must be a part of one of these names: ${listInputs().join('; ')}.`)
  return text
}

const { clients, seconds, only, maxLive, maxTurn, keep } = new Command('npm run scenario -- hostile')
  .description(
    'Sends the first request of each kind after a start. Then sends each hostile input with many clients at once: long cells, headers and bodies,\nfloods of requests and frames, bodies and files of one byte a second. Requests /health/live ten times a second. Checks its response time, the\nlongest turn of the event loop, and the memory.',
  )
  .option('--clients <numbers>', 'numbers of clients, separated by commas', '64,300')
  .option('--seconds <number>', 'duration of each input', parseInteger, 10)
  .option('--only <text>', 'sends only inputs whose name contains this text', requireInput)
  .option('--max-live <ms>', 'allowed time of /health/live', parseInteger, 100)
  .option('--max-turn <ms>', 'allowed CPU time of a turn of the event loop', parseInteger, 50)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run scenario -- hostile\n  npm run scenario -- hostile --only pipelined --clients 1,64 --seconds 5\n',
  )
  .parse()
  .opts<{ clients: string; seconds: number; only?: string; maxLive: number; maxTurn: number; keep?: boolean }>()

const maxMemoryMib = 1_024
const accountCount = 150
const accounts: Record<string, string>[] = []
const installation = await openInstallation({
  environment: {
    NODE_OPTIONS: `--import=${new URL('process-resources.ts', import.meta.url)}`,
    HTTP2: 'true',
    MAX_MEMORY_MIB: String(maxMemoryMib),
  },
  async prepare({ db, keys, service }) {
    for (let i = 0; i < accountCount; i++) {
      const username = `scenario-${i}`
      const password = await addAccount(db, keys, username, service, 'admin')
      accounts.push({
        authorization: `Basic ${toApiKey(username, password ?? '')}`,
        'x-service-name': service.name,
      })
    }
  },
})
const [server] = installation.apis
if (!server) throw new Error('an API process was started')
const { baseUrl } = server
const serverProcess = await findProcess(server.dataDirectory)

/**
 * Requests `/health/live`, over a new connection unless an agent keeps one. Returns the response time in milliseconds, or infinity if the status
 * isn't 200. Time in which this process or the server waits for a CPU core doesn't count.
 */
function measureLive(agent: Agent | false): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const readClocks = () => {
    const [ownThread, serverThread] = [readMainThread(process.pid), readMainThread(serverProcess.pid)]
    return { now: performance.now() - ownThread.waited - serverThread.waited, worked: serverThread.worked }
  }
  const start = readClocks()
  const outgoing = request(`${baseUrl}/health/live`, { agent, rejectUnauthorized: false }, response =>
    response.resume().once('end', () => {
      const end = readClocks()
      resolve(response.statusCode === 200 ? Math.max(end.now - start.now, end.worked - start.worked) : Infinity)
    }),
  )
  outgoing.on('error', () => resolve(Infinity)).end()
  return promise
}

/** Requests `/health/live` ten times a second, one after the other, until `signal` is aborted. Returns the milliseconds of each response, sorted. */
async function watchLive(signal: AbortSignal, agent: Agent | false): Promise<number[]> {
  const times: number[] = []
  while (!signal.aborted) {
    const [ms] = await Promise.all([measureLive(agent), delay(100)])
    times.push(ms)
  }
  return times.sort((a, b) => a - b)
}

/** Sends the first request of each kind. Returns each with its status and the longest turn of the event loop in milliseconds, longest first. */
async function measureFirstRequests() {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
  const measurements: { name: string; status: number; longestTurnMs: number }[] = []
  await serverProcess.measure()
  for (const { method, path, headers, body } of listFirstRequests()) {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const options = { method, agent, headers: { ...accounts[0], ...headers } }
    const outgoing = request(`${baseUrl}${path}`, options, response =>
      response.resume().once('end', () => resolve(response.statusCode ?? 0)),
    )
    outgoing.on('error', reject).end(body)
    const status = await promise
    const { longestTurnMs } = await serverProcess.measure()
    measurements.push({ name: `${method} ${path}`, status, longestTurnMs })
  }
  agent.destroy()
  return measurements.sort((a, b) => b.longestTurnMs - a.longestTurnMs)
}

/** Sends one input with a number of clients. */
async function runInput(input: HostileTask['input'], count: number) {
  await serverProcess.measure()
  const sender = fork(new URL('hostile/send.ts', import.meta.url))
  const task: HostileTask = { input, clients: count, seconds, baseUrl, accounts }
  const received = Promise.race([
    once(sender, 'message') as Promise<[HostileResults]>,
    once(sender, 'exit').then(([code]) =>
      Promise.reject(new Error(`the process that sends ${input} ended with ${code}`)),
    ),
  ])
  const endController = new AbortController()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  await measureLive(agent)
  sender.send(task)
  const liveTimes = watchLive(endController.signal, agent)
  const newConnections = watchLive(endController.signal, false)
  const [results] = await received
  endController.abort()
  const [times, newTimes] = await Promise.all([liveTimes, newConnections])
  agent.destroy()
  const { longestTurnMs, residentMebibytes } = await serverProcess.measure()
  const slowestMs = times.at(-1) ?? Infinity
  const measurement = {
    name: `${input}, ${count} clients`,
    slowestMs,
    longestTurnMs,
    results,
    text: [
      `${Math.round(slowestMs)} (${Math.round(quantile(times, 0.95))})`,
      `${Math.round(newTimes.at(-1) ?? Infinity)} (${Math.round(quantile(newTimes, 0.95))})`,
      `${longestTurnMs}`,
      `${residentMebibytes} MiB: ${formatCounts(new Map(Object.entries(results)))}`,
    ].join(', '),
  }
  say(`${measurement.name}: ${measurement.text}`)
  return measurement
}

try {
  const inputs = listInputs(only)
  const firstRequests = only === undefined ? await measureFirstRequests() : []
  const runs = []
  for (const count of clients.split(',').map(Number))
    for (const input of inputs) runs.push(await runInput(input, count))
  const { peak } = readMemory(serverProcess.pid)
  report('hostile', {
    keep,
    command: `hostile --clients ${clients} --seconds ${seconds}`,
    measurements: [
      [
        'input',
        'ms until /health/live responds over an open connection: slowest (95th percentile), over new connections, longest turn, memory: results',
      ],
      ...runs.map(({ name, text }) => [name, text] as const),
      ...firstRequests
        .slice(0, 10)
        .map(({ name, longestTurnMs }) => [`first ${name} after a start, longest turn`, `${longestTurnMs}`] as const),
      ['peak of the memory, MB', Math.round(peak)],
    ],
    checks: [
      check(
        `/health/live responds within ${maxLive} ms`,
        runs
          .filter(inputRun => inputRun.slowestMs > maxLive)
          .map(inputRun => `${inputRun.name}: ${Math.round(inputRun.slowestMs)} ms`),
        runs.length,
      ),
      check(
        `no turn of the event loop uses more than ${maxTurn} ms of CPU`,
        runs
          .filter(inputRun => inputRun.longestTurnMs > maxTurn)
          .map(inputRun => `${inputRun.name}: ${inputRun.longestTurnMs} ms`),
        runs.length,
      ),
      ...(firstRequests.length
        ? [
            check(
              `no first request after a start uses more than ${maxTurn} ms of CPU in a turn`,
              firstRequests
                .filter(({ longestTurnMs }) => longestTurnMs > maxTurn)
                .map(({ name, longestTurnMs }) => `${name}: ${longestTurnMs} ms`),
              firstRequests.length,
            ),
            check(
              'no first request is rejected without the account, or fails with a 5xx except 503',
              firstRequests
                .filter(
                  ({ name, status }) =>
                    (status === 401 && !name.endsWith('/console/session')) || (status >= 500 && status !== 503),
                )
                .map(({ name, status }) => `${name}: ${status}`),
              firstRequests.length,
            ),
          ]
        : []),
      check(
        'the memory exceeds its limit by at most 20 %',
        peak > maxMemoryMib * 1.2 ? [`${Math.round(peak)} MB`] : [],
      ),
      check(
        'no response is a 5xx except 503',
        runs.flatMap(inputRun => Object.keys(inputRun.results).filter(status => /^5/.test(status) && status !== '503')),
      ),
      check('the server logs no error', installation.log),
    ],
  })
} finally {
  await installation.close()
}
