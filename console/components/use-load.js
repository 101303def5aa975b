import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { isUnreachable } from '../lib/api.js'

/** The pause before a load that didn't reach the server is repeated. */
const reconnectMs = 5_000

/**
 * Loads data, and loads it again if `keys` change, or after a pause if the server didn't respond. Ignores results of earlier loads that
 * arrive late.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {unknown[]} keys
 * @returns {{ data: T | undefined, error: unknown, busy: boolean, reload: () => void }}
 */
export function useLoad(load, keys) {
  const [state, setState] = useState(/** @type {{ data?: T, error?: unknown, busy: boolean }} */ ({ busy: true }))
  const [version, reload] = useVersion()
  useEffect(() => {
    const control = new AbortController()
    setState(previous => ({ ...previous, busy: true }))
    load(control.signal).then(
      data => control.signal.aborted || setState({ data, busy: false }),
      error => control.signal.aborted || setState({ error, busy: false }),
    )
    return () => control.abort()
  }, [...keys, version])
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
