/**
 * Shares the turns of the event loop between sources of work, such as connections. A turn starts work for a few milliseconds. The rest waits.
 * Pattern: a run queue with two levels. Sources that used little time recently come first, so that a probe or a new client doesn't wait
 * behind those that keep the process busy. Sources of one level take turns, and the work of one source keeps its order.
 */

/** Milliseconds in which a turn starts work, including the promises that it resolves. The last piece of work can exceed them. */
const turnMs = 5
/** `turnMs` for a turn after a new connection. The event loop accepts only one connection between two turns. */
const shortTurnMs = 1
/** Milliseconds that a source can use in `windowMs` and still come first. */
const lightMs = 5
const windowMs = 1_000
/** Every fourth turn begins with a source that used more (a heavy one), so that light sources can't keep it waiting permanently. */
const heavyInterval = 4

type Work = () => void

export interface Source {
  readonly waiting: Work[]
  usedMs: number
  windowStart: number
}

export const createSource = (): Source => ({ waiting: [], usedMs: 0, windowStart: 0 })

const pauses = createTurns()

/**
 * Resolves at once if the current turn has time left, otherwise in a later turn. Call it between the pieces of long work that clients can start,
 * such as building a document.
 */
export const pause = (): Promise<void> => new Promise(resolve => pauses.run(createSource(), resolve))

export interface Turns {
  /** Runs work at once if the turn has time left and the source has no waiting work, otherwise in a later turn. */
  run(source: Source, work: Work): void
  /** Makes the next turn a short one. */
  shortenNext(): void
}

/** Creates the turns of one event loop. */
export function createTurns(): Turns {
  const light = new Set<Source>()
  const heavy = new Set<Source>()
  /** Undefined if no turn is scheduled. While one is scheduled, the event loop doesn't wait for events. */
  let turnStart: number | undefined
  let turns = 0
  let isShort = false
  let isNextShort = false

  const isFull = () => performance.now() - (turnStart ?? 0) >= (isShort ? shortTurnMs : turnMs)
  const enqueue = (source: Source) => void (isHeavy(source) ? heavy : light).add(source)

  /** Starts the next work of a level. Returns a function that charges its source. Returns undefined if no work waits. */
  const startNext = (level: Set<Source>) => {
    const [source] = level
    if (!source) return
    level.delete(source)
    const startedAt = performance.now()
    source.waiting.shift()?.()
    return () => {
      charge(source, startedAt)
      if (source.waiting.length) enqueue(source)
    }
  }

  const takeTurn = () => {
    turnStart = performance.now()
    isShort = isNextShort
    isNextShort = false
    const isHeavyFirst = ++turns % heavyInterval === 0
    startWork((isHeavyFirst && startNext(heavy)) || startNext(light) || startNext(heavy))
  }
  const startWork = (end: Work | undefined) => {
    if (!end) {
      turnStart = undefined
      return
    }
    afterPromises(() => {
      end()
      if (isFull()) return void setImmediate(takeTurn)
      const next = startNext(light) ?? startNext(heavy)
      if (next) startWork(next)
      else setImmediate(takeTurn)
    })
  }

  return {
    run(source, work) {
      if (turnStart === undefined) {
        turnStart = performance.now()
        setImmediate(takeTurn)
      }
      if (source.waiting.length || isFull()) {
        source.waiting.push(work)
        return enqueue(source)
      }
      const startedAt = performance.now()
      work()
      charge(source, startedAt)
    },
    shortenNext() {
      isNextShort = true
    },
  }
}

const isHeavy = ({ usedMs, windowStart }: Source) => usedMs >= lightMs && performance.now() - windowStart < windowMs

function charge(source: Source, startedAt: number) {
  const now = performance.now()
  if (now - source.windowStart >= windowMs) {
    source.windowStart = now
    source.usedMs = 0
  }
  source.usedMs += now - startedAt
}

/** Calls back after the promises that can be resolved now. */
const afterPromises = (callback: Work) => queueMicrotask(() => process.nextTick(callback))
