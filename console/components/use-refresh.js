import { useEffect } from 'preact/hooks'
import { isUserActive } from '../lib/activity.js'
import { useVersion } from './use-load.js'

/** Returns a number that changes in this interval while a person uses the page, and when they return to it. @param {number} [intervalMs] */
export function useRefresh(intervalMs = 10_000) {
  const [version, refresh] = useVersion()
  useEffect(() => {
    const timer = setInterval(() => isUserActive() && refresh(), intervalMs)
    const refreshIfVisible = () => document.hidden || refresh()
    document.addEventListener('visibilitychange', refreshIfVisible)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', refreshIfVisible)
    }
  }, [intervalMs])
  return version
}
