import { formatDuration } from 'tillbridge/health'

// Times are shown in the service's time zone, so that they match its receipts and reports.

let timeZone = 'UTC'
/** Sets the time zone of all shown times. @param {string} zone */
export const setTimeZone = zone => {
  timeZone = zone
}

/** @param {Intl.DateTimeFormatOptions} options @param {string | undefined} [zone] undefined: that of the browser */
const createFormat = (options, zone = timeZone) => new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone })

/** @type {Intl.DateTimeFormatOptions} */
const dateAndTime = {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
}

/** Returns the abbreviation of a time zone at a time: `AEDT`. @param {string} [zone] Default: the service's. @param {Date} [at] */
export const formatZone = (zone = timeZone, at = new Date()) =>
  new Intl.DateTimeFormat('en-AU', { timeZone: zone, timeZoneName: 'short' })
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value ?? zone

/** Formats a time in the service's zone: `27 Nov 2026, 01:40`. @param {string} time RFC 3339 */
export const formatTime = time => createFormat(dateAndTime).format(new Date(time))

/** Formats the start of an interval: as a time if the range is at most a day, otherwise as a date. @param {string} time @param {boolean} isShort */
export const formatTick = (time, isShort) =>
  createFormat(
    isShort ? { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } : { day: 'numeric', month: 'short' },
  ).format(new Date(time))

/** Formats the time since then: `5 min ago`. @param {string} time RFC 3339 */
export const formatAge = time => `${formatDuration((Date.now() - Date.parse(time)) / 1_000)} ago`

const dayMs = 86_400_000

/** Formats a time: its age for a day, then the date. @param {string} time RFC 3339 */
export const formatMoment = time => (Date.now() - Date.parse(time) < dayMs ? formatAge(time) : formatTime(time))

/** Returns a time in the service's zone, the reader's zone and UTC. @param {string} time RFC 3339 */
export function formatInZones(time) {
  const at = new Date(time)
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  const seconds = /** @type {Intl.DateTimeFormatOptions} */ ({ ...dateAndTime, second: '2-digit' })
  return [timeZone, own, 'UTC']
    .filter((zone, i, zones) => zones.indexOf(zone) === i)
    .map(zone => `${createFormat(seconds, zone).format(at)} ${formatZone(zone, at)}`)
    .join('\n')
}
