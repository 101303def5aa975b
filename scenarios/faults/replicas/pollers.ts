import { setTimeout as delay } from 'node:timers/promises'
import type { Customer, Tillbridge } from '../../../client/src/index.ts'

/** A client that keeps a copy of customers' first names, by ID. */
export interface Poller {
  path: string
  copy: ReadonlyMap<string, string>
  /** Resolves after `isOver`, when the poller has read everything. */
  done: Promise<void>
}

/** Sends a read; throws if it fails. */
export type Read = <T>(call: (api: Tillbridge) => Promise<T>) => Promise<T>

const limit = 20

/** Polls the list of customers page by page, from `asOf` to `asOf`. */
export function pollList(read: Read, pauseMs: () => number, isOver: () => boolean): Poller {
  const copy = new Map<string, string>()
  async function readAll(updatedAfter: string | undefined): Promise<string> {
    for (let cursor: string | undefined; ; await delay(pauseMs())) {
      const { data, meta } = await read(api => api.customers.search({ limit, updatedAfter }).page(cursor))
      for (const { id, firstname } of data) copy.set(id, firstname ?? '')
      if (!meta.hasNextPage) return meta.asOf
      cursor = meta.endCursor ?? undefined
    }
  }
  async function poll() {
    let asOf: string | undefined
    while (!isOver()) {
      asOf = await readAll(asOf)
      await delay(pauseMs())
    }
    await readAll(asOf)
  }
  return { path: '/customers/search', copy, done: poll() }
}

/** Reads the customers in the change feed until `isOver`, then to its end. */
export function pollChanges(read: Read, pauseMs: () => number, isOver: () => boolean): Poller {
  const copy = new Map<string, string>()
  async function poll() {
    let [cursor, isLast]: [string | undefined, boolean] = [undefined, false]
    for (;;) {
      const { data, meta } = await read(api =>
        api.changes.list({ kinds: 'customer', records: true, limit }).page(cursor),
      )
      for (const { id, record } of data) copy.set(id, (record as unknown as Customer).firstname ?? '')
      cursor = meta.endCursor ?? cursor
      if (!meta.hasNextPage && isLast) return
      if (!meta.hasNextPage && isOver()) isLast = true
      await delay(isLast ? 0 : pauseMs())
    }
  }
  return { path: '/changes', copy, done: poll() }
}

/** Reads from the processes' metrics how many reads each replica had, by the start of its name and the result. */
export async function readReplicaCounts(ports: readonly number[]) {
  const pages = await Promise.all(ports.map(async port => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()))
  const counts = pages.flatMap(page => [
    ...page.matchAll(/^tillbridge_replica_reads_total\{replica="([^"]*)",result="(\w+)"\} (\d+)$/gm),
  ])
  return (replica: string, state: string) =>
    counts
      .filter(([, name = '', result]) => name.startsWith(replica) && result === state)
      .reduce((sum, [, , , count]) => sum + Number(count), 0)
}
