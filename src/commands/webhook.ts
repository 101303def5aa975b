import type { Command } from 'commander'
import { parseRewindTarget } from '../change-feed/start-position.ts'
import { readConfig } from '../config/config.ts'
import type { Db } from '../database/db.ts'
import { kinds } from '../domain/changes.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { type Webhook, type WebhookAttempt, WebhookInput } from '../domain/webhooks/webhooks.ts'
import { addAttempt, attemptPage } from '../store/webhooks/attempts.ts'
import { readDue } from '../store/webhooks/deliveries.ts'
import {
  type Endpoint,
  heldWebhook,
  pauseWebhook,
  removeWebhook,
  resumeWebhook,
  rewindWebhook,
  rotateSecret,
  webhookPage,
  webhookRecord,
} from '../store/webhooks/endpoints.ts'
import { makeWebhook } from '../webhooks/create-webhook.ts'
import { senderWithin } from '../webhooks/sender.ts'
import { newSecret } from '../webhooks/signature.ts'
import { tryEndpoint } from '../webhooks/test-event.ts'
import { everyRecord } from './terminal/all-records.ts'
import { examples } from './terminal/examples.ts'
import { kindsFrom, kindsOption } from './terminal/record-types.ts'
import { serviceOption } from './terminal/service-option.ts'
import { type Session, withDatabase } from './terminal/session.ts'
import { printSecret } from './terminal/standard-output.ts'
import { table } from './terminal/table.ts'
import { judged } from './terminal/validate-input.ts'

interface Options {
  service?: string
}
interface Adding extends Options {
  kinds?: string
  description?: string
  fromBeginning?: boolean
}

const noWebhook = (id: string) => new Error(`There is no webhook ${id}.`)
/** Attempts that are shown: as many as the API has in a page. */
const newest = 100
const example = '7f0f2f3e-5f4e-4f3c-9b1a-0d6a4d1c2b3a'

