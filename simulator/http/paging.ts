import type { World } from '../world/world.ts'
import { array, type Children } from '../xml/element.ts'
import { createNoDataError, createRejection } from './errors.ts'
import { type ApiRequest, parseInteger } from './request.ts'
import { type ApiResponse, respondOk } from './responses.ts'

/** Returns the page attributes of a list that is requested without paging. They differ by list. */
export type Unpaged = (total: number) => { PageStartRow: number; PageRows: number }

export const completeList: Unpaged = total => ({ PageStartRow: 1, PageRows: total })
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
export function respondPaged<T>(
  request: ApiRequest,
  world: World,
  { name, rows, row, unpaged, attributes }: Page<T>,
): ApiResponse {
  const parameters = { start: request.query('startRow'), rows: request.query('pageRows') }
  const start = parameters.start ? parseInteger(parameters.start) : 1
  const size = parameters.rows ? parseInteger(parameters.rows) : Number.MAX_SAFE_INTEGER
  if (start === undefined || size === undefined || start < 1 || size < 1) throw createRejection(5034)
  const total = rows.length
  if (total === 0) throw createNoDataError()
  const pageSize = size
  const isPaged = parameters.start || parameters.rows
  const first = request.paging.samePage ? 1 : start
  if (first > total && world.settings.pastEnd === 'empty') return respondOk()
  if (first > total && world.settings.pastEnd === '5008') throw createNoDataError()
  const ordered = request.paging.shuffled ? world.random.shuffle(rows) : rows
  function* buildRows(): Children {
    const end = Math.min(total, first - 1 + pageSize)
    for (let i = first - 1; i < end; i++) yield row(ordered[i] as T, i + 1)
  }
  const attributesOfPage = isPaged ? { PageStartRow: first, PageRows: parameters.rows ? size : total } : unpaged(total)
  return respondOk(array(name, buildRows(), { TotalRows: total, ...attributesOfPage, ...attributes }))
}
