import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createLink } from '../../../src/auth/sessions.ts'
import { raw, sql } from '../../../src/database/db.ts'
import { buildCustomer } from '../../support/customer-bodies.ts'
import { startTestApi } from '../../support/service.ts'
import { addVouchers, issueVoucher, stockGiftCards, voucherSettings } from '../../support/voucher-shop.ts'
import { post, withKey } from '../../support/write.ts'

const api = await startTestApi({ settings: voucherSettings, environment: { WEBHOOK_NETWORKS: '127.0.0.0/8' } })
await stockGiftCards(api, api)
after(() => api.stop())

/** Returns all rows of all tables: each row as text, followed by its binary values as bytes. */
async function dump(): Promise<Buffer> {
  const tables = await api.db.rows<{ name: string }>(
    sql`select relname as name from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`,
  )
  const parts: Buffer[] = []
  for (const { name } of tables)
    for (const { text } of await api.db.rows<{ text: string }>(sql`select t::text as text from ${raw(name)} t`)) {
      const bytes = [...text.matchAll(/\\x((?:[\da-f]{2})+)/g)].map(([, hex = '']) => Buffer.from(hex, 'hex'))
      parts.push(Buffer.from(text), ...bytes)
    }
  return Buffer.concat(parts)
}

/**
 * Returns the forms in which bytes can occur in other bytes: raw and encoded, in base64 at each of its three offsets.
 */
function encode(bytes: Buffer): [encoding: string, bytes: Buffer][] {
  const text = bytes.toString('latin1')
  const base64 = [0, 1, 2].map(before => {
    const all = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    // The first and the last characters also depend on the neighbouring bytes.
    return all.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3) - 1)
  })
  const hex = bytes.toString('hex')
  return [
    ['clear', bytes],
    ['UTF-16', Buffer.from(text, 'utf16le')],
    ['backwards', Buffer.from(bytes.toReversed())],
    ...base64.map((encoded): [string, Buffer] => ['base64', Buffer.from(encoded)]),
    ...base64.map((encoded): [string, Buffer] => [
      'base64url',
      Buffer.from(encoded.replaceAll('+', '-').replaceAll('/', '_')),
    ]),
    ['hexadecimal', Buffer.from(hex)],
    ['hexadecimal in capitals', Buffer.from(hex.toUpperCase())],
    ['URL', Buffer.from(encodeURIComponent(text))],
    ['URL in full', Buffer.from(hex.replace(/../g, '%$&').toUpperCase())],
  ]
}

/** Returns the encodings in which a secret occurs in the dump. */
const findEncodings = (dumped: Buffer, secret: string | Buffer) =>
  encode(Buffer.from(secret)).flatMap(([encoding, bytes]) => (dumped.includes(bytes) ? [encoding] : []))

test('a dump of all tables contains no secret in any encoding', async () => {
  const pin = 'canary-pin-91375520'
  await addVouchers(api, api, { held: { pin } })
  const opened = await post(api, '/vouchers/validate', { number: 'held', pin, amount: '10.00' }, withKey())
  const issued = await issueVoucher(api, { message: 'canary words to the receiver' }, withKey())
  const hook = await post(api, '/webhooks', { url: 'https://127.0.0.1:1099/hook', kinds: ['store'] }, withKey())
  const account = await post(api, '/accounts', { username: 'canary-account', role: 'visitor' }, withKey())
  const session = await api.sendRaw('/console/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' },
    body: JSON.stringify({ username: api.username, password: api.password }),
  })
  assert.deepEqual(
    [opened, issued, hook, account, session].map(({ status }) => status),
    [200, 201, 201, 201, 200],
  )
  const [cookie = ''] = String(session.headers['set-cookie']).split(';')
  const secret: string = hook.json.data.secret
  const secrets: Record<string, string | Buffer> = {
    pin,
    'the validation': opened.json.data.validationId,
    'the number and PIN of a new voucher': `"pin":"${issued.json.data.pin}"`,
    'the message to its recipient': 'canary words to the receiver',
    'the secret of a webhook': secret,
    'the secret of a webhook, as bytes': Buffer.from(secret.replace('whsec_', ''), 'base64'),
    'the password of an account': account.json.data.password,
    'its API key': account.json.data.apiKey,
    'the password of another account': api.password,
    'the session of the console': cookie.split('=')[1] ?? '',
    'a link to the console': (await createLink(api.db, api.keys, api.username)) ?? '',
    SECRET_KEY: api.secret,
    'SECRET_KEY as bytes': Buffer.from(api.secret, 'hex'),
    ...Object.fromEntries(
      Object.entries(api.keys)
        // The digest, and the identifier that begins it, are stored.
        .filter(([name, key]) => Buffer.isBuffer(key) && !['digest', 'id'].includes(name))
        .map(([name, key]) => [`the key of ${name}`, key]),
    ),
  }
  const dumped = await dump()
  assert.ok(dumped.includes('canary-account') && dumped.includes('held'))
  for (const [name, value] of Object.entries(secrets)) {
    assert.ok(value.length >= 14, name)
    assert.deepEqual(findEncodings(dumped, value), [], name)
  }
})

test('the dump scan finds a planted secret in every encoding', async () => {
  const canary = 'canary>>?~?~?~'
  for (const [encoding, bytes] of encode(Buffer.from(canary))) {
    if (encoding === 'UTF-16') continue
    const { status, text } = await post(api, '/customers', buildCustomer({ address: { city: bytes.toString() } }))
    assert.equal(status, 201, text)
    const encodings = findEncodings(await dump(), canary)
    assert.ok(encodings.includes(encoding), encoding)
    await api.db.run(sql`delete from customer`)
  }
})
