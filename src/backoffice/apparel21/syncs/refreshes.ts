import type { Portion, Visit } from '../../../domain/sync/port.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { handleLater } from '../../../telemetry/ignored-errors.ts'
import { refusalBehind } from '../client/rejection.ts'

/** Visits under way at a time: few, so that the callers of the API find a place. */
const atOnce = 3
/** One record that cannot be read is passed over; so many in a row are a back office that is not well. */
const mostFaults = 10

/**
 * Visits records one after the other, a few at a time, and brings their portions in order. A visit that answers with something
 * unreadable is refused, and done with until it is due again.
 */
export async function* visited(
  visits: AsyncIterable<Visit>,
  visit: (visit: Visit) => Promise<Portion>,
): AsyncGenerator<Portion> {
  const underWay: { visited: Visit & { at: Date }; portion: Promise<Portion> }[] = []
  let faults = 0
  async function* next(): AsyncGenerator<Portion> {
    const begun = underWay.shift()
    if (!begun) return
    try {
      yield { ...(await begun.portion), visited: begun.visited }
      faults = 0
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'back_office_error') throw error
      // A refusal is an answer about this one record, and will be the same tomorrow.
      if (!refusalBehind(error) && ++faults > mostFaults) throw error
      yield { refused: ['The answer about a record could not be read.'], visited: begun.visited }
    }
  }
  for await (const one of visits) {
    const visited = { ...one, at: new Date() }
    const portion = visit(one)
    // It may fail before it is its turn.
    handleLater(portion)
    underWay.push({ visited, portion })
    if (underWay.length >= atOnce) yield* next()
  }
  while (underWay.length) yield* next()
}
