import { useCallback, useEffect, useState } from 'preact/hooks'
import { useLoad } from '../../components/use-load.js'
import { useMinute } from '../../components/use-minute.js'
import { loadPages } from '../../lib/api.js'

/** @typedef {{ minute: number, tell: (part: string, error: unknown) => void }} Overview what all parts of the screen go by */

/** What all parts go by, and why some of them are not there: what keeps several away is told once. @returns {{ overview: Overview, errors: unknown[] }} */
export function useOverview() {
  const minute = useMinute()
  const [found, setFound] = useState(/** @type {Record<string, any>} */ ({}))
  const tell = useCallback(
    (/** @type {string} */ part, /** @type {unknown} */ error) => setFound(before => ({ ...before, [part]: error })),
    [],
  )
  const errors = new Map(
    Object.values(found)
      .filter(Boolean)
      .map(error => [error.problem?.code ?? String(error), error]),
  )
  return { overview: { minute, tell }, errors: [...errors.values()] }
}

/**
 * What a part of the screen brings; undefined until it is there. `isLacking`: it could not be had.
 * @template T
 * @param {string} part @param {Overview} overview @param {(signal: AbortSignal) => Promise<T>} load
 */
export function useSection(part, { minute, tell }, load) {
  const { data, error, reload } = useLoad(load, [minute])
  useEffect(() => tell(part, error), [error])
  return { data, isLacking: Boolean(error), reload }
}

/** @param {string} path @returns {Promise<any[]>} */
export const wholeList = async path => (await Array.fromAsync(loadPages(path))).flatMap(page => page.data)
