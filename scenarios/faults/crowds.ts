import { readFileSync } from 'node:fs'
import { connect as connectPlain, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { Command } from 'commander'
import { sql } from '../../src/database/db.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { askOnce } from '../support/asking.ts'
import { seeded } from '../support/random.ts'
import { waysTo } from '../support/reaching.ts'
import { verdict } from '../support/verdict.ts'
import { madeUp } from './customers.ts'
import { processOf } from './held.ts'
import { openInstallation } from './installation.ts'
import { whole } from './options.ts'
import { tell } from './telling.ts'

const { handshakes, slow, readers, crowds, keep } = new Command('npm run trial -- crowds')
  .description(
    'Crowds of clients that stall: handshakes that are not finished, headers and bodies that do not end, answers that nobody reads. Judges that others are\nserved meanwhile, that the service lets all of them go by itself, and that memory, files, timers and sessions of the database are then\nback where they were within 60 s; the last crowd is to take no more memory than those before.',
  )
  .option('--handshakes <number>', 'handshakes that are not finished', whole, 500)
  .option('--slow <number>', 'requests that do not end: half in their headers, half in their bodies', whole, 500)
  .option('--readers <number>', 'clients that do not read what they ask for', whole, 1_000)
  .option('--crowds <number>', 'how many there are, one after the other', whole, 3)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run trial -- crowds\n  npm run trial -- crowds --handshakes 50 --slow 50 --readers 50 --crowds 1\n',
  )
  .parse()
  .opts<{ handshakes: number; slow: number; readers: number; crowds: number; keep?: boolean }>()

const long = 'A street whose name takes all the room it has .....'.slice(0, 50)
const installation = await openInstallation({
  environment: { NODE_OPTIONS: `--import=${new URL('active.ts', import.meta.url)}` },
  prepare: async ({ db, service }) => {
    await upsertCustomers(db, service, madeUp(500, long))
  },
})
const { db, headers, apis } = installation
const [api] = apis
const ways = waysTo(apis, headers, seeded(1))
const { port } = new URL(api?.baseUrl ?? '')
const ca = readFileSync(join(api?.home ?? '', 'tls/ca.pem'))
const own = Object.entries(headers)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')

const serving = await processOf(api?.home ?? '')
const held = async () => ({
  ...(await serving.held()),
  busy: await db.run(
    sql`select from pg_stat_activity where application_name like 'api-%' and (state <> 'idle' or xact_start is not null)`,
  ),
})
const asked = async () => {
  const way = ways.any()
  if (!way) throw new Error('the process has ended')
  const begun = performance.now()
  const { status } = await askOnce({ method: 'GET', path: '/customers/search?limit=100' }, way)
  return { status, ms: performance.now() - begun }
}

const open = new Set<Socket>()
const kept = (socket: Socket) => {
  open.add(socket)
  return socket.on('error', () => {}).on('close', () => open.delete(socket))
}
const overTls = (text: string) =>
  new Promise<Socket>(resolve => {
    const socket = connectTls({
      port: Number(port),
      host: '127.0.0.1',
      servername: 'localhost',
      ca,
      ALPNProtocols: ['http/1.1'],
    })
    kept(socket).once('close', () => resolve(socket))
    socket.once('secureConnect', () => {
      socket.write(text)
      resolve(socket)
    })
  })

