import { useCallback, useEffect, useState } from 'preact/hooks'
import { useLoad, useVersion } from '../../components/use-load.js'
import { isUserActive } from '../../lib/activity.js'

/** @typedef {{ minute: number, setError: (section: string, error: unknown) => void }} Overview shared by all sections: `minute` changes when they must load again */

/** Returns the state that all sections share, and their distinct errors. @returns {{ overview: Overview, errors: unknown[] }} */
export function useOverview() {
  const minute = useMinute()
  const [errorBySection, setErrors] = useState(/** @type {Record<string, any>} */ ({}))
  const setError = useCallback(
    (/** @type {string} */ section, /** @type {unknown} */ error) =>
      setErrors(previous => ({ ...previous, [section]: error })),
    [],
  )
  const errors = new Map(
    Object.values(errorBySection)
      .filter(Boolean)
      .map(error => [error.problem?.code ?? String(error), error]),
  )
  return { overview: { minute, setError }, errors: [...errors.values()] }
}

/** Returns a number that changes each minute while a person uses the page, and when they return to it. */
function useMinute() {
  const [minute, refresh] = useVersion()
  useEffect(() => {
    const timer = setInterval(() => isUserActive() && refresh(), 60_000)
    const refreshIfVisible = () => document.hidden || refresh()
    document.addEventListener('visibilitychange', refreshIfVisible)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', refreshIfVisible)
    }
  }, [])
  return minute
}

/**
 * Loads the data of a section. `isFailed`: the last load failed, and its error is shown at the top.
 * @template T
 * @param {string} section @param {Overview} overview @param {(signal: AbortSignal) => Promise<T>} load
 */
export function useSection(section, { minute, setError }, load) {
  const { data, error, reload } = useLoad(load, [minute])
  useEffect(() => setError(section, error), [error])
  return { data, isFailed: Boolean(error), reload }
}
