import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { kinds as allKinds } from '../domain/changes.ts'
import { deliveryOf } from '../follow/delivery.ts'
import { kindsAmong, placesAt } from '../follow/following.ts'
import { beginning, now } from '../follow/places.ts'
import { changesAfter } from '../store/changes/feed.ts'
import type { Delivery } from '../store/webhooks/deliveries.ts'
import { mostChanges } from '../webhooks/body.ts'
import { type Line, senderWithin } from '../webhooks/sender.ts'
import { newSecret, signedHeaders } from '../webhooks/signature.ts'
import { examples } from './terminal/examples.ts'
import { kindsFrom, kindsOption } from './terminal/kinds.ts'
import { serviceOption } from './terminal/service-option.ts'
import { withDatabase } from './terminal/session.ts'
import { stopBySignal } from './terminal/stop.ts'

interface Options {
  service?: string
  forward: string
  kinds?: string
  secret?: string
  fromBeginning?: boolean
}

/** Milliseconds between two looks, and until a delivery that was not taken is tried again. */
const lookMs = 500
const againMs = 5_000

export const listenCommand = (program: Command) =>
  program
    .command('listen')
    .description('Follow what changes, and post it as deliveries to a machine of your own, printing each.')
    .requiredOption('--forward <url>', 'where to: http or https, any address')
    .option(...kindsOption)
    .option('--secret <secret>', 'what deliveries are signed with (whsec_…); without it one is made and shown')
    .option('--from-beginning', 'begin with everything as it stands')
    .option(...serviceOption)
    .addHelpText(
      'after',
      examples(['listen --service luma --forward http://localhost:3000/hooks', 'all that changes from now on']),
    )
    .action(({ service: name, forward, kinds: words, secret = newSecret(), fromBeginning }: Options) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(name)
        // Whoever runs commands for the installation is trusted with where to.
        const sender = senderWithin(['0.0.0.0/0', '::/0'])
        const refusal = await sender.refusal(forward)
        if (refusal !== undefined) throw new Error(refusal)
        const following = { service, kinds: kindsAmong(kindsFrom(words) ?? allKinds), key: keys.cursors }
        let cursor = fromBeginning ? beginning(following) : await now(db, following)
        console.log(`Deliveries of ${service.name} go to ${forward}; Ctrl-C ends it.\nSecret: ${secret}`)
        const { signal, end } = stopBySignal()
        const line = sender.lineTo(forward)
        try {
          while (!signal.aborted) {
            const places = placesAt(following, cursor)
            const told = places && (await changesAfter(db, service, places, { limit: mostChanges, records: false }))
            if (told?.changes.length) {
              const delivery = deliveryOf(following, told)
              await untilTaken(line, delivery, secret, signal)
              cursor = delivery.cursor
            } else await delay(lookMs, undefined, { signal })
          }
        } catch (error) {
          if (!signal.aborted) throw error
        } finally {
          line.close()
          end()
        }
      }),
    )

async function untilTaken(line: Line, { id, body, changes }: Delivery, secret: string, signal: AbortSignal) {
  for (;;) {
    const timestamp = Math.floor(Date.now() / 1_000)
    const { status, fault, milliseconds } = await line.post(
      body,
      signedHeaders([secret], { id, timestamp, body }),
      signal,
    )
    const what = `${new Date().toISOString()}  ${id}  ${changes === 1 ? '1 change' : `${changes} changes`}`
    console.log(`${what}  ${fault ?? `${status} within ${milliseconds} ms`}`)
    for (const { kind, action, id: of } of JSON.parse(body).data.changes) console.log(`  ${kind} ${of} ${action}`)
    if (fault === null) return
    await delay(againMs, undefined, { signal })
  }
}