/** One crowd, from its first client until all that it took is back, or a minute has passed. */
async function crowd(base: Awaited<ReturnType<typeof held>>) {
  const head = `Host: localhost\r\n${own}`
  for (let i = 0; i < handshakes; i++) kept(connectPlain(Number(port), '127.0.0.1')).resume()
  for (let i = 0; i < slow; i++)
    (
      await overTls(
        i % 2
          ? `GET /stores HTTP/1.1\r\n${head}`
          : `POST /customers HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: 1000\r\n\r\n{`,
      )
    ).resume()
  // As many requests as fill what lies between: the server has more to say than anybody takes.
  for (let i = 0; i < readers; i++)
    (await overTls(`GET /customers/search?limit=100 HTTP/1.1\r\n${head}\r\n`.repeat(20))).pause()
  const most = await held()
  const served = []
  for (let i = 0; i < 20; i++) served.push(await asked())
  const begun = performance.now()
  const since = () => (performance.now() - begun) / 1_000
  while ([...open].some(socket => !socket.isPaused()) && since() < 60) await delay(250)
  const letGo = since()
  const stalled = [...open].filter(socket => !socket.isPaused()).length
  // Those that do not read do not see either that they are let go: the service has their files no more.
  let now = await held()
  for (; now.files > base.files + 5 && since() < 120; now = await held()) await delay(250)
  const readersLetGo = since()
  for (const socket of open) socket.destroy()
  const isBack = () => now.busy === 0 && now.timers <= base.timers + 5 && now.live <= base.live + 30
  for (; !isBack() && since() < readersLetGo + 60; now = await held()) {
    await delay(500)
    await asked()
  }
  return { most, served, letGo, stalled, now, readersLetGo, back: since() }
}

try {
  for (let i = 0; i < 20; i++) await asked()
  const base = await held()
  const all = [await crowd(base)]
  while (all.length < crowds) all.push(await crowd(base))
  const customers = await db.run(sql`select from customer`)
  const served = all.flatMap(({ served }) => served)
  const each = (of: (one: (typeof all)[number]) => number) => all.map(of).join(', ')
  const seconds = (of: (one: (typeof all)[number]) => number) => all.map(one => of(one).toFixed(1)).join(', ')
  const peaks = all.map(({ most }) => most.mebibytes)
  const [last = 0, before = last] = [peaks.at(-1), Math.max(...peaks.slice(0, -1))].filter(Number.isFinite)
  const over = (of: 'files' | 'timers' | 'live' | 'busy', most: number) =>
    all.map(({ now }) => now[of] - base[of]).flatMap(more => (more > most ? [`${more} more`] : []))
  tell('crowds', {
    keep: keep === true,
    figures: [
      ['handshakes, requests that do not end, clients that do not read', `${handshakes}, ${slow}, ${readers}`],
      ['files before, with each crowd', `${base.files}, ${each(({ most }) => most.files)}`],
      ['files after each', each(({ now }) => now.files)],
      ['MiB of objects and buffers before, with each crowd', `${base.live}, ${each(({ most }) => most.live)}`],
      ['MiB of objects and buffers after each', each(({ now }) => now.live)],
      ['MiB resident before, with each crowd', `${base.mebibytes}, ${each(({ most }) => most.mebibytes)}`],
      ['MiB resident after each', each(({ now }) => now.mebibytes)],
      ['timers before, after each', `${base.timers}, ${each(({ now }) => now.timers)}`],
      ['slowest of 20 pages meanwhile, ms', Math.round(Math.max(...served.map(({ ms }) => ms)))],
      ['until all but readers were let go, s', seconds(({ letGo }) => letGo)],
      ['until those who do not read were let go, s', seconds(({ readersLetGo }) => readersLetGo)],
      ['until all was back, s', seconds(({ back }) => back)],
    ],
    verdicts: [
      verdict(
        'others are served meanwhile',
        served.filter(({ status }) => status !== 200).map(({ status }) => `${status}`),
        served.length,
      ),
      verdict(
        'handshakes and requests that do not end are let go within 60 s',
        all.flatMap(({ stalled }) => (stalled ? [`${stalled}`] : [])),
      ),
      verdict(
        'a client that does not read costs less than 1 MiB',
        last - base.mebibytes > 200 + readers ? [`${last - base.mebibytes} MiB`] : [],
      ),
      verdict('clients that do not read are let go within 120 s, by the service', over('files', 5)),
      verdict('timers are back within 60 s', over('timers', 5)),
      verdict('memory in use is back within 60 s', over('live', 30)),
      // What is freed stays with the process, for the next crowd.
      verdict(
        'the last crowd takes no more than those before',
        last > before * 1.1 ? [`${last - before} MiB more`] : [],
      ),
      verdict('no session of the database is busy', over('busy', 0)),
      verdict('nothing was made', customers === 500 ? [] : [`${customers}`]),
    ],
  })
} finally {
  for (const socket of open) socket.destroy()
  ways.close()
  await installation.close()
}
