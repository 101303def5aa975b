import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { chmod, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { openDatabase, sql } from '../../src/database/db.ts'
import { type Postgres, startPostgres } from '../../src/postgres/postgres.ts'
import { type Asked, askOnce } from '../support/asking.ts'
import { seeded } from '../support/random.ts'
import { waysTo } from '../support/reaching.ts'
import { urlOf } from '../support/standby.ts'
import { verdict } from '../support/verdict.ts'
import { openInstallation } from './installation.ts'
import { whole } from './options.ts'
import { writeAndFollow } from './primaries/following.ts'
import { makeRetailers, type Retailer, urlFiles } from './primaries/retailers.ts'
import { quantile, tell } from './telling.ts'

const { services, moves, seconds, rate, times, keep } = new Command('npm run trial -- primaries')
  .description(
    'Three PostgreSQL servers with many services: some are moved from one to another while all are asked, then one server is killed. Judges that nothing\nis lost, told twice or stamped back by a move, that writes pause for less than 5 s, and that of the dead server only its own services notice.',
  )
  .option('--services <number>', 'how many services', whole, 200)
  .option('--moves <number>', 'how many of them are moved', whole, 20)
  .option('--seconds <number>', 'how long is measured before the kill, and behind it', whole, 30)
  .option('--rate <number>', 'requests a second', whole, 60)
  .option(
    '--times <number>',
    'by how many tenths p99 of the others may be longer behind the kill; 0 judges no times',
    whole,
    13,
  )
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run trial -- primaries\n  npm run trial -- primaries --services 12 --moves 2 --seconds 4 --rate 20 --times 0\n',
  )
  .parse()
  .opts<{ services: number; moves: number; seconds: number; rate: number; times: number; keep?: boolean }>()

const home = mkdtempSync(join(tmpdir(), 'tillbridge-primaries-'))
await chmod(home, 0o711)
const start = (name: string, restartWaitsMs: number[] = []) =>
  startPostgres(join(home, name), { settings: { max_connections: '80' }, restartWaitsMs })
const [first, east, west] = await Promise.all([start('control'), start('east'), start('west')])
const urlAt = (server: Postgres) => urlOf([server], server.connection.database)
const places = new Map([
  ['east', urlAt(east)],
  ['west', urlAt(west)],
])
const installation = await openInstallation({ apis: 2, workers: 1, at: { url: urlAt(first), stop: async () => {} } })
const { db: control, keys, apis, secret } = installation
const random = seeded(1)
const ways = waysTo(apis, {}, random)
const cli = fileURLToPath(new URL('../../src/cli.js', import.meta.url))

/** Runs a command; returns what it says. */
async function command(...args: string[]) {
  const env = { ...process.env, DATABASE_URL: urlAt(first), SECRET_KEY: secret, DATA_DIR: join(home, 'data') }
  const child = spawn(process.execPath, [cli, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', text => {
      said += text
    })
  const [code] = await once(child, 'close')
  return { code: code as number, said }
}

interface Seen {
  retailer: Retailer
  /** Where it was when it was asked. */
  at: string | undefined
  status: number
  ms: number
}

async function ask<Data>(retailer: Retailer, asked: Asked) {
  const way = ways.any()
  if (!way) throw new Error('the processes have ended')
  return askOnce<Data>(asked, { ...way, headers: retailer.headers }).catch(() => undefined)
}

let written = 0
/** One request for any of some services; a fifth of them write. */
async function one(retailer: Retailer): Promise<Seen> {
  const email = `new-${written++}@example.com`
  const body = { firstname: 'Ann', surname: 'Lee', contact: { email } }
  const reads = ['/customers/c1', '/customers/search?limit=10', '/changes?limit=10', '/stores']
  const asked: Asked = random.chance(0.2)
    ? { method: 'POST', path: '/customers', key: email, body }
    : { method: 'GET', path: random.pick(reads) }
  const [began, at] = [performance.now(), retailer.at]
  const answer = await ask(retailer, asked)
  if (answer?.status === 201) retailer.acknowledged.push(email)
  return { retailer, at, status: answer?.status ?? 0, ms: performance.now() - began }
}

/** Asks at a fixed rate, whatever the answers take, until it is over. */
async function load(among: readonly Retailer[], isOver: () => boolean): Promise<Seen[]> {
  const under: Promise<Seen>[] = []
  for (let next = performance.now(); !isOver(); next += 1_000 / rate) {
    under.push(one(random.pick(among)))
    await delay(Math.max(0, next - performance.now()))
  }
  return Promise.all(under)
}

const forSeconds = (count: number) => {
  const ends = performance.now() + count * 1_000
  return () => performance.now() > ends
}
const p99 = (seen: readonly Seen[]) =>
  quantile(
    seen.map(({ ms }) => ms),
    0.99,
  )
