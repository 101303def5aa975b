import assert from 'node:assert/strict'
import { sql } from '../../../src/database/db.ts'
import { raiseAlert, readAlert } from '../../../src/store/alerts/alerts.ts'
import { addAttempt } from '../../../src/store/webhooks/attempts.ts'
import { keepDelivery, markFailed, readDue } from '../../../src/store/webhooks/deliveries.ts'
import { heldWebhook, rotateSecret, webhookRecord } from '../../../src/store/webhooks/endpoints.ts'
import { findIdleWebhooks, hasWebhooks, newlyFailing } from '../../../src/store/webhooks/schedule.ts'
import { createWebhook } from '../../../src/webhooks/create-webhook.ts'
import { newSecret } from '../../../src/webhooks/signature.ts'
import type { TestService } from '../../support/service.ts'

/** An endpoint is told, and takes nothing. */
export async function tellWebhook({ db, keys, service }: TestService) {
  const wanted = { url: 'https://shop.example/hooks', fromBeginning: true }
  const { id } = await db.transaction(tx => createWebhook(tx, keys, service, wanted))
  await db.transaction(tx => rotateSecret(tx, keys, service, id, newSecret()))
  assert.ok(await hasWebhooks(db))
  assert.equal((await findIdleWebhooks(db)).length, 1)
  const due = await readDue(db, keys, service, id)
  assert.ok(due && (await db.transaction(tx => heldWebhook(tx, service, id))))
  const delivery = { id: 'msg_1', body: '{"data":{"changes":[{}]}}', cursor: 'x', isLast: true, changes: 1 }
  assert.ok(await keepDelivery(db, service, due, delivery))
  assert.equal((await readDue(db, keys, service, id))?.delivery?.changes, 1)
  const attempt = { deliveryId: 'msg_1', changes: 1, status: 500, fault: 'It failed.', answer: '', milliseconds: 1 }
  await markFailed(db, service, id, delivery, attempt, { waitSeconds: 5, isGone: false })
  assert.ok(await addAttempt(db, service, id, attempt))
  await db.run(sql`update webhook set failing_since = now() - interval '2 hours'`)
  assert.equal((await newlyFailing(db)).length, 1)
  await raiseAlert(db, service.id, { kind: 'webhook_failing', subject: id, detail: '' })
  assert.ok(await readAlert(db, service.id, { kind: 'webhook_failing', subject: id }))
  assert.ok(await webhookRecord(db, service, id))
}
