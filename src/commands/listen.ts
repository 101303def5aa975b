import { setTimeout as delay } from 'node:timers/promises'
import { createCurrentCursor, createInitialCursor } from '../change-feed/start-position.ts'
import { decodeCursor, encodeCursor, selectKinds } from '../change-feed/subscription.ts'
import { changeKinds as allKinds } from '../domain/changes.ts'
import { countNoun } from '../domain/values/nouns.ts'
import { readChanges } from '../store/change-feed/changes.ts'
import type { PendingDelivery } from '../store/webhooks/deliveries.ts'
import { buildDelivery, maxChanges } from '../webhooks/delivery.ts'
import { type Channel, createSender } from '../webhooks/sender.ts'
import { generateSecret, isSecret, secretFormat, signHeaders } from '../webhooks/signature.ts'
import { type Command, serviceOption } from './terminal/command.ts'
import { formatDeliveryFailure } from './terminal/delivery-failure.ts'
import { parseRecordTypes, recordTypesOption } from './terminal/record-types.ts'
import { readSecret } from './terminal/secret.ts'
import { withDatabase } from './terminal/session.ts'
import { printSecret } from './terminal/standard-output.ts'
import { stopBySignal } from './terminal/stop.ts'

interface Options {
  service?: string
  forward?: string
  kinds?: string
  secret?: string
  secretFile?: string
  fromBeginning?: boolean
}

/** Milliseconds between two checks for changes, and until a failed delivery is retried. */
const pollIntervalMs = 500
const retryDelayMs = 5_000

export const buildListenCommand = (program: Command) =>
  program
    .command('listen')
    .description('Print changes, and forward them to your machine as signed webhooks')
    .option('--forward <url>', 'the http or https URL to post to (default: changes are only printed)')
    .option(...recordTypesOption)
    .option('--secret-file <file>', 'file with the signing secret, whsec_… (default: a new one is printed)')
    .option('--secret <secret>', 'signing secret (visible in the process list; prefer `--secret-file`)')
    .option('--from-beginning', 'start with all existing records')
    .option(...serviceOption)
    .examples(
      ['listen --service luma', 'prints all changes from now on'],
      ['listen --service luma --forward http://localhost:3000/hooks', 'forwards them too'],
    )
    .action(({ service: name, forward, kinds: words, secret: secretOption, secretFile, fromBeginning }: Options) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(name)
        const secret = await chooseSecret(secretOption, secretFile)
        const channel = forward === undefined ? undefined : await openChannel(forward)
        const subscription = { service, kinds: selectKinds(parseRecordTypes(words) ?? allKinds), key: keys.cursors }
        let cursor = fromBeginning ? createInitialCursor(subscription) : await createCurrentCursor(db, subscription)
        console.log(
          `${channel ? `Forwarding changes of ${service.name} to ${forward}` : `Showing changes of ${service.name}`}. Press Ctrl-C to stop.`,
        )
        if (channel && secretOption === undefined && secretFile === undefined)
          await printSecret(`Secret: ${secret}`, 'secret', 'Use your own with --secret-file.')
        const { signal, end } = stopBySignal()
        try {
          while (!signal.aborted) {
            const positions = decodeCursor(subscription, cursor)
            const page = positions && (await readChanges(db, service, positions, { limit: maxChanges, records: false }))
            if (!page)
              throw new Error('Deleted records since the last change were purged. Start again with --from-beginning.')
            if (page.changes.length) {
              const delivery = buildDelivery(subscription, page)
              if (channel) await deliverUntilAccepted(channel, delivery, secret, signal)
              else printChanges(delivery.body)
              cursor = delivery.cursor
            } else {
              cursor = encodeCursor(subscription, page.positions)
              if (!page.hasMore) await delay(pollIntervalMs, undefined, { signal })
            }
          }
        } catch (error) {
          if (!signal.aborted) throw error
        } finally {
          channel?.close()
          end()
        }
      }),
    )

/** Returns the signing secret of the options, or a new one. */
async function chooseSecret(option: string | undefined, file: string | undefined) {
  if (option !== undefined && file !== undefined) throw new Error("--secret-file and --secret can't be used together.")
  if (option === undefined && file === undefined) return generateSecret()
  const secret = option ?? (await readSecret('', file, 'secret'))
  if (!isSecret(secret)) throw new Error(`The secret must be ${secretFormat}.`)
  return secret
}

async function openChannel(url: string) {
  // The operator may forward to any address.
  const sender = createSender(['0.0.0.0/0', '::/0'])
  const { protocol } = URL.parse(url) ?? {}
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new Error('`--forward` must begin with `http://` or `https://`.')
  const problem = await sender.findRejection(url)
  if (problem !== undefined) throw new Error(problem.replace('`url`', '`--forward`'))
  return sender.openChannel(url)
}

/** Prints each change of a delivery's body. */
function printChanges(body: string) {
  for (const { kind, action, id } of JSON.parse(body).data.changes) console.log(`  ${kind} ${id} ${action}`)
}

async function deliverUntilAccepted(
  channel: Channel,
  { id, body, changes }: PendingDelivery,
  secret: string,
  signal: AbortSignal,
) {
  for (;;) {
    const timestamp = Math.floor(Date.now() / 1_000)
    const { status, error, response, milliseconds } = await channel.post(
      body,
      signHeaders([secret], { id, timestamp, body }),
      signal,
    )
    const summary = `${new Date().toISOString()}  ${id}  ${countNoun(changes, 'change')}`
    const outcome = error === null ? `${status} within ${milliseconds} ms` : formatDeliveryFailure(error, response)
    console.log(`${summary}  ${outcome}`)
    printChanges(body)
    if (error === null) return
    await delay(retryDelayMs, undefined, { signal })
  }
}
