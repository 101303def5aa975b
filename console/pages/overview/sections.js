import { useCallback, useEffect, useState } from 'preact/hooks'
import { useHealth } from '../../components/health.js'
import { useLoad } from '../../components/use-load.js'

/** @typedef {{ minute: number, setError: (section: string, error: unknown) => void }} Overview shared by all sections: `minute` changes when they must load again */

/** Returns the state that all sections share, and their distinct errors. @returns {{ overview: Overview, errors: unknown[] }} */
export function useOverview() {
  const { minute, error: healthError } = useHealth()
  const [errorBySection, setErrors] = useState(/** @type {Record<string, any>} */ ({}))
  const setError = useCallback(
    (/** @type {string} */ section, /** @type {unknown} */ error) =>
      setErrors(previous => ({ ...previous, [section]: error })),
    [],
  )
  const errors = new Map(
    [healthError, ...Object.values(errorBySection)]
      .filter(Boolean)
      .map(error => [error.problem?.code ?? String(error), error]),
  )
  return { overview: { minute, setError }, errors: [...errors.values()] }
}

/**
 * Loads the data of a section. `isFailed`: the last load failed, and its error is shown at the top.
 * @template T
 * @param {string} section @param {Overview} overview @param {(signal: AbortSignal) => Promise<T>} load
 * @param {unknown[]} [keys] further values with which it must load again
 */
export function useSection(section, { minute, setError }, load, keys = []) {
  const { data, error, reload } = useLoad(load, [minute, ...keys])
  useEffect(() => setError(section, error), [error])
  return { data, isFailed: Boolean(error), reload }
}
