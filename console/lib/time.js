import { formatDuration } from 'tillbridge/health'
import { dateLocale, t } from './text.js'

// Times are shown in the service's time zone, so that they match its receipts and reports.

let timeZone = 'UTC'
/** Sets the time zone of all shown times. @param {string} zone */
export const setTimeZone = zone => {
  timeZone = zone
}

/** @param {Intl.DateTimeFormatOptions} options @param {string | undefined} [zone] undefined: that of the browser */
const createFormat = (options, zone = timeZone) => new Intl.DateTimeFormat(dateLocale, { ...options, timeZone: zone })

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

/** Formats a time in the service's zone: `27 Nov 2026, 01:40 AEDT`. @param {string} time RFC 3339 */
export const formatTime = time =>
  `${createFormat(dateAndTime).format(new Date(time))} ${formatZone(timeZone, new Date(time))}`

/** Formats a local time of the service, such as `2026-11-27 01:40:04`, without its zone: `27 Nov 2026, 01:40`. @param {string} time */
export const formatLocalTime = time => createFormat(dateAndTime, 'UTC').format(new Date(`${time.replace(' ', 'T')}Z`))

/** Formats a date, such as `2026-11-27`: `27 Nov 2026`. @param {string | null | undefined} date */
export const formatDate = date =>
  date && createFormat({ day: 'numeric', month: 'short', year: 'numeric' }, 'UTC').format(new Date(`${date}T00:00:00Z`))

/** Formats a local time of the service with the zone of its season: `27 Nov 2026, 01:40 AEDT`. @param {string} time */
export const formatZonedTime = time =>
  `${formatLocalTime(time)} ${formatZone(timeZone, new Date(`${time.replace(' ', 'T')}Z`))}`

/** Formats the start of an interval: as a time if the range is at most a day, otherwise as a date. @param {string} time @param {boolean} isShort */
export const formatTick = (time, isShort) =>
  createFormat(
    isShort ? { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } : { day: 'numeric', month: 'short' },
  ).format(new Date(time))

const daySeconds = 86_400

/** Formats a time: `5 min ago` or `in 5 min` within a day, otherwise the date and time. @param {string} time RFC 3339 */
export function formatMoment(time) {
  const age = (Date.now() - Date.parse(time)) / 1_000
  if (Math.abs(age) >= daySeconds) return formatTime(time)
  return age < 0
    ? t('in {duration}', { duration: formatDuration(-age) })
    : t('{duration} ago', { duration: formatDuration(age) })
}

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