export function webhookCommand(program: Command) {
  const webhook = program
    .command('webhook')
    .description('Manage webhooks')
    .addHelpText(
      'after',
      examples(
        ['webhook add https://shop.example/hooks --kinds customer,inventory', 'tell one what changes from now on'],
        ['webhook list', 'where each stands, and whether it takes what it is told'],
        [`webhook rewind ${example} 2026-11-21`, 'tell it again what has changed since then'],
        ['listen --forward http://localhost:3000/hooks', 'see deliveries on a machine of your own'],
      ),
    )

  webhook
    .command('add')
    .argument('<url>', 'where deliveries are posted to: https, a public address (or one in WEBHOOK_NETWORKS)')
    .description('Create a webhook and print its secret once')
    .option(...kindsOption)
    .option('--description <text>', 'what it is for')
    .option('--from-beginning', 'first tell it of everything as it stands')
    .option(...serviceOption)
    .addHelpText('after', examples(['webhook add https://shop.example/hooks', 'of every kind, from now on']))
    .action((url: string, { service: name, kinds: words, ...rest }: Adding) => {
      const wanted = judged(WebhookInput, { url, kinds: kindsFrom(words), ...rest })
      return withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(name)
        const refusal = await senderWithin(readConfig().webhookNetworks).refusal(url)
        if (refusal !== undefined) throw new Error(refusal)
        const { id, secret } = await db.transaction(tx => makeWebhook(tx, keys, service, wanted))
        console.log(`The webhook ${id} is told what changes.`)
        await printSecretOf(`Secret: ${secret}`, service, id)
      })
    })

  webhook
    .command('list')
    .description('List webhooks and their status')
    .option(...serviceOption)
    .addHelpText('after', examples(['webhook list --service luma', 'all of them']))
    .action(({ service: name }: Options) =>
      withDatabase(async ({ services }) => {
        const { service, db } = await services.find(name)
        const records = await everyRecord<Webhook>(service, asked => webhookPage(db, service, asked))
        const rows = records.map(({ id, url, kinds: of, state, lag, lastSuccessAt, lastFailure }) => [
          id,
          url,
          of.length === kinds.length ? 'all' : of.join(','),
          state,
          lag.pendingSince ? `${lag.seconds} s` : 'up to date',
          lastSuccessAt ?? 'never',
          lastFailure ? `${lastFailure.at}: ${lastFailure.detail}` : '',
        ])
        console.log(table(['webhook', 'url', 'kinds', 'state', 'lag', 'last success', 'last failure'], rows))
      }),
    )

  onOne('show', 'Show a webhook', 'where it stands', async (tx, { service }, { id }) => {
    const found = await webhookRecord(tx, service, id)
    const fields = Object.entries(JSON.parse(found?.record ?? '{}'))
    return table(
      ['field', 'value'],
      fields.map(([field, value]) => [field, typeof value === 'string' ? value : JSON.stringify(value)]),
    )
  })

  onOne('attempts', 'List recent delivery attempts', 'what became of them', async (tx, { service }, { id }) => {
    const { records } = await attemptPage(tx, service, id, { limit: newest })
    const attempts: WebhookAttempt[] = JSON.parse(`[${records.join(',')}]`)
    const rows = attempts.map(({ at, deliveryId, changes, status, detail, milliseconds }) => [
      at,
      deliveryId,
      String(changes),
      String(status ?? '-'),
      `${milliseconds} ms`,
      detail ?? 'taken',
    ])
    return table(['at', 'delivery', 'changes', 'status', 'took', 'what'], rows)
  })

  onOne('pause', 'Pause deliveries; changes wait', 'it is moved', async (tx, { service }, { id }) => {
    await pauseWebhook(tx, service, id, 'Paused by an operator.')
    return `The webhook ${id} is paused.`
  })

  onOne('resume', 'Resume deliveries now', 'it is back', async (tx, { service }, { id }) => {
    await resumeWebhook(tx, service, id)
    return `The webhook ${id} is active.`
  })

  onOne(
    'rotate',
    'Rotate the signing secret (both valid for 24 h)',
    'the old one may be known',
    async (tx, { keys, service }, { id }) => {
      const secret = newSecret()
      await rotateSecret(tx, keys, service, id, secret)
      return `The secret before this one signs too for 24 hours.\nSecret: ${secret}`
    },
    printSecretOf,
  )

  onOne('remove', 'Delete a webhook', 'nobody is there any more', async (tx, { service }, { id }) => {
    await removeWebhook(tx, service, id)
    return `The webhook ${id} is removed.`
  })

  webhook
    .command('rewind')
    .argument('<webhook>', 'its id, as the list shows it')
    .argument('<to>', '`beginning`, a time, or a cursor of GET /changes with the same kinds')
    .description('Replay changes from a time or cursor')
    .option(...serviceOption)
    .addHelpText('after', examples([`webhook rewind ${example} beginning`, 'everything as it stands']))
    .action((id: string, to: string, options: Options) =>
      within(id, options, async (tx, { keys, service }, endpoint) => {
        const cursor = await parseRewindTarget(tx, { service, kinds: endpoint.kinds, key: keys.cursors }, to)
        await rewindWebhook(tx, service, id, cursor)
        return `The webhook ${id} is told again.`
      }),
    )

  webhook
    .command('test')
    .argument('<webhook>', 'its id, as the list shows it')
    .description('Send a test event')
    .option(...serviceOption)
    .addHelpText('after', examples([`webhook test ${example}`, 'whether it answers']))
    .action((id: string, { service: name }: Options) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(name)
        const due = await readDue(db, keys, service, id)
        if (!due) throw noWebhook(id)
        const attempt = await tryEndpoint(senderWithin(readConfig().webhookNetworks), service.name, due)
        await addAttempt(db, service, id, attempt)
        if (attempt.fault !== null) throw new Error(attempt.fault)
        console.log(`The endpoint answered ${attempt.status} within ${attempt.milliseconds} ms.`)
      }),
    )

  function onOne(verb: string, description: string, why: string, act: Act, print?: Print) {
    webhook
      .command(verb)
      .argument('<webhook>', 'its id, as the list shows it')
      .description(description)
      .option(...serviceOption)
      .addHelpText('after', examples([`webhook ${verb} ${example}`, why]))
      .action((id: string, options: Options) => within(id, options, act, print))
  }
}

/** What is done with one webhook, in a transaction; returns what there is to say. */
type Act = (tx: Db, of: Pick<Session, 'keys'> & { service: Service }, endpoint: Endpoint) => Promise<string>

type Print = (told: string, service: Service, id: string) => void | Promise<void>

const printSecretOf: Print = (told, service, id) =>
  printSecret(told, 'secret', `for another: tillbridge webhook rotate ${id} --service ${service.name}`)

const within = (id: string, { service: name }: Options, act: Act, print: Print = told => console.log(told)) =>
  withDatabase(async ({ keys, services }) => {
    const { service, db } = await services.find(name)
    const told = await db.transaction(async tx => {
      const endpoint = await heldWebhook(tx, service, id)
      if (!endpoint) throw noWebhook(id)
      return act(tx, { keys, service }, endpoint)
    })
    await print(told, service, id)
  })
