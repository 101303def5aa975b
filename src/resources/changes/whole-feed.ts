import type { Db } from '../../db.ts'
import { cursorAt, type Following, toldOf } from '../../follow/following.ts'
import { headersOf } from '../../http/media/portions.ts'
import { type Portion, readAhead } from '../../http/media/read-ahead.ts'
import type { Turn } from '../../http/media/turns.ts'
import type { Whole } from '../../http/media/whole.ts'
import { changesAfter } from '../../store/changes/feed.ts'
import { horizonsAt, standNow } from '../../store/changes/newest.ts'
import { beginningOf, type Places, textOf, toldUpTo } from '../../store/changes/places.ts'
import { orExpired } from './following.ts'

/** Changes in a portion. */
const portion = 500

/** The feed from the beginning to what is newest now, as a whole; its cursor goes on from there. */
export async function everyChange(db: Db, following: Following, records: boolean, turn: Turn): Promise<Whole> {
  const stand = await turn(() => standNow(db, following.service, following.kinds))
  const end = stand.places
  const portionBehind = async (at: Places): Promise<Portion> => {
    const read = () => changesAfter(db, following.service, at, { limit: portion, records }, horizonsAt(stand))
    const { changes, places, hasMore } = orExpired(await turn(read))
    const lines = changes.length ? [changes.map(change => `${toldOf(change)}\n`).join('')] : []
    return { lines, next: hasMore ? () => portionBehind(places) : undefined }
  }
  const asOf = textOf(Math.max(0, toldUpTo(end)))
  const headers = { ...headersOf(following.service, { asOf }), 'x-end-cursor': cursorAt(following, end) }
  return { headers, portions: readAhead(() => portionBehind(beginningOf(following.kinds))) }
}
