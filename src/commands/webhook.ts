import { parseRewindTarget } from '../change-feed/start-position.ts'
import { readConfig } from '../config/config.ts'
import type { Db } from '../database/db.ts'
import { changeKinds } from '../domain/changes.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { type Webhook, type WebhookAttempt, WebhookInput } from '../domain/webhooks/webhooks.ts'
import { exportPages } from '../http/streaming/export-chunks.ts'
import { openWebhookSender } from '../runtime/app.ts'
import type { Page, PageRequest } from '../store/lists/page.ts'
import { addAttempt, readAttemptPage } from '../store/webhooks/attempts.ts'
import { readEndpointState } from '../store/webhooks/deliveries.ts'
import {
  deleteWebhook,
  type Endpoint,
  findWebhookRecord,
  lockWebhook,
  pauseWebhook,
  readWebhookPage,
  resumeWebhook,
  rewindWebhook,
  rotateSecret,
} from '../store/webhooks/endpoints.ts'
import { createWebhook } from '../webhooks/create-webhook.ts'
import { generateSecret } from '../webhooks/signature.ts'
import { sendTestEvent } from '../webhooks/test-event.ts'
import { type Command, serviceOption } from './terminal/command.ts'
import { formatDeliveryFailure } from './terminal/delivery-failure.ts'
import { parseRecordTypes, recordTypesOption } from './terminal/record-types.ts'
import { type Session, withDatabase } from './terminal/session.ts'
import { printSecret } from './terminal/standard-output.ts'
import { formatTable } from './terminal/table.ts'
import { validateInput } from './terminal/validate-input.ts'

interface Options {
  service?: string
}
interface AddOptions extends Options {
  kinds?: string
  description?: string
  fromBeginning?: boolean
}

const webhookNotFound = (id: string) => new Error(`Webhook ${id} not found. Run "tillbridge webhook list".`)
/** The number of attempts to show: one page of the API. */
const maxAttempts = 100
const example = '7f0f2f3e-5f4e-4f3c-9b1a-0d6a4d1c2b3a'

