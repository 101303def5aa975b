import { PlatformFailure } from '../../../domain/ecommerce/platform-failure.ts'
import type { SubscriptionPort, SubscriptionState } from '../../port/events.ts'
import type { ShopifyClient } from '../client/client.ts'
import { operations } from '../documents/documents.ts'
import { type TopicName, topics } from './topics.ts'

interface Subscription {
  id: string
  topic: string
  uri: string
}

interface SubscriptionPage {
  webhookSubscriptions: { nodes: Subscription[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } }
}

interface Rejectable {
  userErrors: { message: string }[]
}

const topicNames = Object.keys(topics) as TopicName[]

/** The event subscriptions of the app in a shop. Subscriptions with other paths belong to other receivers, and stay. */
export function createSubscriptions(client: ShopifyClient, readScopes: (signal: AbortSignal) => Promise<Set<string>>) {
  async function list(signal: AbortSignal): Promise<Subscription[]> {
    const subscriptions: Subscription[] = []
    for (let after: string | null = null; ; ) {
      const page: SubscriptionPage = await client.send(operations.subscriptions, { after }, signal)
      const { nodes, pageInfo } = page.webhookSubscriptions
      subscriptions.push(...nodes)
      if (!pageInfo.hasNextPage || pageInfo.endCursor === after) return subscriptions
      after = pageInfo.endCursor
    }
  }

  async function unsubscribe({ id }: Subscription, signal: AbortSignal): Promise<void> {
    // It may have been deleted already.
    await client.send(operations.unsubscribe, { id }, signal)
  }

  async function compare(url: string, signal: AbortSignal) {
    const scopes = await readScopes(signal)
    const existing = await list(signal)
    const isPermitted = (name: TopicName) => scopes.has(topics[name].scope)
    const isPresent = (name: TopicName) => existing.some(({ topic, uri }) => topic === name && uri === url)
    const state: SubscriptionState = {
      present: topicNames.filter(isPresent),
      missing: topicNames.filter(name => isPermitted(name) && !isPresent(name)),
      denied: topicNames.filter(name => !isPermitted(name)).map(topic => ({ topic, scope: topics[topic].scope })),
    }
    // The installation can have had another address.
    const path = url.replace(/^.*(?=\/ecommerce\/events\/)/, '')
    const outdated = existing.filter(({ uri }) => uri !== url && isPath(uri, path))
    return { state, outdated }
  }

  const port: SubscriptionPort = {
    read: async (url, signal) => (await compare(url, signal)).state,
    async ensure(url, signal) {
      const { state, outdated } = await compare(url, signal)
      for (const topic of state.missing) {
        const includeFields = topics[topic as TopicName].fields
        const { webhookSubscriptionCreate } = await client.send<{ webhookSubscriptionCreate: Rejectable }>(
          operations.subscribe,
          { topic, hook: { uri: url, format: 'JSON', includeFields } },
          signal,
        )
        const [rejected] = webhookSubscriptionCreate.userErrors
        // Another process can have created it at the same time.
        if (rejected && !/already been taken/.test(rejected.message))
          throw new PlatformFailure(
            'invalid',
            `The platform rejected the subscription to ${topic}: ${rejected.message}`,
          )
      }
      for (const subscription of outdated) await unsubscribe(subscription, signal)
      return state
    },
    async remove(path, signal) {
      for (const subscription of await list(signal))
        if (isPath(subscription.uri, path)) await unsubscribe(subscription, signal)
    },
  }
  return port
}

const isPath = (uri: string, path: string) => URL.canParse(uri) && new URL(uri).pathname.endsWith(path)
