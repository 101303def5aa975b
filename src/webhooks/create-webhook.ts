import { createCurrentCursor, createInitialCursor } from '../change-feed/start-position.ts'
import { selectKinds } from '../change-feed/subscription.ts'
import type { Keys } from '../crypto/keys.ts'
import type { Db } from '../database/db.ts'
import { kinds as allKinds, type Kind } from '../domain/changes.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { addWebhook } from '../store/webhooks/endpoints.ts'
import { newSecret } from './signature.ts'

interface Wanted {
  url: string
  /** Absent: all. */
  kinds?: readonly Kind[] | undefined
  description?: string | null | undefined
  /** True to send all existing records first. */
  fromBeginning?: boolean | undefined
}

/** Makes a webhook. Its secret is nowhere to be read again. */
export async function createWebhook(tx: Db, keys: Keys, service: Service, wanted: Wanted) {
  const kinds = wanted.kinds ? selectKinds(wanted.kinds) : allKinds
  const following = { service, kinds, key: keys.cursors }
  const cursor = wanted.fromBeginning ? createInitialCursor(following) : await createCurrentCursor(tx, following)
  const secret = newSecret()
  const made = { url: wanted.url, kinds, description: wanted.description ?? null, cursor }
  return { id: await addWebhook(tx, keys, service, secret, made), secret }
}
