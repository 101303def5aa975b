import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

/**
 * What a function brings, again when `keys` change; what comes too late is dropped.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {unknown[]} keys
 * @returns {{ data: T | undefined, error: unknown, busy: boolean, reload: () => void }}
 */
export function useLoad(load, keys) {
  const [state, setState] = useState(/** @type {{ data?: T, error?: unknown, busy: boolean }} */ ({ busy: true }))
  const [times, reload] = useVersion()
  useEffect(() => {
    const gone = new AbortController()
    setState(before => ({ ...before, busy: true }))
    load(gone.signal).then(
      data => gone.signal.aborted || setState({ data, busy: false }),
      error => gone.signal.aborted || setState({ error, busy: false }),
    )
    return () => gone.abort()
  }, [...keys, times])
  return { data: state.data, error: state.error, busy: state.busy, reload }
}

/** A number that is another one each time that something has to be looked at again. @returns {[version: number, again: () => void]} */
export function useVersion() {
  const [version, setVersion] = useState(0)
  return [version, useCallback(() => setVersion(before => before + 1), [])]
}

/** Something that is done at a click: whether it is under way, and what refused it. */
export function useAction() {
  const [state, setState] = useState(/** @type {{ busy: boolean, error?: unknown }} */ ({ busy: false }))
  const alive = useRef(true)
  useEffect(
    () => () => {
      alive.current = false
    },
    [],
  )
  /** @template T @param {() => Promise<T>} work @returns {Promise<T | undefined>} */
  const run = async work => {
    setState({ busy: true })
    try {
      const done = await work()
      if (alive.current) setState({ busy: false })
      return done
    } catch (error) {
      if (alive.current) setState({ busy: false, error })
      return undefined
    }
  }
  return { ...state, run }
}
