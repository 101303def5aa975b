import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Simulator } from '../../simulator/control/handle.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { parseOptions } from '../../src/commands/back-office/options.ts'
import { openConnectionCommands } from '../support/installations/connection-commands.ts'
import { checkout, connectToDatabase, pickPort, runCommand, runSuccessfully, waitUntil } from '../support/processes.ts'

const canary = 'kanarie-Wachtwoord-7'

describe('tillbridge back-office', () => {
  const commands = openConnectionCommands('back-office', canary)
  const { environment, secretFile, query, runSuccessfully: runCli, runCommand: runFailing } = commands
  let simulator: Simulator

  before(async () => {
    simulator = await startSimulator({ settings: { credentials: { user: 'retail', password: canary } } })
    await commands.start()
  })
  after(async () => {
    await commands.stop()
    await simulator?.close()
  })

  test('set reads the password from a file and never reveals it', async () => {
    const set = await runCli(
      'set',
      'luma',
      `url=${simulator.url}`,
      'country=AU',
      'user=retail',
      '--password-file',
      secretFile,
    )
    assert.match(set, /^driver = apparel21 \(own connection\)$/m)
    assert.match(set, /^password = \(set\)$/m)
    assert.match(set, /^The time zone is the service's, UTC\. If the back office has another one, set timeZone=\./m)
    const zoned = await runCli('set', 'luma', 'timeZone=Australia/Melbourne')
    assert.doesNotMatch(zoned, /A later change corrects/)
    assert.match(await runCli('set', 'luma', 'timeZone='), /A later change corrects/)
    await runCli('show', 'luma')
    const entries = await query<{ record: string }>('select record from audit')
    const audit = entries.map(({ record }) => record).join('\n')
    assert.match(audit, /"operation":"back-office set","subject":"\/back-office","fields":\["url","country","user"\]/)
    assert.doesNotMatch(audit, new RegExp(canary))
  })

  test('test prints the version and the capabilities', async () => {
    const out = await runCli('test', 'luma')
    assert.match(out, /^Connected: version 2025\.1, \d+ stores, AUD\.$/m)
    assert.match(out, /^available {4}orders$/m)
    assert.match(out, /^unavailable {2}staff: /m)
    simulator.set({ credentials: { user: 'retail', password: 'another' } })
    const rejected = await runFailing('test', 'luma')
    simulator.set({ credentials: { user: 'retail', password: canary } })
    assert.equal(rejected.code, 1)
    assert.match(
      rejected.err,
      /tillbridge: The back office of luma failed: The back office is unavailable\. The .*\. \(back_office_unavailable\)/,
    )
    const port = pickPort()
    await runCli('set', 'luma', `url=https://127.0.0.1:${port}/RetailAPI/`, 'exportFolder=/nowhere/exports')
    const unreachable = await runFailing('test', 'luma')
    await runCli('set', 'luma', `url=${simulator.url}`, 'exportFolder=')
    assert.match(unreachable.err, /The connection could not be established\. \(back_office_unavailable, ECONNREFUSED\)/)
    assert.match(unreachable.err, /^The export folder \/nowhere\/exports can't be used \(ENOENT\)\.$/m)
  })

  test('set reads the password from standard input and keeps other settings', async () => {
    const program = ['/bin/sh', '-c', `printf '%s\\n' '${canary}' | exec "$0" "$@"`, process.execPath] as const
    const args = [join(checkout, 'src/cli.js'), 'back-office', 'set', 'luma', 'user=retail']
    await runSuccessfully(args, environment, { program })
    assert.match(
      await runCli('set', 'luma', 'version=2023.4a', 'syncShare=25'),
      /^country = AU\nuser = retail\nversion = 2023\.4a\nsyncShare = 25\npassword = \(set\)$/m,
    )
  })

  test('set lists every problem and changes nothing', async () => {
    const { code, err } = await runFailing(
      'set',
      'luma',
      'url=ftp://a',
      'colour=blue',
      'timeZone=Mars',
      `password=${canary}`,
    )
    assert.equal(code, 1)
    assert.match(
      err,
      /^tillbridge: url must be a URL .*\n"colour=blue" must have the form setting=value.*\ntimeZone must be an IANA time zone.*\nA password can't be a command-line argument/m,
    )
    const incomplete = await runFailing('set', 'luma', 'country=')
    assert.match(incomplete.err, /country must be set if driver is apparel21\./)
  })

  test('set changes intervals and gateways, and the audit log names them', async () => {
    const set = await runCli(
      ...['set', 'luma', 'interval.customers=5m', 'interval.stock=90s', 'gateway.pay.pal.merchantId=PAYPAL'],
      ...['gateway.pay.pal.cardType=PP', 'gateway.zip.origin=Zip'],
    )
    assert.match(set, /^Payment gateway zip not found in luma\. Add it: tillbridge service set luma gateways=…$/m)
    const settings = await runCli('show', 'luma')
    for (const line of [
      ...[
        'interval.customers = 5m',
        'interval.stock = 90s',
        'interval.products = 15m (default)',
        'interval.orders = 1m (default)',
      ],
      ...['gateway.pay.pal.merchantId = PAYPAL', 'gateway.pay.pal.cardType = PP', 'gateway.zip.origin = Zip'],
    ])
      assert.ok(settings.split('\n').includes(line), `${line} in\n${settings}`)
    await runCli(
      'set',
      'luma',
      'interval.stock=',
      'gateway.zip.origin=',
      'gateway.pay.pal.cardType=',
      'interval.customers=1h',
    )
    const output = await runCli('show', 'luma')
    assert.match(output, /^interval\.stock = 1m \(default\)\n(.*\n)*interval\.customers = 1h\n/m)
    assert.match(output, /^gateway\.pay\.pal\.merchantId = PAYPAL\n$/m)
    assert.doesNotMatch(output, /zip|cardType/)
    const [, entry] = await query<{ fields: string[] }>(
      "select record::json->'fields' as fields from audit order by changed_at desc limit 2",
    )
    assert.deepEqual(entry?.fields, [
      ...['interval.customers', 'interval.stock', 'gateway.pay.pal.merchantId', 'gateway.pay.pal.cardType'],
      'gateway.zip.origin',
    ])
  })

  test('invalid intervals and gateway options are rejected', () => {
    for (const time of ['5', '59s', '8d', '-5m', '1w', '1.5h', 'often'])
      assert.deepEqual(parseOptions([`interval.stock=${time}`]).problems, [
        'interval.stock must be an interval from 1m to 7d, for example 5m, 1h or 1d.',
      ])
    for (const [time, seconds] of Object.entries({ '60s': 60, '1m': 60, '12h': 43_200, '7d': 604_800 }))
      assert.deepEqual([...parseOptions([`interval.stock=${time}`]).choices.syncIntervals], [['stock', seconds]])
    const invalidAssignments: [assignment: string, message: RegExp][] = [
      [
        'gateway.visa.colour=red',
        /^gateway\.visa\.colour must end in one of origin, merchantId, cardType, accountId\.$/,
      ],
      [
        'gateway.visa.origin=Card',
        /^gateway\.visa\.origin must be one of CreditCard, DirectDebit, Zip, AdyenWallet, Openpay\.$/,
      ],
      [`gateway.visa.merchantId=${'x'.repeat(101)}`, /^gateway\.visa\.merchantId must have at most 100 characters/],
    ]
    for (const [assignment, message] of invalidAssignments)
      assert.match(parseOptions([assignment]).problems.join(), message)
    const twice = ['interval.stock=1m', 'interval.stock=2m', 'gateway.a.origin=Zip', 'gateway.a.origin=Zip']
    assert.deepEqual(parseOptions(twice).problems, [
      "interval.stock can't be set twice.",
      "gateway.a.origin can't be set twice.",
    ])
    assert.deepEqual(parseOptions(['gateway.visa=x', 'url=https://a/gateway.b.c=d']).otherAssignments.length, 2)
  })

  test('set rejects an unknown sync and changes nothing', async () => {
    const original = await runCli('show', 'luma')
    const unknown = await runFailing('set', 'luma', 'interval.colour=5m', 'interval.stock=2m')
    assert.equal(unknown.code, 1)
    assert.match(unknown.err, /interval\.colour: sync colour not found\. Syncs: references, stores, products, stock,/)
    const severalInvalid = await runFailing('set', 'luma', 'interval.stock=1s', 'colour=blue', 'gateway.visa=x')
    assert.match(
      severalInvalid.err,
      /: interval\.stock must be an interval .*\n"colour=blue" must have .*\n"gateway\.visa=x" must have /,
    )
    assert.equal(await runCli('show', 'luma'), original)
  })

  test('the start message and doctor report that no process runs jobs', async () => {
    assert.match(
      commands.server.out,
      /^Background jobs are off \(RUN_JOBS=false\)\. Run them with: tillbridge worker\nUntil a worker runs, emails wait and no sync runs\.$/m,
    )
    const client = await connectToDatabase(environment.DATA_DIR)
    const isQueued = async () => (await client.query("select from job where name = 'schedule-syncs'")).rowCount === 1
    await waitUntil(isQueued, 'jobs are requested')
    await client.query("update job set due_at = now() - interval '2 minutes'")
    const { code, out } = await runCommand(['doctor'], environment)
    assert.equal(code, 1)
    assert.match(
      out,
      /^FAIL {2}Jobs +No process runs jobs, and the oldest has been due for 12\d s\. Emails wait and .*tillbridge worker$/m,
    )
    await client.query("update job set leased_until = now() + interval '1 minute', lease = gen_random_uuid()")
    assert.match((await runCommand(['doctor'], environment)).out, /^PASS {2}Jobs /m)
    await client.end()
  })

  test('clear returns the service to the default', async () => {
    assert.match(await runCli('clear', 'luma'), /^Connection of luma removed\. It uses the default /m)
    assert.match(await runCli('show', 'luma'), /^driver = embedded \(default\)$/m)
  })

  test('no output and no log contains the password', async () => {
    commands.assertSecretIsHidden()
  })
})
