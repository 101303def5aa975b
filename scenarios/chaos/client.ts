import { setTimeout as delay } from 'node:timers/promises'
import { type Asked, askOnce, type Body, isSettled, patienceMs, unsettled } from '../support/asking.ts'
import type { Kept } from '../support/processes.ts'
import type { Random } from '../support/random.ts'
import { waysTo } from '../support/reaching.ts'

/** An answer that settles a request. `Data` is what the API documents for it: the run judges effects, not shapes. */
export interface Settled<Data> extends Body<Data> {
  status: number
  /** The body as it came. */
  text: string
}

/** A client that asks any of the processes, and asks again with the same key until the answer settles it. */
export function clientOf(apis: readonly Kept[], headers: Record<string, string>, random: Random) {
  const ways = waysTo(apis, headers, random)

  /** Throws where nothing settles it within 90 seconds: that is a finding of its own. */
  async function ask<Data>(asked: Asked): Promise<Settled<Data>> {
    const until = performance.now() + patienceMs
    let last = ''
    while (performance.now() < until) {
      const way = ways.any()
      const answer = way
        ? await askOnce<Data>(asked, way).catch((error: Error) => error)
        : new Error('no process was up')
      if (answer instanceof Error) last = answer.message
      else {
        const { status, body, text } = answer
        if (isSettled(answer)) return { ...body, status, text }
        last = `${status} ${body.code}`
      }
      await delay(20 + random.whole(0, 80))
    }
    throw unsettled(asked, last)
  }

  return {
    ask,
    /** A list that is there: its records, and where it goes on. */
    async list<Row>(path: string): Promise<Required<Pick<Body<Row[]>, 'data' | 'meta'>>> {
      const { data, meta, text } = await ask<Row[]>({ method: 'GET', path })
      if (!data || !meta) throw new Error(`GET ${path}: ${text}`)
      return { data, meta }
    },
    close: ways.close,
  }
}

export type Client = ReturnType<typeof clientOf>
