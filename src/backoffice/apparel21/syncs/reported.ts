import type { Settings } from '../../../domain/tenancy/service-settings.ts'
import type { Client } from '../client/client.ts'

/**
 * Makes `updateTimeStamp` of a row out of a stamp as the head office's wall shows it, `YYYY-MM-DDTHH:MM:SS`: the same moment on the
 * service's wall, `YYYY-MM-DD HH:MM:SS`.
 */
export const toldBy =
  ({ connection }: Client, { timeZone }: Settings) =>
  (stamp: string | null) => ({
    updateTimeStamp:
      stamp &&
      Temporal.PlainDateTime.from(stamp)
        .toZonedDateTime(connection.timeZone)
        .withTimeZone(timeZone)
        .toPlainDateTime()
        .toString({ smallestUnit: 'second' })
        .replace('T', ' '),
  })
