import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { noBuildah, noCompose } from '../../scenarios/packaging/image/needs.ts'
import { noDebianPostgres } from '../../scenarios/support/debian-postgres.ts'
import { noFaketime, noHaproxy } from '../../scenarios/support/haproxy.ts'
import { trials } from '../../scenarios/trials.ts'
import { checkout, run } from '../support/processes.ts'

// The short forms of trials that take minutes.

const trial = (...args: string[]) => run(args, {}, { program: [process.execPath, join(checkout, 'scenarios/run.ts')] })

/** Runs a trial whose facts all have to hold; returns those. */
async function holds(...args: string[]) {
  const { code, out, err } = await trial(...args)
  assert.equal(code, 0, `${err}\n${out}`)
  return out.split('\n').filter(line => line.startsWith('✔'))
}

test('the trials are listed, and one that there is not is told', async () => {
  const [{ code, out }, unknown] = await Promise.all([trial('--help'), trial('weather')])
  assert.equal(code, 0)
  assert.match(out, /^ {2}halted-database {2}/m)
  assert.deepEqual([unknown.code, unknown.out], [1, out])
})

test('each trial tells what it does when it is asked for help, and does nothing', async () => {
  const told = Object.entries(trials).map(async ([name, { file }]) => {
    const program = [process.execPath, join(checkout, 'scenarios', file)] as const
    return { name, ...(await run(['--help'], {}, { program })) }
  })
  for (const { name, code, out } of await Promise.all(told)) {
    assert.equal(code, 0, name)
    assert.match(out, new RegExp(`^Usage: npm run trial -- ${name} `), name)
    assert.match(out, new RegExp(`^Examples?:\\n +npm run trial -- ${name}`, 'm'), name)
  }
})

test('while PostgreSQL stands still, and when one of its sessions is killed, writes are refused in time, none is lost and none done twice', {
  timeout: 200_000,
}, async () => {
  assert.equal((await holds('halted-database', '--seconds', '7', '--clients', '3')).length, 7)
})

test('behind HAProxy all processes are restarted in turn without a failed request, and of one that is cut off from the database nobody hears', {
  timeout: 600_000,
  skip: noHaproxy ?? noFaketime,
}, async () => {
  assert.equal((await holds('processes', '--seconds', '4', '--clients', '1', '--rounds', '1')).length, 8)
})

test('however many rows it has, a service moves under writers, and its writes pause for less than 5 s', {
  timeout: 300_000,
}, async () => {
  assert.equal((await holds('move', '--rows', '5000')).length, 5)
})

test('the primary is killed under load and its standby promoted: the service comes back, and nothing is lost or done twice', {
  timeout: 600_000,
  skip: noDebianPostgres,
}, async () => {
  assert.equal((await holds('failover', '--seconds', '1', '--clients', '3')).length, 5)
})

test('of an asynchronous standby that is behind only the last moments are lost, and the primary had told how far it was behind', {
  timeout: 600_000,
  skip: noDebianPostgres,
}, async () => {
  assert.equal((await holds('failover', '--asynchronous', '--seconds', '1', '--clients', '3')).length, 5)
})

test('through replicas that are late, stop, jump and stand still, whoever follows lists and changes holds what the primary holds', {
  timeout: 600_000,
}, async () => {
  assert.equal((await holds('replicas', '--seconds', '3', '--clients', '2', '--late', '1')).length, 5)
})

test('services are moved between three servers under load, and of one server that is killed only its own services notice', {
  timeout: 600_000,
}, async () => {
  // What it takes is judged by the long form: beside other tests a second says nothing.
  const short = ['--services', '12', '--moves', '2', '--seconds', '4', '--rate', '20', '--times', '0']
  assert.equal((await holds('primaries', ...short)).length, 7)
})

test('of clients that do not finish handshakes, headers and bodies, or do not read, others notice nothing and nothing is left', {
  timeout: 200_000,
}, async () => {
  assert.equal(
    (await holds('crowds', '--handshakes', '40', '--slow', '40', '--readers', '40', '--crowds', '1')).length,
    9,
  )
})

// Where containers cannot be run it is done in a way that imitates them.
const withoutCompose = noCompose()

test('the image is built of the Dockerfile and runs as compose.yaml has it: no rights, a root that nobody may write, in order to its end', {
  timeout: 300_000,
  skip: withoutCompose && noBuildah,
}, async () => {
  if (withoutCompose) assert.equal((await holds('image', '--here')).length, 9)
  else assert.equal((await holds('compose')).length, 7)
})

test('lines go in through imports that are killed, and come out again as they were, to the byte', {
  timeout: 300_000,
}, async () => {
  assert.equal((await holds('millions', '--lines', '12000', '--kills', '1')).length, 5)
})
