import { useEffect } from 'preact/hooks'
import { isUserActive } from '../lib/activity.js'
import { useVersion } from './use-load.js'

/** A number that is another one each minute that somebody is at the page, and when they come back to it: what it shows is of now. */
export function useMinute() {
  const [minute, next] = useVersion()
  useEffect(() => {
    const timer = setInterval(() => isUserActive() && next(), 60_000)
    const returned = () => document.hidden || next()
    document.addEventListener('visibilitychange', returned)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', returned)
    }
  }, [])
  return minute
}
