import type { World } from '../world/world.ts'
import { array, type Children } from '../xml/element.ts'
import { type Answer, ok } from './answers.ts'
import { createRejection, nothing } from './errors.ts'
import { type ApiRequest, whole } from './request.ts'

/** The attributes of a list that was not paged differ by list. */
export type Unpaged = (total: number) => { PageStartRow: number; PageRows: number }

export const wholeList: Unpaged = total => ({ PageStartRow: 1, PageRows: total })
export const fromOne: Unpaged = () => ({ PageStartRow: 1, PageRows: 0 })
export const fromZero: Unpaged = () => ({ PageStartRow: 0, PageRows: 0 })

interface Page<T> {
  name: string
  rows: readonly T[]
  /** Writes a row. `number` is its position in the complete result. */
  row: (row: T, number: number) => ReturnType<typeof array>
  unpaged: Unpaged
  attributes?: Record<string, string>
}

/** Returns a list, or the page that `startRow` and `pageRows` select. Throws "no data found" if there are no rows. */
export function paged<T>(request: ApiRequest, world: World, { name, rows, row, unpaged, attributes }: Page<T>): Answer {
  const parameters = { start: request.query('startRow'), rows: request.query('pageRows') }
  const start = parameters.start ? whole(parameters.start) : 1
  const size = parameters.rows ? whole(parameters.rows) : Number.MAX_SAFE_INTEGER
  if (start === undefined || size === undefined || start < 1 || size < 1) throw createRejection(5034)
  const total = rows.length
  if (total === 0) throw nothing()
  const pageSize = size
  const isPaged = parameters.start || parameters.rows
  const first = request.paging.samePage ? 1 : start
  if (first > total && world.settings.pastEnd === 'empty') return ok()
  if (first > total && world.settings.pastEnd === '5008') throw nothing()
  const ordered = request.paging.shuffled ? world.random.shuffled(rows) : rows
  function* written(): Children {
    const end = Math.min(total, first - 1 + pageSize)
    for (let i = first - 1; i < end; i++) yield row(ordered[i] as T, i + 1)
  }
  const shown = isPaged ? { PageStartRow: first, PageRows: parameters.rows ? size : total } : unpaged(total)
  return ok(array(name, written(), { TotalRows: total, ...shown, ...attributes }))
}
