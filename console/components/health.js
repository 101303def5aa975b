import { createContext } from 'preact'
import { useContext, useEffect } from 'preact/hooks'
import { isUserActive } from '../lib/activity.js'
import { callApi } from '../lib/api.js'
import { useLoad, useVersion } from './use-load.js'

/**
 * A problem of `GET /health`.
 * @typedef {{ level: 'degraded' | 'critical', kind: string, subject: string, title: string, detail: string | null, alert: string | null, since: string | null }} HealthProblem
 * @typedef {{ level: 'ok' | 'degraded' | 'critical', problems: HealthProblem[], lastBackupAt: string | null }} Health
 */

/** The health that the home screen and the badges share. `health` is undefined until it is loaded. */
export const HealthContext = createContext(
  /** @type {{ health: Health | undefined, error: unknown, minute: number, reload: () => void }} */ ({
    health: undefined,
    error: undefined,
    minute: 0,
    reload() {},
  }),
)
export const useHealth = () => useContext(HealthContext)

/** Loads the health of the service, and loads it again each minute and on each screen. @param {string | undefined} screen */
export function useLoadedHealth(screen) {
  const minute = useMinute()
  const { data, error, reload } = useLoad(
    signal => callApi('/health', { signal }).then(response => response.data),
    [minute, screen],
  )
  return { health: data, error, minute, reload }
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

/** The screen of each kind of problem. Other kinds are on the overview only. */
const screens = { back: 'back-office', sync: 'syncs', import: 'syncs', webhook: 'webhooks' }

/** Returns the screen that shows a problem. @param {string} kind @returns {string | undefined} */
export const getScreen = kind => screens[/** @type {keyof typeof screens} */ (kind.split('_')[0])]

/** Counts the problems of a screen. The overview counts all of them. @param {Health | undefined} health @param {string} screen */
export function countProblems(health, screen) {
  const problems = health?.problems.filter(({ kind }) => screen === 'overview' || getScreen(kind) === screen) ?? []
  return { count: problems.length, isCritical: problems.some(({ level }) => level === 'critical') }
}
