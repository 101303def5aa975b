import { changeCursorKinds } from '../../change-feed/start-position.ts'
import { selectKinds } from '../../change-feed/subscription.ts'
import { IssuedWebhook, RemovedWebhook, Webhook, WebhookChange, WebhookInput } from '../../domain/webhooks/webhooks.ts'
import { ApiError } from '../../errors/api-error.ts'
import { EmptyBody } from '../../http/body/body.ts'
import { del, get, list, post, put } from '../../http/routing/route-definitions.ts'
import type { WriteContext } from '../../http/routing/writes.ts'
import { changeWebhook, deleteWebhook, findWebhookRecord, readWebhookPage } from '../../store/webhooks/endpoints.ts'
import { createWebhook } from '../../webhooks/create-webhook.ts'
import { actions } from './actions.ts'
import {
  applyChange,
  buildPath,
  kind,
  lockOrThrow,
  path,
  readWebhook,
  role,
  tag,
  webhookParams,
} from './webhook-write.ts'

/** Webhooks: create, list, update, delete. */
export const webhooks = [
  list(
    '/webhooks',
    {
      operationId: 'listWebhooks',
      tag,
      role,
      summary: 'List webhooks',
      description: 'Each webhook has its state, cursor and lag.',
      item: Webhook,
    },
    ({ db, service }, page) => readWebhookPage(db, service, page),
  ),

  get(
    path,
    {
      operationId: 'getWebhook',
      tag,
      role,
      summary: 'Get a webhook',
      description: 'The webhook with its state, cursor and lag, without its secret.',
      params: webhookParams,
      response: Webhook,
      recordName: kind,
    },
    ({ db, service, params }) => findWebhookRecord(db, service, params.id),
  ),

  post(
    '/webhooks',
    {
      operationId: 'createWebhook',
      tag,
      role,
      summary: 'Create a webhook',
      description:
        'Sends changes from now on, at most 100 per delivery, one delivery at a time. With `fromBeginning`, all existing records come first. Use the secret in this response to verify deliveries (Standard Webhooks). It is shown only once.',
      body: WebhookInput,
      generated: ['id', 'secret', 'cursor'],
      response: IssuedWebhook,
      errors: ['url_not_allowed'],
    },
    async context => {
      const { service, keys, body } = context
      await checkUrl(context, body.url)
      return async tx => {
        const { id, secret } = await createWebhook(tx, keys, service, body)
        return { data: { ...(await readWebhook(tx, service, id)), secret }, subject: buildPath(id) }
      }
    },
  ),

  put(
    path,
    {
      operationId: 'updateWebhook',
      tag,
      role,
      summary: 'Update a webhook',
      description:
        "Keeps fields that the body doesn't mention. For added kinds, changes from now on are delivered. A delivery that is being retried goes to the new `url` at once.",
      params: webhookParams,
      body: WebhookChange,
      response: Webhook,
      errors: ['url_not_allowed'],
    },
    async context => {
      const { service, keys, body } = context
      if (body.url !== undefined) await checkUrl(context, body.url)
      return applyChange(context, async (tx, before) => {
        const kinds = body.kinds ? selectKinds(body.kinds) : before.kinds
        const cursor = await changeCursorKinds(
          tx,
          { service, kinds: before.kinds, key: keys.cursors },
          before.cursor,
          kinds,
        )
        const { url = before.url, description = before.description } = body
        await changeWebhook(tx, service, before, { url, kinds, description, cursor })
      })
    },
  ),

  del(
    path,
    {
      operationId: 'deleteWebhook',
      tag,
      role,
      summary: 'Delete a webhook',
      description: 'Deletes the webhook and its attempts. A delivery that is in flight can still arrive.',
      params: webhookParams,
      body: EmptyBody,
      response: RemovedWebhook,
    },
    ({ service, params: { id } }) =>
      async tx => {
        await lockOrThrow(tx, service, id)
        await deleteWebhook(tx, service, id)
        return { data: { id }, subject: buildPath(id) }
      },
  ),

  ...actions,
]

async function checkUrl({ sender }: Pick<WriteContext, 'sender'>, url: string) {
  const detail = await sender.findRejection(url)
  if (detail === undefined) return
  throw new ApiError('url_not_allowed', detail, { errors: [{ pointer: '/url', code: 'url_not_allowed', detail }] })
}
