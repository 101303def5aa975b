import { parseRewindTarget } from '../../change-feed/start-position.ts'
import type { Db } from '../../database/db.ts'
import { IssuedWebhook, Rewind, Webhook, WebhookAttempt } from '../../domain/webhooks/webhooks.ts'
import { notFound } from '../../errors/api-error.ts'
import { EmptyBody } from '../../http/body/body.ts'
import { list, post } from '../../http/routing/route-definitions.ts'
import { addAttempt, readAttemptPage } from '../../store/webhooks/attempts.ts'
import { readEndpointState } from '../../store/webhooks/deliveries.ts'
import {
  findWebhookRecord,
  pauseWebhook,
  resumeWebhook,
  rewindWebhook,
  rotateSecret,
} from '../../store/webhooks/endpoints.ts'
import { generateSecret } from '../../webhooks/signature.ts'
import { sendTestEvent } from '../../webhooks/test-event.ts'
import {
  applyChange,
  buildPath,
  kind,
  lockOrThrow,
  path,
  readWebhook,
  role,
  tag,
  type WebhookWriteContext,
  webhookParams,
} from './webhook-write.ts'

/** Actions on a webhook, and its delivery attempts. */
export const actions = [
  post(
    `${path}/test`,
    {
      operationId: 'testWebhook',
      tag,
      role,
      status: 200,
      summary: 'Send a test event',
      description: 'Sends a signed `webhook.test` event and returns the attempt. It works for paused webhooks too.',
      params: webhookParams,
      body: EmptyBody,
      isAudited: false,
      generated: ['id', 'deliveryId'],
      response: WebhookAttempt,
    },
    async ({ service, keys, params: { id }, sender, stage, read, isDryRun }) => {
      await stage(tx => lockOrThrow(tx, service, id))
      const endpoint = await read(db => readEndpointState(db, keys, service, id))
      if (!endpoint) throw notFound(kind)
      const attempt = isDryRun ? dryRunAttempt : await sendTestEvent(sender, service.name, endpoint)
      return async tx => {
        const added = await addAttempt(tx, service, id, attempt)
        if (!added) throw notFound(kind)
        return { record: added.record, subject: buildPath(id) }
      }
    },
  ),

  defineSwitch('pause', 'Pause a webhook', 'Changes wait until the webhook is resumed.', (tx, { service }, id) =>
    pauseWebhook(tx, service, id, 'Paused by an operator.'),
  ),
  defineSwitch(
    'resume',
    'Resume a webhook',
    'Deliveries continue at once, from the cursor of the webhook.',
    (tx, { service }, id) => resumeWebhook(tx, service, id),
  ),

  post(
    `${path}/rewind`,
    {
      operationId: 'rewindWebhook',
      tag,
      role,
      status: 200,
      summary: 'Replay changes to a webhook',
      description:
        'Sends each record that has changed since then once, in its current state. A delivery that is being retried is abandoned.',
      params: webhookParams,
      body: Rewind,
      response: Webhook,
      errors: ['cursor_expired'],
    },
    context =>
      applyChange(context, async (tx, { id, kinds }) => {
        const { service, keys, body } = context
        await rewindWebhook(
          tx,
          service,
          id,
          await parseRewindTarget(tx, { service, kinds, key: keys.cursors }, body.to),
        )
      }),
  ),

  post(
    `${path}/rotate-secret`,
    {
      operationId: 'rotateWebhookSecret',
      tag,
      role,
      status: 200,
      summary: 'Rotate a signing secret',
      description: 'Both secrets sign deliveries for 24 hours. After that, only the new one does.',
      params: webhookParams,
      body: EmptyBody,
      generated: ['secret'],
      response: IssuedWebhook,
    },
    ({ service, keys, params: { id } }) =>
      async tx => {
        await lockOrThrow(tx, service, id)
        const secret = generateSecret()
        await rotateSecret(tx, keys, service, id, secret)
        return { data: { ...(await readWebhook(tx, service, id)), secret }, subject: buildPath(id) }
      },
  ),

  list(
    `${path}/attempts`,
    {
      operationId: 'listWebhookAttempts',
      tag,
      role,
      summary: 'List delivery attempts',
      description: 'The attempts of the last 30 days, newest first.',
      params: webhookParams,
      item: WebhookAttempt,
    },
    async ({ db, service, params: { id } }, page) => {
      if (!(await findWebhookRecord(db, service, id))) throw notFound(kind)
      return readAttemptPage(db, service, id, page)
    },
  ),
]

/** Defines the route that pauses or resumes a webhook. */
function defineSwitch(
  verb: 'pause' | 'resume',
  summary: string,
  description: string,
  change: (tx: Db, context: WebhookWriteContext, id: string) => Promise<unknown>,
) {
  return post(
    `${path}/${verb}`,
    {
      operationId: `${verb}Webhook`,
      tag,
      role,
      status: 200,
      summary,
      description,
      params: webhookParams,
      body: EmptyBody,
      response: Webhook,
    },
    context => applyChange(context, (tx, { id }) => change(tx, context, id)),
  )
}

export const dryRunAttempt = {
  deliveryId: '',
  changes: 0,
  status: null,
  error: 'Dry run: nothing was sent.',
  response: '',
  milliseconds: 0,
  body: '',
  headers: null,
}