export function buildWebhookCommand(program: Command) {
  const webhook = program
    .command('webhook')
    .description('Manage webhooks')
    .examples(
      [
        'webhook add https://shop.example/hooks --kinds customer,inventory',
        'sends changes of these record types from now on',
      ],
      ['webhook list', 'lists webhooks with their status and lag'],
      [`webhook rewind ${example} 2026-11-21`, 'replays the changes since then'],
      ['listen --forward http://localhost:3000/hooks', 'forwards deliveries to your machine'],
    )

  webhook
    .command('add')
    .argument('<url>', 'the https URL to post to, at a public address (or one in WEBHOOK_NETWORKS)')
    .description('Create a webhook and print its secret once')
    .option(...recordTypesOption)
    .option('--description <text>', 'a description for operators')
    .option('--from-beginning', 'start with all existing records')
    .option(...serviceOption)
    .examples(['webhook add https://shop.example/hooks', 'sends changes of all record types from now on'])
    .action((url: string, { service: name, kinds: words, ...options }: AddOptions) => {
      const input = validateInput(WebhookInput, { url, kinds: parseRecordTypes(words), ...options })
      return withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(name)
        const problem = await openWebhookSender(readConfig()).findRejection(url)
        if (problem !== undefined) throw new Error(problem)
        const { id, secret } = await db.transaction(tx => createWebhook(tx, keys, service, input))
        console.log(`Webhook ${id} created.`)
        await printWebhookSecret(`Secret: ${secret}\nSave it now. It won't be shown again.`, service, id)
      })
    })

  webhook
    .command('list')
    .description('List webhooks and their status')
    .option(...serviceOption)
    .examples(['webhook list --service luma', 'lists all webhooks of a service'])
    .action(({ service: name }: Options) =>
      withDatabase(async ({ services }) => {
        const { service, db } = await services.find(name)
        const records = await loadAllRecords<Webhook>(service, page => readWebhookPage(db, service, page))
        const rows = records.map(({ id, url, kinds, state, lag, lastSuccessAt, lastFailure }) => [
          id,
          url,
          kinds.length === changeKinds.length ? 'all' : kinds.join(','),
          state,
          lag.pendingSince ? `${lag.seconds} s` : 'up to date',
          lastSuccessAt ?? 'never',
          lastFailure ? `${lastFailure.at}: ${lastFailure.detail}` : '',
        ])
        console.log(formatTable(['webhook', 'url', 'kinds', 'state', 'lag', 'last success', 'last failure'], rows))
      }),
    )

  addWebhookCommand('show', 'Show a webhook', 'shows its status and lag', async (tx, { service }, { id }) => {
    const current = await findWebhookRecord(tx, service, id)
    const fields = Object.entries(JSON.parse(current?.record ?? '{}'))
    return formatTable(
      ['field', 'value'],
      fields.map(([field, value]) => [field, typeof value === 'string' ? value : JSON.stringify(value)]),
    )
  })

  addWebhookCommand(
    'attempts',
    'List recent delivery attempts',
    'lists the newest 100 attempts',
    async (tx, { service }, { id }) => {
      const { records } = await readAttemptPage(tx, service, id, { limit: maxAttempts })
      const attempts: WebhookAttempt[] = JSON.parse(`[${records.join(',')}]`)
      const rows = attempts.map(({ at, deliveryId, changes, status, detail, response, milliseconds }) => [
        at,
        deliveryId,
        String(changes),
        String(status ?? '-'),
        `${milliseconds} ms`,
        detail === null ? 'accepted' : formatDeliveryFailure(detail, response),
      ])
      return formatTable(['at', 'delivery', 'changes', 'status', 'duration', 'result'], rows)
    },
  )

  addWebhookCommand(
    'pause',
    'Pause deliveries; changes wait',
    'pauses it, for example during maintenance',
    async (tx, { service }, { id }) => {
      await pauseWebhook(tx, service, id, 'Paused by an operator.')
      return `Webhook ${id} paused.`
    },
  )

  addWebhookCommand(
    'resume',
    'Resume deliveries now',
    'resumes it after maintenance',
    async (tx, { service }, { id }) => {
      await resumeWebhook(tx, service, id)
      return `Webhook ${id} resumed.`
    },
  )

  addWebhookCommand(
    'rotate',
    'Rotate the signing secret (both valid for 24 h)',
    'replaces a leaked secret',
    async (tx, { keys, service }, { id }) => {
      const secret = generateSecret()
      await rotateSecret(tx, keys, service, id, secret)
      return `Secret: ${secret}\nSave it now. It won't be shown again. The previous secret stays valid for 24 hours.`
    },
    printWebhookSecret,
  )

  addWebhookCommand('remove', 'Delete a webhook', 'deletes it', async (tx, { service }, { id }) => {
    await deleteWebhook(tx, service, id)
    return `Webhook ${id} deleted.`
  })

  webhook
    .command('rewind')
    .argument('<webhook>', 'the ID from `webhook list`')
    .argument('<to>', '`beginning`, a time, or a cursor of GET /changes with the same record types')
    .description('Replay changes from a time or cursor')
    .option(...serviceOption)
    .examples([`webhook rewind ${example} beginning`, 'replays all existing records'])
    .action((id: string, to: string, options: Options) =>
      runOnWebhook(id, options, async (tx, { keys, service }, endpoint) => {
        const cursor = await parseRewindTarget(tx, { service, kinds: endpoint.kinds, key: keys.cursors }, to)
        await rewindWebhook(tx, service, id, cursor)
        return `Webhook ${id} replays changes from ${to}.`
      }),
    )

  webhook
    .command('test')
    .argument('<webhook>', 'the ID from `webhook list`')
    .description('Send a test event')
    .option(...serviceOption)
    .examples([`webhook test ${example}`, 'sends a test event and prints the response'])
    .action((id: string, { service: name }: Options) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(name)
        const endpoint = await readEndpointState(db, keys, service, id)
        if (!endpoint) throw webhookNotFound(id)
        const attempt = await sendTestEvent(openWebhookSender(readConfig()), service.name, endpoint)
        await addAttempt(db, service, id, attempt)
        if (attempt.error !== null) throw new Error(formatDeliveryFailure(attempt.error, attempt.response))
        console.log(`The endpoint returned ${attempt.status} within ${attempt.milliseconds} ms.`)
      }),
    )

  function addWebhookCommand(verb: string, description: string, result: string, act: WebhookAction, print?: Print) {
    webhook
      .command(verb)
      .argument('<webhook>', 'the ID from `webhook list`')
      .description(description)
      .option(...serviceOption)
      .examples([`webhook ${verb} ${example}`, result])
      .action((id: string, options: Options) => runOnWebhook(id, options, act, print))
  }
}

/** Acts on one webhook in a transaction. Returns the message to print. */
type WebhookAction = (
  tx: Db,
  context: Pick<Session, 'keys'> & { service: Service },
  endpoint: Endpoint,
) => Promise<string>

type Print = (message: string, service: Service, id: string) => void | Promise<void>

const printWebhookSecret: Print = (message, service, id) =>
  printSecret(message, 'secret', `To issue another one: tillbridge webhook rotate ${id} --service ${service.name}`)

const runOnWebhook = (
  id: string,
  { service: name }: Options,
  act: WebhookAction,
  print: Print = message => console.log(message),
) =>
  withDatabase(async ({ keys, services }) => {
    const { service, db } = await services.find(name)
    const message = await db.transaction(async tx => {
      const endpoint = await lockWebhook(tx, service, id)
      if (!endpoint) throw webhookNotFound(id)
      return act(tx, { keys, service }, endpoint)
    })
    await print(message, service, id)
  })

/** Returns the records of all pages of a list. */
async function loadAllRecords<T>(service: Service, page: (request: PageRequest) => Promise<Page>): Promise<T[]> {
  const { chunks } = await exportPages(
    service,
    work => work(),
    async request => ({ page: await page(request), meta: {} }),
  )
  const lines = (await Array.fromAsync(chunks)).join('').split('\n')
  return lines.slice(0, -1).map(line => JSON.parse(line))
}