const oddOf = (seen: readonly Seen[]) =>
  seen
    .filter(({ status }) => status !== 200 && status !== 201)
    .map(({ retailer, status }) => `${retailer.service.name}: ${status}`)

let again: Postgres | undefined
try {
  for (const { name, file } of urlFiles(home, places)) await command('database', 'add', name, '--url-file', file)
  const all = await makeRetailers(control, keys, places, { services, customers: 50 })
  await load(all, forSeconds(Math.min(10, seconds)))

  // Some of each database go to the next one; into the control database none can.
  const goals = new Map([
    [undefined, 'east'],
    ['east', 'west'],
    ['west', 'east'],
  ])
  const moved = all.slice(0, moves)
  const staying = all.slice(moves)
  let isMoved = false
  const refused: string[] = []
  const paused: number[] = []
  const following = moved.map(each => writeAndFollow(each, ask, () => isMoved))
  const during = load(staying, () => isMoved)
  for (const each of moved) {
    const to = goals.get(each.at) ?? 'east'
    const { code, said } = await command('service', 'move', each.service.name, '--to', to)
    if (code === 0) each.at = to
    else refused.push(`${each.service.name}: ${said.trim()}`)
    paused.push(Number(/paused for ([\d.]+) s/.exec(said)?.[1] ?? 0))
  }
  isMoved = true
  const followed = await Promise.all(following)
  const besideMoves = await during
  const before = await load(all, forSeconds(seconds))

  process.kill(west.pid, 'SIGKILL')
  await west.ended
  const after = await load(all, forSeconds(seconds))
  const isDead = ({ at }: Seen) => at === 'west'
  const others = (seen: readonly Seen[]) => seen.filter(one => !isDead(one))
  again = await start('west')

  const lost: string[] = []
  for (const [name, url] of [[undefined, urlAt(first)] as const, ...places, ['west', urlAt(again)] as const]) {
    if (name === 'west' && url !== urlAt(again)) continue
    const db = openDatabase(url, { max: 2 })
    for (const { at, service, acknowledged } of all) {
      const rows = await db.rows<{ email: string }>(sql`select email from customer where service_id = ${service.id}`)
      if (at !== name && rows.length) lost.push(`${service.name} has rows where it is not`)
      const found = new Set(rows.map(({ email }) => email))
      if (at === name) for (const email of acknowledged) if (!found.has(email)) lost.push(`${service.name}: ${email}`)
      if (at === name && found.size < rows.length) lost.push(`${service.name}: one twice`)
    }
    await db.close()
  }
  const [beforeMs, afterMs] = [p99(others(before)), p99(others(after))]
  const acknowledged = all.reduce((sum, each) => sum + each.acknowledged.length, 0)
  tell('primaries', {
    keep: keep === true,
    figures: [
      ['servers, services, of them moved', `3, ${services}, ${moved.length}`],
      ['requests a second', rate],
      ['writes paused in a move, median and longest, s', `${quantile(paused, 0.5)}, ${Math.max(...paused)}`],
      [
        'from one write to the next in a move, longest, s',
        (Math.max(...followed.map(each => each.pausedMs)) / 1_000).toFixed(1),
      ],
      ['p99 of those that stay, while others are moved, ms', p99(besideMoves).toFixed(0)],
      ['p99 of those on the other servers, before the kill, ms', beforeMs.toFixed(0)],
      ['and behind it, ms', afterMs.toFixed(0)],
      ['requests for those on the dead server', after.filter(isDead).length],
    ],
    verdicts: [
      verdict('each move succeeds', refused, moved.length),
      verdict('writes pause for less than 5 s', paused.filter(each => each >= 5).map(String), paused.length),
      verdict(
        'whoever writes and follows loses nothing, is told nothing twice, and no stamp goes back',
        followed.flatMap(each => each.wrong),
        followed.length,
      ),
      verdict('those that stay notice nothing of moves', oddOf(besideMoves), besideMoves.length),
      verdict('of the dead server only its own services notice', oddOf(others(after)), others(after).length),
      verdict(
        'they are answered 503',
        after
          .filter(isDead)
          .filter(({ status }) => status !== 503)
          .map(({ status }) => String(status)),
        after.filter(isDead).length,
      ),
      ...(times
        ? [
            verdict(
              `p99 of the others is at most ${times / 10} times as long`,
              afterMs > (beforeMs * times) / 10 ? [`${afterMs.toFixed(0)} ms`] : [],
            ),
          ]
        : []),
      verdict('all that was acknowledged is there, once, at one place', lost, acknowledged),
    ],
  })
} finally {
  ways.close()
  await installation.close()
  for (const server of [first, east, west, again]) await server?.stop()
  await rm(home, { recursive: true, force: true })
}
