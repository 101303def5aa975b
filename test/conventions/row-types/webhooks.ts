import assert from 'node:assert/strict'
import { sql } from '../../../src/database/db.ts'
import { raiseAlert, readAlert } from '../../../src/store/alerts/alerts.ts'
import {
  addAttempt,
  findAttempt,
  readAttemptIntervals,
  readDeliverySummaries,
  readDeliverySummary,
} from '../../../src/store/webhooks/attempts.ts'
import { readEndpointState, recordFailure, storeDelivery } from '../../../src/store/webhooks/deliveries.ts'
import { findWebhookRecord, lockWebhook, rotateSecret } from '../../../src/store/webhooks/endpoints.ts'
import { findIdleWebhooks, hasWebhooks, markNewlyFailing } from '../../../src/store/webhooks/schedule.ts'
import { createWebhook } from '../../../src/webhooks/create-webhook.ts'
import { generateSecret } from '../../../src/webhooks/signature.ts'
import type { TestApi } from '../../support/service.ts'

/** Records a rejected delivery of an endpoint. */
export async function tourWebhooks({ db, keys, service }: TestApi) {
  const expected = { url: 'https://shop.example/hooks', fromBeginning: true }
  const { id } = await db.transaction(tx => createWebhook(tx, keys, service, expected))
  await db.transaction(tx => rotateSecret(tx, keys, service, id, generateSecret()))
  assert.ok(await hasWebhooks(db))
  assert.equal((await findIdleWebhooks(db)).length, 1)
  const due = await readEndpointState(db, keys, service, id)
  assert.ok(due && (await db.transaction(tx => lockWebhook(tx, service, id))))
  const delivery = { id: 'msg_1', body: '{"data":{"changes":[{}]}}', cursor: 'x', isLast: true, changes: 1 }
  assert.ok(await storeDelivery(db, service, due, delivery))
  assert.equal((await readEndpointState(db, keys, service, id))?.delivery?.changes, 1)
  const attempt = {
    deliveryId: 'msg_1',
    changes: 1,
    status: 500,
    error: 'It failed.',
    response: '',
    milliseconds: 1,
    body: delivery.body,
    headers: null,
  }
  await recordFailure(db, service, id, delivery, attempt, { waitSeconds: 5, isGone: false })
  const added = await addAttempt(db, service, id, attempt)
  assert.ok(added && (await findAttempt(db, service, id, JSON.parse(added.record).id)))
  assert.equal((await readDeliverySummaries(db, service, '24h')).length, 1)
  assert.equal((await readDeliverySummary(db, service, '24h', id))?.failed, 2)
  assert.equal((await readAttemptIntervals(db, service, id, '24h')).at(-1)?.failed, 2)
  await db.run(sql`update webhook set failing_since = now() - interval '2 hours'`)
  assert.equal((await markNewlyFailing(db)).length, 1)
  await raiseAlert(db, service.id, { kind: 'webhook_failing', subject: id, detail: '' })
  assert.ok(await readAlert(db, service.id, { kind: 'webhook_failing', subject: id }))
  assert.ok(await findWebhookRecord(db, service, id))
}
