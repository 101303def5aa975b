import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { isUnreachable } from '../lib/api.js'

/** The pause before a load that didn't reach the server is repeated. */
const reconnectMs = 5_000

/**
 * Loads data, and loads it again if `keys` or `refresh` change, or after a pause if the server didn't respond. Ignores results of earlier
 * loads that arrive late. If only `refresh` changed and the load fails, the earlier data stays, so that a form on it keeps its entries.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {unknown[]} keys
 * @param {unknown} [refresh] such as the number of `useRefresh`
 * @returns {{ data: T | undefined, error: unknown, busy: boolean, reload: () => void }}
 */
export function useLoad(load, keys, refresh) {
  const [state, setState] = useState(
    /** @type {{ data?: T | undefined, error?: unknown, busy: boolean }} */ ({ busy: true }),
  )
  const [version, reload] = useVersion()
  const loadedKeys = useRef(/** @type {unknown[] | undefined} */ (undefined))
  useEffect(() => {
    const control = new AbortController()
    setState(previous => ({ ...previous, busy: true }))
    load(control.signal).then(
      data => {
        if (control.signal.aborted) return
        loadedKeys.current = keys
        setState({ data, busy: false })
      },
      error => {
        if (control.signal.aborted) return
        const hasSameKeys = loadedKeys.current?.every((key, i) => Object.is(key, keys[i]))
        setState(({ data }) => (hasSameKeys ? { data, error, busy: false } : { error, busy: false }))
      },
    )
    return () => control.abort()
  }, [...keys, refresh, version])
  useReconnect(state.error, reload)
  return { data: state.data, error: state.error, busy: state.busy, reload }
}

/** Loads again after a pause if the server didn't respond. @param {unknown} error of the last load @param {() => void} load */
export function useReconnect(error, load) {
  useEffect(() => {
    if (!isUnreachable(error)) return
    const timer = setTimeout(load, reconnectMs)
    return () => clearTimeout(timer)
  }, [error])
}

/** Returns a number that changes with each call of `refresh`. @returns {[version: number, refresh: () => void]} */
export function useVersion() {
  const [version, setVersion] = useState(0)
  return [version, useCallback(() => setVersion(previous => previous + 1), [])]
}

/** The state of an action that a click starts: `busy` while it runs, `error` if it failed. */
export function useAction() {
  const [state, setState] = useState(/** @type {{ busy: boolean, error?: unknown }} */ ({ busy: false }))
  const isMounted = useRef(true)
  useEffect(
    () => () => {
      isMounted.current = false
    },
    [],
  )
  /** @template T @param {() => Promise<T>} work @returns {Promise<T | undefined>} */
  const run = async work => {
    setState({ busy: true })
    try {
      const result = await work()
      if (isMounted.current) setState({ busy: false })
      return result
    } catch (error) {
      if (isMounted.current) setState({ busy: false, error })
      return undefined
    }
  }
  return { ...state, run }
}
