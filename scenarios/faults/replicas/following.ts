import { setTimeout as delay } from 'node:timers/promises'
import type { Answered } from '../../support/asking.ts'

/** Who keeps a copy of customers' first names, by their identifiers. */
export interface Follower {
  path: string
  copy: ReadonlyMap<string, string>
  /** Once all has been read that there is when it no longer goes on. */
  done: Promise<void>
}

type Read = (path: string) => Promise<Answered<never>>

interface Customer {
  id: string
  firstname: string
}

const limit = 20

/** Polls the list of customers, page by page, each walk from the `asOf` of the one before. */
export function followList(read: Read, pace: () => number, goesOn: () => boolean): Follower {
  const copy = new Map<string, string>()
  const path = '/customers/search'
  async function walk(after: string): Promise<string> {
    for (let cursor = ''; ; await delay(pace())) {
      const { body } = await read(`${path}?limit=${limit}${after && `&updated_after=${after}`}${cursor}`)
      for (const { id, firstname } of (body.data ?? []) as Customer[]) copy.set(id, firstname)
      if (!body.meta) throw new Error(JSON.stringify(body))
      if (!body.meta.hasNextPage) return body.meta.asOf
      cursor = `&after_cursor=${body.meta.endCursor}`
    }
  }
  async function follow() {
    let asOf = ''
    while (goesOn()) {
      asOf = await walk(asOf)
      await delay(pace())
    }
    await walk(asOf)
  }
  return { path, copy, done: follow() }
}

/** Goes on in the feed of changes. */
export function followChanges(read: Read, pace: () => number, goesOn: () => boolean): Follower {
  const copy = new Map<string, string>()
  const path = '/changes'
  async function follow() {
    let [cursor, isLast] = ['', false]
    for (;;) {
      const { body } = await read(`${path}?kinds=customer&records=true&limit=${limit}${cursor}`)
      for (const { id, record } of (body.data ?? []) as { id: string; record: Customer }[])
        copy.set(id, record.firstname)
      if (!body.meta) throw new Error(JSON.stringify(body))
      cursor = `&after_cursor=${body.meta.endCursor}`
      if (!body.meta.hasNextPage && isLast) return
      if (!body.meta.hasNextPage && !goesOn()) isLast = true
      await delay(isLast ? 0 : pace())
    }
  }
  return { path, copy, done: follow() }
}

/** What processes have counted of reads from replicas whose names contain a text. */
export async function countedBy(ports: readonly number[]) {
  const texts = await Promise.all(ports.map(async port => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()))
  const counts = texts.flatMap(text => [
    ...text.matchAll(/^tillbridge_replica_reads_total\{replica="([^"]*)",result="(\w+)"\} (\d+)$/gm),
  ])
  return (replica: string, wanted: string) =>
    counts
      .filter(([, name = '', result]) => name.startsWith(replica) && result === wanted)
      .reduce((sum, [, , , count]) => sum + Number(count), 0)
}
