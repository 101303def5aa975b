import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { request } from 'node:https'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../../src/db.ts'
import { forgetAnswers } from '../../../src/store/running/idempotency.ts'
import { fillShop, orderOf, placed, returnOf } from '../../support/order-shop.ts'
import { isProblem } from '../../support/problem.ts'
import { credentials } from '../../support/servers.ts'
import { type Answer, type Caller, startTestService, type TestService } from '../../support/service.ts'
import { post, put } from '../../support/write.ts'

let service: TestService
let other: TestService
before(async () => {
  service = await startTestService({ settings: { writesPerMinute: 'off' } })
  other = await startTestService({ beside: service })
})
after(async () => {
  await other.stop()
  await service.stop()
})

let made = 0
const customer = () => ({ firstname: 'Ann', surname: 'Lee', contact: { email: `ann${++made}@example.com` } })
const keyed = (key: string) => ({ 'idempotency-key': key })
const create = (caller: Pick<Caller, 'request'>, body: unknown, key: string = randomUUID()) =>
  post(caller, '/customers', body, keyed(key))

/** The customers of a service that have this e-mail address. */
const having = async (email: string, caller: Caller = service) =>
  (
    await service.db.rows<{ id: string }>(
      sql`select id from customer where service_id = ${caller.service.id} and lower(email) = lower(${email})`,
    )
  ).length

/** What a caller sees of an answer that is to be the same again. */
const seen = ({ status, text, headers: { etag, location } }: Answer) => ({ status, text, etag, location })
const isReplay = (answer: Answer, first: Answer) => {
  assert.equal(answer.headers['idempotent-replayed'], 'true')
  assert.deepEqual(seen(answer), seen(first))
}

test('the first answer is given again, with all that the caller saw', async () => {
  const body = customer()
  const first = await create(service, body, 'first')
  assert.equal(first.status, 201)
  assert.equal(first.headers['idempotent-replayed'], undefined)
  assert.match(String(first.headers.location), /^\/customers\/./)
  assert.ok(first.headers.etag)
  for (let i = 0; i < 3; i++) isReplay(await create(service, body, 'first'), first)
  assert.equal(await having(body.contact.email), 1)
  await put(service, String(first.headers.location), { firstname: 'Bea' })
  isReplay(await create(service, body, 'first'), first)
})

test('an answer with warnings is given again with them', async () => {
  const body = { ...customer(), emailSubscription: true }
  const first = await create(service, body, 'warned')
  assert.equal(first.json.meta.warnings.length > 0, true)
  isReplay(await create(service, body, 'warned'), first)
})

test('a key has 1 to 255 printable ASCII characters, quoted or bare', async () => {
  for (const key of ['k', '"k2"', 'x'.repeat(255), `"${'y'.repeat(255)}"`, 'a b', '"a, b; c=\'d\'"', '~!@#$%^&*()\\'])
    assert.equal((await create(service, customer(), key)).status, 201, key)
  for (const key of [
    '',
    '""',
    'x'.repeat(256),
    `"${'y'.repeat(256)}"`,
    '"open',
    'clo"sed',
    '"a"b"',
    'schl\u00fcssel',
    'a\tb',
  ])
    isProblem(await create(service, customer(), key), 'idempotency_key_invalid', service.baseUrl, '/customers')
})

test('a quoted key is the bare one', async () => {
  const body = customer()
  const first = await create(service, body, 'quoted or bare')
  isReplay(await create(service, body, '"quoted or bare"'), first)
})

test('two keys in one request are refused', async () => {
  const answer = await service.request('/customers', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': ['"one"', '"two"'] },
    body: JSON.stringify(customer()),
  })
  isProblem(answer, 'duplicate_header', service.baseUrl, '/customers')
})

test('the same JSON is the same request, in any order and spacing', async () => {
  const { firstname, surname, contact } = customer()
  const first = await create(
    service,
    { firstname, surname, contact, address: { city: 'B\u00fcrglen', state: null } },
    'same',
  )
  assert.equal(first.status, 201)
  const spelled = `\ufeff{ "address" : {"state":null,\n"city":"B\\u00fcrglen"},"contact":{"email":"${contact.email}"},
    "\\u0073urname":"${surname}", "firstname":"${firstname}"}`
  isReplay(await create(service, spelled, 'same'), first)
})

test('a key that was used for another request is refused, and does nothing', async () => {
  const body = customer()
  const first = await create(service, body, 'mine')
  const others = [
    { ...body, firstname: 'Bea' },
    { ...body, title: null },
    { ...body, contact: { email: body.contact.email.toUpperCase() } },
    { ...body, contact: { email: 'another@example.com' } },
  ]
  for (const another of others)
    isProblem(await create(service, another, 'mine'), 'idempotency_key_reused', service.baseUrl, '/customers')
  assert.equal(await having('another@example.com'), 0)
  isReplay(await create(service, body, 'mine'), first)
})

