/**
 * A local time of Apparel21: the milliseconds since 1970 of the same date and time in UTC. The real database stores local
 * times without a zone, so the repeated hour at the end of daylight saving is ambiguous here too.
 */
export type Wall = number

export const secondMs = 1_000
export const dayMs = 86_400_000

/** The server's clock. */
export interface Clock {
  /** Returns milliseconds since 1970. */
  now(): number
  wall(): Wall
  /** Continues from this instant. */
  set(instant: string): void
  /** Stops at this instant, by default the current one, until it is changed. */
  freeze(instant?: string): void
  advance(seconds: number): void
  /** Shows the time of the machine again. */
  reset(): void
  /** Runs work while the clock is wrong by this many seconds. */
  runSkewed<T>(seconds: number, work: () => T): T
  state(): { now: string; wall: string; offsetSeconds: number; frozen: boolean }
}

export function makeClock(zone: () => string, start?: string): Clock {
  let offset = start === undefined ? 0 : parseInstant(start) - Date.now()
  let frozen: number | undefined
  let skew = 0
  const now = () => (frozen ?? Date.now() + offset) + skew
  return {
    now,
    wall: () => toWall(now(), zone()),
    set(instant) {
      offset = parseInstant(instant) - Date.now()
      frozen = undefined
    },
    freeze(instant) {
      frozen = instant === undefined ? now() : parseInstant(instant)
    },
    advance(seconds) {
      if (frozen === undefined) offset += seconds * secondMs
      else frozen += seconds * secondMs
    },
    reset() {
      offset = 0
      frozen = undefined
    },
    runSkewed(seconds, work) {
      skew = seconds * secondMs
      try {
        return work()
      } finally {
        skew = 0
      }
    },
    state: () => ({
      now: new Date(now()).toISOString(),
      wall: formatIso(toWall(now(), zone())),
      offsetSeconds: Math.round((now() - Date.now()) / secondMs),
      frozen: frozen !== undefined,
    }),
  }
}

function parseInstant(text: string): number {
  const instant = Date.parse(text)
  if (!/(Z|[+-]\d\d:\d\d)$/.test(text) || Number.isNaN(instant))
    throw new TypeError(`${text} is not an instant such as 2026-02-03T10:00:00Z`)
  return instant
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Returns the local time of a zone at an instant. Throws a RangeError if the zone doesn't exist. */
export function toWall(instant: number, zone: string): Wall {
  let format = formats.get(zone)
  if (!format) {
    const numeric = 'numeric' as const
    format = new Intl.DateTimeFormat('en', {
      timeZone: zone,
      hourCycle: 'h23',
      fractionalSecondDigits: 3,
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    })
    formats.set(zone, format)
  }
  const part = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 0, hour = 0, minute = 0 } = part
  return Date.UTC(year, month - 1, part.day, hour, minute, part.second, part.fractionalSecond)
}

/** Formats a time as `2024-05-06T16:32:15`. */
export const formatIso = (wall: Wall) => new Date(wall).toISOString().slice(0, 19)

/** Formats a date as `2024-05-06`. */
export const formatDate = (wall: Wall) => new Date(wall).toISOString().slice(0, 10)

/** Formats a time with fractions of a second and without trailing zeros: `2024-05-29T14:20:07.76`. */
export const formatFraction = (wall: Wall) =>
  new Date(wall)
    .toISOString()
    .slice(0, -1)
    .replace(/\.?0+$/, '')

const padTwo = (number: number) => String(number).padStart(2, '0')

/** Formats a time in the Australian format of .NET, which persons contain: `6/05/2024 4:32:15 PM`. */
export function formatAustralian(wall: Wall): string {
  const time = new Date(wall)
  const hour = time.getUTCHours()
  const date = `${time.getUTCDate()}/${padTwo(time.getUTCMonth() + 1)}/${time.getUTCFullYear()}`
  return `${date} ${hour % 12 || 12}:${padTwo(time.getUTCMinutes())}:${padTwo(time.getUTCSeconds())} ${hour < 12 ? 'AM' : 'PM'}`
}

/** Parses `2024-05-06T16:32:15`, a time without seconds, or a date. Returns undefined for anything else, including `2024-02-30`. */
export function parseWall(text: string): Wall | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?$/.test(text)) return
  const wall = Date.parse(`${text.length === 10 ? `${text}T00:00` : text}Z`)
  return !Number.isNaN(wall) && formatDate(wall) === text.slice(0, 10) ? wall : undefined
}
