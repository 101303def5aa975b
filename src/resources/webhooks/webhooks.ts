import { changedKinds } from '../../change-feed/start-position.ts'
import { kindsAmong } from '../../change-feed/subscription.ts'
import { IssuedWebhook, RemovedWebhook, Webhook, WebhookChange, WebhookInput } from '../../domain/webhooks/webhooks.ts'
import { ApiError } from '../../errors/api-error.ts'
import { NoBody } from '../../http/body/body.ts'
import type { Api } from '../../http/routing/api.ts'
import type { WriteContext } from '../../http/routing/writes.ts'
import { changeWebhook, removeWebhook, webhookPage, webhookRecord } from '../../store/webhooks/endpoints.ts'
import { makeWebhook } from '../../webhooks/create-webhook.ts'
import { actions } from './actions.ts'
import { changing, held, kind, params, path, pathOf, role, shown, tag } from './webhook-write.ts'

/** Contract 11. */
export function webhooks(api: Api) {
  api.list(
    '/webhooks',
    {
      operationId: 'listWebhooks',
      tag,
      role,
      summary: 'List webhooks',
      description: 'With where each stands, and whether it takes what it is told.',
      item: Webhook,
    },
    ({ db, service }, asked) => webhookPage(db, service, asked),
  )

  api.get(
    path,
    {
      operationId: 'getWebhook',
      tag,
      role,
      summary: 'Get a webhook',
      description: 'With where it stands, and whether it takes what it is told. Its secret is never shown again.',
      params,
      answer: Webhook,
      kind,
    },
    ({ db, service, params }) => webhookRecord(db, service, params.id),
  )

  api.post(
    '/webhooks',
    {
      operationId: 'createWebhook',
      tag,
      role,
      summary: 'Create a webhook',
      description:
        'What changes from now on is posted to it, at most 100 changes at a time, one delivery after the other; with `fromBeginning` everything as it stands comes first. The secret in this answer verifies deliveries (Standard Webhooks).',
      body: WebhookInput,
      made: ['id', 'secret', 'cursor'],
      answer: IssuedWebhook,
      errors: ['url_not_allowed'],
    },
    async context => {
      const { service, keys, body } = context
      await judgeUrl(context, body.url)
      return async tx => {
        const { id, secret } = await makeWebhook(tx, keys, service, body)
        return { data: { ...(await shown(tx, service, id)), secret }, subject: pathOf(id) }
      }
    },
  )

  api.put(
    path,
    {
      operationId: 'updateWebhook',
      tag,
      role,
      summary: 'Update a webhook',
      description:
        'What the body does not mention stays. Of kinds that are new to it, it is told what changes from now on. A delivery that is being repeated goes to the new `url`, at once.',
      params,
      body: WebhookChange,
      answer: Webhook,
      errors: ['url_not_allowed'],
    },
    async context => {
      const { service, keys, body } = context
      if (body.url !== undefined) await judgeUrl(context, body.url)
      return changing(context, async (tx, before) => {
        const kinds = body.kinds ? kindsAmong(body.kinds) : before.kinds
        const cursor = await changedKinds(tx, { service, kinds: before.kinds, key: keys.cursors }, before.cursor, kinds)
        const { url = before.url, description = before.description } = body
        await changeWebhook(tx, service, before, { url, kinds, description, cursor })
      })
    },
  )

  api.delete(
    path,
    {
      operationId: 'deleteWebhook',
      tag,
      role,
      summary: 'Delete a webhook',
      description: 'With its attempts. A delivery that is on its way may still arrive.',
      params,
      body: NoBody,
      answer: RemovedWebhook,
    },
    ({ service, params: { id } }) =>
      async tx => {
        await held(tx, service, id)
        await removeWebhook(tx, service, id)
        return { data: { id }, subject: pathOf(id) }
      },
  )

  actions(api)
}

async function judgeUrl({ sender }: Pick<WriteContext, 'sender'>, url: string) {
  const detail = await sender.refusal(url)
  if (detail === undefined) return
  throw new ApiError('url_not_allowed', detail, { errors: [{ pointer: '/url', code: 'url_not_allowed', detail }] })
}
