/**
 * A local time of Apparel21, as the milliseconds since 1970 of the same figures in UTC. The real database stores local
 * times without a zone, so an hour that the zone shows twice is ambiguous here too.
 */
export type Wall = number

export const second = 1_000
export const day = 86_400_000

/** The server's clock. */
export interface Clock {
  /** In milliseconds since 1970. */
  now(): number
  wall(): Wall
  /** Runs on from this instant. */
  set(instant: string): void
  /** Shows this instant (or the present one) until it is moved. */
  freeze(instant?: string): void
  advance(seconds: number): void
  /** The machine's own clock again. */
  reset(): void
  /** Runs work while the clock is wrong by this many seconds. */
  skewed<T>(seconds: number, work: () => T): T
  state(): { now: string; wall: string; offsetSeconds: number; frozen: boolean }
}

export function makeClock(zone: () => string, start?: string): Clock {
  let offset = start === undefined ? 0 : instantOf(start) - Date.now()
  let frozen: number | undefined
  let skew = 0
  const now = () => (frozen ?? Date.now() + offset) + skew
  return {
    now,
    wall: () => wallOf(now(), zone()),
    set(instant) {
      offset = instantOf(instant) - Date.now()
      frozen = undefined
    },
    freeze(instant) {
      frozen = instant === undefined ? now() : instantOf(instant)
    },
    advance(seconds) {
      if (frozen === undefined) offset += seconds * second
      else frozen += seconds * second
    },
    reset() {
      offset = 0
      frozen = undefined
    },
    skewed(seconds, work) {
      skew = seconds * second
      try {
        return work()
      } finally {
        skew = 0
      }
    },
    state: () => ({
      now: new Date(now()).toISOString(),
      wall: isoText(wallOf(now(), zone())),
      offsetSeconds: Math.round((now() - Date.now()) / second),
      frozen: frozen !== undefined,
    }),
  }
}

function instantOf(text: string): number {
  const instant = Date.parse(text)
  if (!/(Z|[+-]\d\d:\d\d)$/.test(text) || Number.isNaN(instant))
    throw new TypeError(`${text} is not an instant such as 2026-02-03T10:00:00Z`)
  return instant
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Returns the local time of a zone at an instant. Throws a RangeError if the zone doesn't exist. */
export function wallOf(instant: number, zone: string): Wall {
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

/** `2024-05-06T16:32:15`, as nearly everything is written. */
export const isoText = (wall: Wall) => new Date(wall).toISOString().slice(0, 19)

/** `2024-05-06` */
export const dateText = (wall: Wall) => new Date(wall).toISOString().slice(0, 10)

/** `2024-05-29T14:20:07.76`: with fractions, without their trailing zeros. */
export const fractionText = (wall: Wall) =>
  new Date(wall)
    .toISOString()
    .slice(0, -1)
    .replace(/\.?0+$/, '')

const two = (number: number) => String(number).padStart(2, '0')

/** `6/05/2024 4:32:15 PM`: the Australian format of .NET, used in the body of a person. */
export function australianText(wall: Wall): string {
  const time = new Date(wall)
  const hour = time.getUTCHours()
  const date = `${time.getUTCDate()}/${two(time.getUTCMonth() + 1)}/${time.getUTCFullYear()}`
  return `${date} ${hour % 12 || 12}:${two(time.getUTCMinutes())}:${two(time.getUTCSeconds())} ${hour < 12 ? 'AM' : 'PM'}`
}

/** Reads `2024-05-06T16:32:15`, the same without seconds, or a date; returns undefined for anything else, including `2024-02-30`. */
export function readWall(text: string): Wall | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?$/.test(text)) return
  const wall = Date.parse(`${text.length === 10 ? `${text}T00:00` : text}Z`)
  return !Number.isNaN(wall) && dateText(wall) === text.slice(0, 10) ? wall : undefined
}
