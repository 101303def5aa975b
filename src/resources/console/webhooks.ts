import { decodeCursor } from '../../change-feed/subscription.ts'
import type { Keys } from '../../crypto/keys.ts'
import type { Database, Db } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { ApiError, notFound } from '../../errors/api-error.ts'
import { EmptyBody } from '../../http/body/body.ts'
import { get, post } from '../../http/routing/route-definitions.ts'
import { readChanges } from '../../store/change-feed/changes.ts'
import {
  addAttempt,
  findAttempt,
  readAttemptIntervals,
  readDeliverySummaries,
  readDeliverySummary,
} from '../../store/webhooks/attempts.ts'
import { type EndpointState, readEndpointState } from '../../store/webhooks/deliveries.ts'
import { sendOnce } from '../../webhooks/test-event.ts'
import { dryRunAttempt } from '../webhooks/actions.ts'
import { buildPath, kind, lockOrThrow, role, tag, webhookParams } from '../webhooks/webhook-write.ts'
import { consoleRoute, rangeQuery } from './console-data.ts'

const attemptParams = {
  ...webhookParams,
  attempt: { description: 'The attempt.', example: '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44' },
}
const attemptPath = '/console/webhooks/:id/attempts/:attempt'

/** Deliveries of the webhooks: backlog, success and the sent content. */
export const consoleWebhooks = [
  get(
    '/console/webhooks',
    {
      ...consoleRoute,
      operationId: 'readDeliverySummaries',
      tag,
      role,
      summary: 'Count deliveries',
      query: rangeQuery,
    },
    async ({ db, service, query: { range = '24h' } }) => ({ data: await readDeliverySummaries(db, service, range) }),
  ),

  get(
    '/console/webhooks/:id',
    {
      ...consoleRoute,
      operationId: 'readDeliveries',
      tag,
      role,
      summary: 'Read the deliveries of a webhook',
      params: webhookParams,
      query: rangeQuery,
    },
    async ({ db, keys, service, params: { id }, query: { range = '24h' } }) => {
      const endpoint = await readEndpointState(db, keys, service, id)
      const summary = await readDeliverySummary(db, service, range, id)
      if (!endpoint || !summary) throw notFound(kind)
      const intervals = await readAttemptIntervals(db, service, id, range)
      return { data: { ...summary, ...(await countBacklog(db, keys, service, endpoint)), intervals } }
    },
  ),

  get(
    attemptPath,
    { ...consoleRoute, operationId: 'getAttempt', tag, role, summary: 'Get an attempt', params: attemptParams },
    async ({ db, service, params: { id, attempt } }) => {
      const { record, headers, body } = await findAttemptOrThrow(db, service, id, attempt)
      return { data: { ...JSON.parse(record), headers, body } }
    },
  ),

  post(
    `${attemptPath}/resend`,
    {
      ...consoleRoute,
      operationId: 'resendDelivery',
      tag,
      role,
      status: 200,
      summary: 'Send a delivery again',
      params: attemptParams,
      body: EmptyBody,
      generated: ['id'],
    },
    async ({ service, keys, params: { id, attempt }, sender, stage, read, isDryRun }) => {
      await stage(tx => lockOrThrow(tx, service, id))
      const endpoint = await read(db => readEndpointState(db, keys, service, id))
      const { deliveryId, body, changes } = await read(db => findAttemptOrThrow(db, service, id, attempt))
      if (!endpoint) throw notFound(kind)
      if (body === null) throw new ApiError('not_found', 'The content of a delivery is deleted after 3 days.')
      const result = isDryRun ? dryRunAttempt : await sendOnce(sender, endpoint, { id: deliveryId, body, changes })
      return async tx => {
        const added = await addAttempt(tx, service, id, result)
        if (!added) throw notFound(kind)
        return { record: added.record, subject: buildPath(id) }
      }
    },
  ),
]

async function findAttemptOrThrow(db: Db, service: Service, id: string, attempt: string) {
  const stored = await findAttempt(db, service, id, attempt)
  if (!stored) throw notFound('attempt')
  return stored
}

/** Larger backlogs are not counted completely. */
const maxBacklog = 10_000
const pageSize = 1_000

/** Counts the undelivered changes of an endpoint, including the changes of its pending delivery. */
async function countBacklog(db: Database, keys: Keys, service: Service, endpoint: EndpointState) {
  let positions = decodeCursor({ service, kinds: endpoint.kinds, key: keys.cursors }, endpoint.cursor)
  let backlog = 0
  let hasMore = positions !== undefined
  while (positions && hasMore && backlog < maxBacklog) {
    const page = await readChanges(db, service, positions, { limit: pageSize, records: false })
    backlog += page?.changes.length ?? 0
    hasMore = page?.hasMore ?? false
    positions = page?.positions
  }
  return { backlog, isBacklogComplete: !hasMore }
}