test('the path is part of the request: the same key for another order is refused', async () => {
  const shop = await service.tenant({ currency: 'AUD' })
  await fillShop(service.db, shop.service)
  const [one, two] = [
    await placed(shop, [{ sku: 'TEE', quantity: 2 }]),
    await placed(shop, [{ sku: 'TEE', quantity: 2 }]),
  ]
  const returning = (id: string) => post(shop, `/orders/${id}/returns`, returnOf({ TEE: 1 }), keyed('returned'))
  const first = await returning(one.id)
  assert.equal(first.status, 201)
  const path = `/orders/${two.id}/returns`
  isProblem(await returning(two.id), 'idempotency_key_reused', service.baseUrl, path)
  isReplay(await returning(one.id), first)
  assert.deepEqual((await shop.get(path)).json.data, [])
})

test('keys belong to one operation: the same key in another one is another write', async () => {
  const shop = await service.tenant({ currency: 'AUD' })
  await fillShop(service.db, shop.service)
  const answers = [
    await create(shop, customer(), 'everywhere'),
    await post(shop, '/orders', orderOf([{ sku: 'TEE', quantity: 1 }]), keyed('everywhere')),
    await post(shop, '/vouchers/lookup', { number: '1', pin: '000000' }, keyed('everywhere')),
  ]
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers['idempotent-replayed']]),
    [
      [201, undefined],
      [201, undefined],
      [403, undefined],
    ],
  )
})

test('keys belong to one service: the same key and body elsewhere is another write', async () => {
  const shop = await service.tenant()
  const body = customer()
  const [mine, theirs] = [await create(service, body, 'shared'), await create(shop, body, 'shared')]
  assert.deepEqual([mine.status, theirs.status], [201, 201])
  assert.equal(theirs.headers['idempotent-replayed'], undefined)
  assert.notEqual(mine.json.data.id, theirs.json.data.id)
  isReplay(await create(shop, body, 'shared'), theirs)
})

test('keys belong to the service, not to the account that sent them', async () => {
  const colleague = await service.account('maintainer')
  const body = customer()
  const first = await create(service, body, 'colleagues')
  isReplay(await create(colleague, body, 'colleagues'), first)
})

test('who may not write is not given the answer again', async () => {
  const visitor = await service.account('visitor')
  const body = customer()
  await create(service, body, 'visited')
  isProblem(await create(visitor, body, 'visited'), 'insufficient_role', service.baseUrl, '/customers')
})

test('what was refused does not use up its key', async () => {
  const taken = customer()
  await create(service, taken)
  const right = customer()
  const refusals = [
    ['{"bad', 400],
    [{ ...right, colour: 'red' }, 400],
    [{ ...right, dateOfBirth: '2023-02-30' }, 422],
    [{ ...right, dateOfBirth: '1850-01-01' }, 422],
    [{ ...right, contact: taken.contact }, 409],
  ] as const
  for (const [body, status] of refusals) assert.equal((await create(service, body, 'patient')).status, status)
  const first = await create(service, right, 'patient')
  assert.deepEqual([first.status, first.headers['idempotent-replayed']], [201, undefined])
  isReplay(await create(service, right, 'patient'), first)
})

test('50 at once do one write between them: the others wait and are answered again, or are told to', async () => {
  for (let round = 0; round < 3; round++) {
    const body = customer()
    const key = randomUUID()
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => create(i % 2 ? service : other, body, key)))
    const done = answers.filter(({ status }) => status === 201)
    const first = done.filter(({ headers }) => headers['idempotent-replayed'] === undefined)
    assert.equal(first.length, 1)
    assert.equal(new Set(done.map(({ text }) => text)).size, 1)
    for (const [i, answer] of answers.entries())
      if (answer.status !== 201) {
        isProblem(answer, 'idempotency_in_progress', (i % 2 ? service : other).baseUrl, '/customers')
        assert.match(String(answer.headers['retry-after']), /^[1-9]\d?$/)
      }
    assert.equal(await having(body.contact.email), 1)
    const repeated = await create(other, body, key)
    assert.deepEqual([repeated.status, repeated.headers['idempotent-replayed']], [201, 'true'])
  }
})

test('while a write runs its repeat is refused on every server, and afterwards answered again', async () => {
  const body = customer()
  const holding = await service.db.pool.connect()
  let first: Promise<Answer>
  try {
    await holding.query('begin')
    await holding.query('lock table customer in share mode')
    first = create(service, body, 'running')
    await waitsFor('customer')
    for (const server of [service, other]) {
      const answer = await create(server, body, 'running')
      isProblem(answer, 'idempotency_in_progress', server.baseUrl, '/customers')
      assert.equal(answer.headers['retry-after'], '1')
    }
    const another = await create(service, { ...body, firstname: 'Bea' }, 'running')
    isProblem(another, 'idempotency_in_progress', service.baseUrl, '/customers')
  } finally {
    await holding.query('rollback')
    holding.release()
  }
  assert.equal((await first).status, 201)
  for (const server of [service, other]) isReplay(await create(server, body, 'running'), await first)
})

