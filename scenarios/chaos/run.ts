import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Presets, SingleBar } from 'cli-progress'
import { Command, InvalidArgumentError, Option } from 'commander'
import { sql } from '../../src/database/db.ts'
import { type BackOfficeName, deathsOf } from '../support/borders.ts'
import { commit } from '../support/commit.ts'
import { seeded } from '../support/random.ts'
import { clientOf } from './client.ts'
import { judge } from './judge.ts'
import { judgeUpstream } from './judge-upstream.ts'
import { follow, readShop, type Shop, shop } from './shoppers.ts'
import { takeOver, timeIsUp, weather } from './upstream.ts'
import { openWorld, type World } from './world.ts'

const whole = (text: string) => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It is a whole number.')
  return Number(text)
}

const { seed, kills, shoppers, backOffice } = new Command('npm run chaos --')
  .description(
    'Kills API processes, workers and PostgreSQL at random, and at the borders between two effects (kill -9), while shoppers order, return and pay with\nvouchers over HTTPS, each repeating what was not answered with the same Idempotency-Key. Then it is judged whether\neach write took effect exactly once, and whether every ledger adds up.',
  )
  .option('--seed <number>', 'what chooses the kills and the purchases', whole, randomInt(1, 1_000_000))
  .option('--kills <number>', 'how many processes are killed', whole, 200)
  .option('--shoppers <number>', 'how many shoppers there are', whole, 6)
  .addOption(
    new Option(
      '--back-office <driver>',
      'what stands behind the service; an apparel21 is slow, hangs and loses answers',
    )
      .choices(['embedded', 'apparel21'])
      .default('embedded'),
  )
  .addHelpText(
    'after',
    '\nExamples:\n  npm run chaos -- --seed 7\n  npm run chaos -- --kills 20\n  npm run chaos -- --back-office apparel21\n  npm run chaos -- --back-office apparel21 --shoppers 100\n\nWhich borders they are: docs/testing.md.\n',
  )
  .parse()
  .opts<{ seed: number; kills: number; shoppers: number; backOffice: BackOfficeName }>()

const say = (line: string) => process.stderr.write(`${line}\n`)
say(`Seed ${seed}, ${kills} kills, ${shoppers} shoppers, commit ${commit()}.`)

const random = seeded(seed)
const world = await openWorld(backOffice, random, say)
const { upstream } = world
let over = false
let settled = false
let databaseKills = 0
try {
  const newClient = (of: number) => clientOf(world.apis, world.headers, seeded(seed + of))
  const shared = await readShop(newClient(1))
  if (upstream) {
    const { remote } = upstream
    const today = new Date().toISOString().slice(0, 10)
    const usable = (await remote.vouchers()).filter(
      ({ currency, secure, state, expires }) =>
        currency === 'AUD' && secure && state === 'issued' && (!expires || expires > today),
    )
    shared.vouchers.push(...usable.map(({ number, pin }) => ({ number, pin })))
    shared.usedBefore = new Map(usable.map(({ number, used }) => [number, Math.round(used * 100)]))
    shared.ship = id => remote.change({ kind: 'despatch-order', id: Number(id) })
  }
  const isOver = () => over
  // It goes on until the last purchase is settled: what it has to see is what was acknowledged.
  const following = follow(newClient(2), () => settled)
  const shopping = Array.from({ length: shoppers }, (_, i) =>
    shop(`s${seed}-${i}`, newClient(100 + i), seeded(seed * 1_000 + i), shared, isOver),
  )
  const failing = upstream && weather(upstream, seeded(seed + 3), isOver)
  const failed = Promise.all(shopping).then(() => new Promise<never>(() => {}))
  await Promise.race([killAtRandom(world, shared), failed])
  over = true
  await failing
  const shopped = Promise.all(shopping).then(() => true)
  while (!(await Promise.race([shopped, delay(5_000, false)]))) if (upstream) await timeIsUp(world.db).catch(() => {})
  settled = true
  say(`${shared.deeds.length} writes were settled. Judging …`)
  const seen = await following
  const verdicts = upstream ? await judgeUpstream(world, upstream, shared, seen) : await judge(world, shared, seen)
  for (const { fact, holds, found } of verdicts)
    console.log(`${holds ? '✔' : '✖'} ${fact}${found ? ` (${found})` : ''}`)
  console.log(`Killed: ${deathsOf([...world.apis, ...world.workers])}, PostgreSQL ${databaseKills}.`)
  if (verdicts.some(({ holds }) => !holds)) {
    console.log(
      `To repeat it: npm run chaos -- --seed ${seed} --kills ${kills} --shoppers ${shoppers} --back-office ${backOffice}`,
    )
    process.exitCode = 1
  }
} finally {
  over = true
  settled = true
  await world.close()
}
process.exit()

async function killAtRandom({ apis, workers, postgres, db }: World, shared: Shop) {
  const bar = process.stderr.isTTY
    ? new SingleBar({ format: '{bar} {value}/{total} kills, {eta} s left', hideCursor: true }, Presets.shades_classic)
    : undefined
  bar?.start(kills, 0)
  const killed = () => [...apis, ...workers].reduce((sum, { deaths }) => sum + deaths.length, databaseKills)
  let settledBefore = 0
  let killedAt = 0
  for (let told = 0; killed() < kills; ) {
    await delay(random.whole(200, 1_200))
    const which = random.fraction()
    const target = which < 0.55 ? random.pick(apis) : which < 0.8 ? random.pick(workers) : undefined
    // What has not come up again yet would only be kept down; and on a slow machine writes get their time.
    const isBusy = shared.deeds.length === settledBefore && performance.now() - killedAt < 5_000
    const isUp = await db.row(sql`select 1`).then(Boolean, () => false)
    if (isBusy || !isUp || !apis.some(api => api.isUp) || target?.isUp === false) continue
    // Most of those that are to die at a border live until they get there.
    if (target?.doom && random.chance(0.8)) continue
    // Now and then of the living, too.
    if (upstream && random.chance(0.4)) await takeOver(db).catch(() => {})
    if (target) target.kill()
    else {
      process.kill(postgres.pid, 'SIGKILL')
      databaseKills++
    }
    settledBefore = shared.deeds.length
    killedAt = performance.now()
    bar?.update(killed())
    if (bar || killed() < told + 20) continue
    told = killed()
    say(`${told} of ${kills} kills`)
  }
  bar?.stop()
}
