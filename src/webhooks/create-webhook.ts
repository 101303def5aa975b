import { createCurrentCursor, createInitialCursor } from '../change-feed/start-position.ts'
import { selectKinds } from '../change-feed/subscription.ts'
import type { Keys } from '../crypto/keys.ts'
import type { Db } from '../database/db.ts'
import { changeKinds as allKinds, type Kind } from '../domain/changes.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { addWebhook } from '../store/webhooks/endpoints.ts'
import { generateSecret } from './signature.ts'

interface WebhookOptions {
  url: string
  /** Default: all. */
  kinds?: readonly Kind[] | undefined
  description?: string | null | undefined
  /** True to send all existing records first. */
  fromBeginning?: boolean | undefined
}

/** Creates a webhook. Returns its secret, which can be read only here. */
export async function createWebhook(tx: Db, keys: Keys, service: Service, options: WebhookOptions) {
  const kinds = options.kinds ? selectKinds(options.kinds) : allKinds
  const subscription = { service, kinds, key: keys.cursors }
  const cursor = options.fromBeginning ? createInitialCursor(subscription) : await createCurrentCursor(tx, subscription)
  const secret = generateSecret()
  const endpoint = { url: options.url, kinds, description: options.description ?? null, cursor }
  return { id: await addWebhook(tx, keys, service, secret, endpoint), secret }
}