/** Waits until some transaction waits for a lock on a table. */
async function waitsFor(table: string) {
  const end = performance.now() + 10_000
  for (;;) {
    const waiting = await service.db.rows(
      sql`select from pg_locks where not granted and relation = ${table}::regclass and database = (select oid from pg_database where datname = current_database())`,
    )
    if (waiting.length) return
    assert.ok(performance.now() < end, `a write waits for ${table}`)
    await delay(20)
  }
}

test('a caller who has gone finds the answer by repeating the request', async () => {
  const body = customer()
  const holding = await service.db.pool.connect()
  const leaving = new AbortController()
  try {
    await holding.query('begin')
    await holding.query('lock table customer in share mode')
    const gone = leave(body, 'gone', leaving.signal)
    await waitsFor('customer')
    leaving.abort()
    await gone
  } finally {
    await holding.query('rollback')
    holding.release()
  }
  let answer = await create(service, body, 'gone')
  while (answer.status === 409) answer = await create(service, body, 'gone')
  assert.equal(answer.status, 201)
  assert.equal(answer.headers['idempotent-replayed'], 'true', 'the work ended although nobody was there')
  assert.equal(await having(body.contact.email), 1)
})

/** Sends a request and breaks the connection once told to. */
async function leave(body: unknown, key: string, signal: AbortSignal) {
  const asked = request(`${service.baseUrl}/customers`, {
    method: 'POST',
    ca: service.ca,
    agent: false,
    signal,
    headers: { ...credentials(service), 'content-type': 'application/json', 'idempotency-key': key },
  })
  await new Promise<void>(resolve => {
    asked.on('error', () => resolve())
    asked.end(JSON.stringify(body))
  })
}

test('after 24 hours a key is free again, and what it answered is deleted', async () => {
  const body = customer()
  const first = await create(service, body, 'yesterday')
  const age = (interval: string) =>
    service.db.run(sql`
      update idempotent_answer set created_at = now() - ${interval}::interval
       where service_id = ${service.service.id} and created_at = (select max(created_at) from idempotent_answer)`)
  assert.equal(await age('23 hours 59 minutes'), 1)
  isReplay(await create(service, body, 'yesterday'), first)
  await service.db.run(sql`
    update idempotent_answer set created_at = now() - interval '24 hours 1 second' where created_at < now() - interval '23 hours'`)
  const anew = await create(service, body, 'yesterday')
  isProblem(anew, 'email_taken', service.baseUrl, '/customers')
  const fresh = customer()
  const second = await create(service, fresh, 'yesterday')
  assert.deepEqual([second.status, second.headers['idempotent-replayed']], [201, undefined])
  isReplay(await create(service, fresh, 'yesterday'), second)
  await create(service, customer(), 'old')
  assert.equal(await age('25 hours'), 1)
  assert.equal(await forgetAnswers(service.db), 1)
  isReplay(await create(service, fresh, 'yesterday'), second)
})

test('a service can want a key with every write that takes one', async () => {
  const strict = await service.tenant({ requireIdempotencyKey: true })
  const answer = await post(strict, '/customers', customer())
  isProblem(answer, 'idempotency_key_invalid', service.baseUrl, '/customers')
  const { status, json } = await create(strict, customer())
  assert.equal(status, 201)
  assert.equal((await put(strict, `/customers/${json.data.id}`, { firstname: 'Bea' })).status, 200, 'takes none')
})

test('without a key each request is a write of its own', async () => {
  const body = customer()
  assert.equal((await post(service, '/customers', body)).status, 201)
  isProblem(await post(service, '/customers', body), 'email_taken', service.baseUrl, '/customers')
})

test('what is stored gives away neither the answer nor the key nor the request', async () => {
  const body = { ...customer(), surname: 'Canarysurname' }
  const { json } = await create(service, body, 'canarykey')
  const [kept] = await service.db.rows<Record<string, Buffer | string | number>>(
    sql`select * from idempotent_answer where service_id = ${service.service.id} order by created_at desc limit 1`,
  )
  assert.ok(kept)
  const bytes = Buffer.concat(
    Object.values(kept).map(value => (Buffer.isBuffer(value) ? value : Buffer.from(String(value)))),
  ).toString('latin1')
  for (const secret of ['Canarysurname', 'canarykey', body.contact.email, json.data.id, 'firstname'])
    assert.ok(!bytes.includes(secret), secret)
})

test('a stored answer that was moved or changed is not given', async () => {
  const [mine, theirs] = [customer(), customer()]
  await create(service, mine, 'kept')
  await create(service, theirs, 'forged')
  await service.db.run(sql`
    update idempotent_answer a set answer = b.answer
      from (select answer from idempotent_answer where service_id = ${service.service.id} order by created_at desc offset 1 limit 1) b
     where (service_id, key_hash) = (select service_id, key_hash from idempotent_answer order by created_at desc limit 1)`)
  isProblem(await create(service, theirs, 'forged'), 'internal_error', service.baseUrl, '/customers')
  assert.equal((await create(service, mine, 'kept')).headers['idempotent-replayed'], 'true')
})
